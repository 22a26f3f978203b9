#include "executor/codegen/llvm/column_sums.h"

#include <algorithm>

namespace slipway {

void ColumnSums::begin_function(const std::string& symbol) {
    LoopMemory::begin_function(symbol);
    row_number_ = variable(b_.getInt64Ty());
}

ColumnSums::Partial ColumnSums::partial_at(std::int64_t at, DType dtype, llvm::Value* i) {
    llvm::Value* const base = b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, at);
    llvm::Value* const pointer = b_.CreateGEP(scalars_.register_type(dtype), base, i);
    return {pointer, b_.CreateAlignedLoad(vectors_.register_type(dtype), pointer, llvm::Align(1))};
}

std::size_t ColumnSums::column_levels() const {
    std::size_t levels = 0;
    for (const auto& partials : plan_.partials)
        levels = std::max(levels, partials.size());
    return levels;
}

void ColumnSums::begin_columns() {
    if (column_levels() == 0) return;
    b_.CreateStore(count(0), row_number_);
    for_each_column([&](std::size_t k, llvm::Value* i) {
        const LoopStore& store = kernel_.stores[k];
        const DType dtype = kernel_.values[store.value].dtype;
        for (const std::int64_t at : plan_.partials[k])
            b_.CreateAlignedStore(vectors_.neutral(store.reduction, dtype),
                                  partial_at(at, dtype, i).pointer, llvm::Align(1));
    });
}

void ColumnSums::add_to_column(const LoopStore& store, llvm::Value* value, llvm::Value* line,
                               llvm::Value* i) {
    const DType dtype = kernel_.values[store.value].dtype;
    llvm::Type* const type = vectors_.register_type(dtype);
    llvm::Value* const at = b_.CreateGEP(scalars_.register_type(dtype), line, i);
    llvm::Value* const before = b_.CreateAlignedLoad(type, at, llvm::Align(1));
    b_.CreateAlignedStore(vectors_.combined(store.reduction, dtype, before, value), at,
                          llvm::Align(1));
}

void ColumnSums::carry_columns() {
    const std::size_t levels = column_levels();
    if (levels < 2) return;
    llvm::Value* const number = b_.CreateAdd(loaded(row_number_), count(1));
    b_.CreateStore(number, row_number_);
    std::int64_t period = 1;
    for (std::size_t level = 0; level + 1 < levels; ++level) {
        period *= LoopPlan::rows_per_level;
        llvm::Value* const rest = b_.CreateAnd(number, count(period - 1));
        if_true(b_.CreateICmpEQ(rest, count(0)), [&] {
            for_each_column([&](std::size_t k, llvm::Value* i) { carry(k, level, i); });
        });
    }
}

void ColumnSums::carry(std::size_t k, std::size_t level, llvm::Value* i) {
    const std::vector<std::int64_t>& partials = plan_.partials[k];
    if (level + 1 >= partials.size()) return;
    const LoopStore& store = kernel_.stores[k];
    const DType dtype = kernel_.values[store.value].dtype;
    const Partial from = partial_at(partials[level], dtype, i);
    const Partial to = partial_at(partials[level + 1], dtype, i);
    b_.CreateAlignedStore(vectors_.combined(store.reduction, dtype, to.vector, from.vector),
                          to.pointer, llvm::Align(1));
    b_.CreateAlignedStore(vectors_.neutral(store.reduction, dtype), from.pointer, llvm::Align(1));
}

void ColumnSums::finish_columns() {
    if (column_levels() == 0) return;
    nest(kernel_.inner_begin(), kernel_.extents.size() - 1, [&] {
        for (std::size_t k = 0; k < kernel_.stores.size(); ++k)
            if (kernel_.stores[k].kind == LoopStoreKind::column) finish_column(k);
    });
}

void ColumnSums::finish_column(std::size_t k) {
    const LoopStore& store = kernel_.stores[k];
    const DType dtype = kernel_.values[store.value].dtype;
    std::vector<llvm::Value*> levels;
    for (const std::int64_t at : plan_.partials[k])
        levels.push_back(scratch_pointer(at, dtype));
    llvm::Value* const to = line_pointer(writes_[store.to.buffer], store.to, dtype);
    llvm::Value* const end = count(kernel_.extents.back());
    loop(count(0), end, lanes_, [&](llvm::Value* i) {
        llvm::Value* sum = nullptr;
        for (llvm::Value* const level : levels) {
            llvm::Value* const part = b_.CreateAlignedLoad(
                vectors_.register_type(dtype),
                b_.CreateGEP(scalars_.register_type(dtype), level, i), llvm::Align(1));
            sum = sum == nullptr ? part : vectors_.combined(store.reduction, dtype, part, sum);
        }
        store_lanes(vectors_.to_memory(dtype, vectors_.rounded(dtype, sum)), to, store.to, dtype,
                    {i, lanes_before(end, i)});
    });
}

}    // namespace slipway
