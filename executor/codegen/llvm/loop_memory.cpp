#include "executor/codegen/llvm/loop_memory.h"

namespace slipway {

LoopMemory::LoopMemory(llvm::Module& module, const LoopKernel& kernel, const LoopPlan& plan,
                       const CompileTarget& target)
    : LoopFunction(module),
      kernel_(kernel),
      plan_(plan),
      lanes_(target.lanes),
      scalars_(b_, 0),
      vectors_(b_, target.lanes, target.rounds_to_bf16),
      index_(kernel.extents.size()) {}

void LoopMemory::begin_function(const std::string& symbol) {
    begin(symbol, 32 * lanes_);
    llvm::Type* const pointer = b_.getPtrTy();
    const auto load_pointers = [&](llvm::Value* array, std::size_t n) {
        std::vector<llvm::Value*> pointers;
        for (std::size_t i = 0; i < n; ++i)
            pointers.push_back(b_.CreateLoad(pointer, b_.CreateConstGEP1_64(pointer, array, i)));
        return pointers;
    };
    reads_ = load_pointers(function_->getArg(0), kernel_.reads);
    writes_ =
        load_pointers(function_->getArg(1), kernel_.writes + (plan_.scratch_bytes > 0 ? 1 : 0));
    if (plan_.scratch_bytes > 0) scratch_ = writes_.back();
}

llvm::Value* LoopMemory::element_number(const LoopAccess& access) {
    llvm::Value* sum = count(access.offset);
    for (std::size_t i = 0; i + 1 < kernel_.extents.size(); ++i)
        sum = advanced(sum, index_[i], access.strides[i]);
    for (const LoopAccess::Term& term : access.terms)
        sum = advanced(sum, as_count(term.index), term.stride);
    return sum;
}

llvm::Value* LoopMemory::as_count(ValueId id) {
    const DType dtype = kernel_.values[id].dtype;
    const bool has_sign = dtype == DType::i32 || dtype == DType::i64;
    return b_.CreateIntCast(row_values_[id], b_.getInt64Ty(), has_sign);
}

llvm::Value* LoopMemory::line_pointer(llvm::Value* base, const LoopAccess& access, DType dtype) {
    return b_.CreateGEP(scalars_.memory_type(dtype), base, element_number(access));
}

llvm::Value* LoopMemory::scratch_pointer(std::int64_t at, DType dtype) {
    llvm::Value* line = count(0);
    std::int64_t stride = plan_.padded_last;
    for (std::size_t i = kernel_.extents.size() - 1; i-- > kernel_.inner_begin();) {
        line = advanced(line, index_[i], stride);
        stride *= kernel_.extents[i];
    }
    llvm::Value* const base = b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, at);
    return b_.CreateGEP(scratch_type(dtype, scalars_), base, line);
}

llvm::Type* LoopMemory::scratch_type(DType dtype, const ElementOps& ops) {
    return dtype == DType::pred ? ops.memory_type(dtype) : ops.register_type(dtype);
}

llvm::Value* LoopMemory::all_lanes() {
    return llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), lanes_));
}

llvm::Value* LoopMemory::lanes_before(llvm::Value* end, llvm::Value* i) {
    llvm::Value* const left = b_.CreateTrunc(b_.CreateSub(end, i), b_.getInt32Ty());
    return b_.CreateICmpULT(lane_numbers(lanes_), b_.CreateVectorSplat(lanes_, left));
}

/// The addresses of lanes that do not lie side by side.
llvm::Value* LoopMemory::scattered(llvm::Value* line, const LoopAccess& access, DType dtype,
                                   llvm::Value* i) {
    const std::int64_t stride = access.strides.back();
    llvm::Type* const type = scalars_.memory_type(dtype);
    llvm::Value* const first = b_.CreateGEP(type, line, b_.CreateMul(i, count(stride)));
    std::vector<std::uint64_t> steps(lanes_);
    for (unsigned k = 0; k < lanes_; ++k)
        steps[k] = std::uint64_t(std::int64_t(k) * stride);
    return b_.CreateGEP(type, first, llvm::ConstantDataVector::get(b_.getContext(), steps));
}

llvm::Value* LoopMemory::load_lanes(llvm::Value* line, const LoopAccess& access, DType dtype,
                                    const Place& place) {
    llvm::Type* const type = vectors_.memory_type(dtype);
    llvm::Value* const nothing = llvm::Constant::getNullValue(type);
    if (access.strides.back() != 1)
        return b_.CreateMaskedGather(type, scattered(line, access, dtype, place.i),
                                     alignment(dtype),
                                     place.mask == nullptr ? all_lanes() : place.mask, nothing);
    llvm::Value* const from = b_.CreateGEP(scalars_.memory_type(dtype), line, place.i);
    if (place.mask == nullptr) return b_.CreateAlignedLoad(type, from, alignment(dtype));
    return b_.CreateMaskedLoad(type, from, alignment(dtype), place.mask, nothing);
}

void LoopMemory::store_lanes(llvm::Value* stored, llvm::Value* line, const LoopAccess& access,
                             DType dtype, const Place& place) {
    if (access.strides.back() != 1) {
        b_.CreateMaskedScatter(stored, scattered(line, access, dtype, place.i), alignment(dtype),
                               place.mask == nullptr ? all_lanes() : place.mask);
        return;
    }
    llvm::Value* const to = b_.CreateGEP(scalars_.memory_type(dtype), line, place.i);
    if (place.mask == nullptr)
        b_.CreateAlignedStore(stored, to, alignment(dtype));
    else
        b_.CreateMaskedStore(stored, to, alignment(dtype), place.mask);
}

}    // namespace slipway
