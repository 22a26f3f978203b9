#pragma once

#include <string>
#include <vector>

#include "executor/codegen/llvm/element_ops.h"
#include "executor/codegen/llvm/loop_function.h"
#include "executor/codegen/loops/compile_target.h"
#include "executor/codegen/loops/loop_plan.h"

namespace slipway {

/// A kernel's function and what it works on: its loops, where each line of the last loop's elements
/// begins in the buffers and in scratch memory, and vectors on their way from and to there.
class LoopMemory : protected LoopFunction {
public:
    /// All but the target outlive the function's making.
    LoopMemory(llvm::Module& module, const LoopKernel& kernel, const LoopPlan& plan,
               const CompileTarget& target);

protected:
    void begin_function(const std::string& symbol);

    /// The loops first..last-1 around body.
    template <class Body>
    void nest(std::size_t first, std::size_t last, Body&& body) {
        if (first == last) return body();
        loop(count(0), count(kernel_.extents[first]), 1, [&](llvm::Value* i) {
            index_[first] = i;
            nest(first + 1, last, body);
        });
    }

    // ---- where a line begins -----------------------------------------------------------------

    /// Where the access stands before the last loop: its element number.
    llvm::Value* element_number(const LoopAccess& access);
    llvm::Value* line_pointer(llvm::Value* base, const LoopAccess& access, DType dtype);
    /// Where the present line begins in the padded array that starts at byte `at` of scratch
    /// memory.
    llvm::Value* scratch_pointer(std::int64_t at, DType dtype);
    /// Kept values and partial sums lie as in registers, truths as bytes.
    static llvm::Type* scratch_type(DType dtype, const ElementOps& ops);
    static llvm::Align alignment(DType dtype) { return llvm::Align(size_in_bytes(dtype)); }

    // ---- vectors of a line -------------------------------------------------------------------

    struct Place {
        llvm::Value* i;       ///< the first lane's element of the line
        llvm::Value* mask;    ///< null: all lanes
    };
    llvm::Value* load_lanes(llvm::Value* line, const LoopAccess& access, DType dtype,
                            const Place& place);
    void store_lanes(llvm::Value* stored, llvm::Value* line, const LoopAccess& access, DType dtype,
                     const Place& place);
    /// The mask of the lanes i, i + 1... that lie before the end.
    llvm::Value* lanes_before(llvm::Value* end, llvm::Value* i);

    const LoopKernel& kernel_;
    const LoopPlan& plan_;
    const unsigned lanes_;
    const ElementOps scalars_, vectors_;
    std::vector<llvm::Value*> reads_, writes_;
    llvm::Value* scratch_ = nullptr;
    std::vector<llvm::Value*> index_;         ///< by loop; null outside of it
    std::vector<llvm::Value*> row_values_;    ///< by value; null where the row has none yet

private:
    llvm::Value* as_count(ValueId id);
    llvm::Value* all_lanes();
    llvm::Value* scattered(llvm::Value* line, const LoopAccess& access, DType dtype,
                           llvm::Value* i);
};

}    // namespace slipway
