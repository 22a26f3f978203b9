#pragma once

#include <string>

#include "executor/codegen/llvm/loop_memory.h"

namespace slipway {

/// The column stores of a kernel: sums over the rows of a group, kept in scratch memory by levels
/// (LoopPlan::partials), so that the chain of additions, and with it the rounding error, stays
/// short however many rows there are.
class ColumnSums : protected LoopMemory {
public:
    using LoopMemory::LoopMemory;

protected:
    void begin_function(const std::string& symbol);
    /// Before a group's first row.
    void begin_columns();
    /// One vector of a row's values, added to the first level's sums at element i of `line`.
    void add_to_column(const LoopStore& store, llvm::Value* value, llvm::Value* line,
                       llvm::Value* i);
    /// After each row: once 64 are added, the first level's sums move on to the second, and so
    /// forth.
    void carry_columns();
    /// After the last row: the levels summed and stored.
    void finish_columns();

private:
    struct Partial {
        llvm::Value* pointer;
        llvm::Value* vector;
    };
    Partial partial_at(std::int64_t at, DType dtype, llvm::Value* i);
    std::size_t column_levels() const;
    void carry(std::size_t k, std::size_t level, llvm::Value* i);
    void finish_column(std::size_t k);

    template <class Body>
    void for_each_column(Body&& body) {
        loop(count(0), count(plan_.padded_elements), lanes_, [&](llvm::Value* i) {
            for (std::size_t k = 0; k < kernel_.stores.size(); ++k)
                if (kernel_.stores[k].kind == LoopStoreKind::column) body(k, i);
        });
    }

    llvm::AllocaInst* row_number_ = nullptr;    ///< rows done in this group
};

}    // namespace slipway
