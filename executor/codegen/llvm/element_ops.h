#pragma once

#include <llvm/IR/IRBuilder.h>

#include "executor/codegen/loops/loop_kernel.h"

/// The elementwise ops as instructions over registers: one value or a vector of them. In registers
/// pred is i1 and bf16 a float that holds a bf16 number exactly; in memory they are i8 and i16.
namespace slipway {

class ElementOps {
public:
    /// lanes           0 for single values
    /// rounds_to_bf16  one instruction does so, for vectors of 16
    ElementOps(llvm::IRBuilder<>& builder, unsigned lanes, bool rounds_to_bf16 = false)
        : b_(builder), lanes_(lanes), rounds_to_bf16_(rounds_to_bf16 && lanes == 16) {}

    llvm::Type* register_type(DType dtype) const;
    llvm::Type* memory_type(DType dtype) const;
    llvm::Value* constant(DType dtype, double number) const;

    llvm::Value* from_memory(DType dtype, llvm::Value* stored) const;
    llvm::Value* to_memory(DType dtype, llvm::Value* value) const;

    /// The result of `value`, a compute, over operands of type `from` (of select: its choices).
    llvm::Value* compute(const LoopValue& value, DType from,
                         std::span<llvm::Value* const> operands) const;

    /// Combines two partial results; sums of bf16 stay f32 until `rounded`.
    llvm::Value* combined(Reduction reduction, DType dtype, llvm::Value* x, llvm::Value* y) const;
    llvm::Value* neutral(Reduction reduction, DType dtype) const;
    /// To the numbers of the type: bf16 has fewer than its register. What is too small to be normal
    /// becomes zero, as the processor's own instruction has it.
    llvm::Value* rounded(DType dtype, llvm::Value* value) const;

private:
    llvm::Type* scalar_register_type(DType dtype) const;
    llvm::Type* with_lanes(llvm::Type* type) const;
    llvm::Value* compute_unary(OpCode op, DType dtype, llvm::Value* x) const;
    llvm::Value* compute_float(OpCode op, llvm::Value* x) const;
    llvm::Value* compute_binary(OpCode op, DType dtype, llvm::Value* x, llvm::Value* y) const;
    llvm::Value* compute_bits(OpCode op, DType dtype, llvm::Value* x, llvm::Value* y) const;
    llvm::Value* remainder(DType dtype, llvm::Value* x, llvm::Value* y) const;
    llvm::Value* larger(DType dtype, llvm::Value* x, llvm::Value* y) const;
    llvm::Value* smaller(DType dtype, llvm::Value* x, llvm::Value* y) const;
    llvm::Value* clamped(DType dtype, std::span<llvm::Value* const> operands) const;
    llvm::Value* converted(DType from, DType to, llvm::Value* x) const;
    llvm::Value* converted_to_integer(DType from, DType to, llvm::Value* x) const;
    llvm::Value* bitcast(DType from, DType to, llvm::Value* x) const;
    llvm::Value* compared(Comparison direction, DType dtype, llvm::Value* x, llvm::Value* y) const;

    llvm::IRBuilder<>& b_;    // lives as long as the function being built
    unsigned lanes_;
    bool rounds_to_bf16_;
};

}    // namespace slipway
