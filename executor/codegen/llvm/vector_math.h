#pragma once

#include <llvm/IR/IRBuilder.h>

/// Elementary functions of float vectors (or of one float), written out as instructions: no library
/// is called, so the bits are the same on every machine that has fused multiply-add. Every special
/// value (NaN, infinities, zeros, subnormal numbers) is taken and given.
///
/// Largest errors against the true value, as test_vector_math samples them from all floats
/// (every 199th was looked at once; its debug build takes every 20,011th):
///   exponential 1.0 ulp   exponential_minus_one 1.5   log 1.0   log_plus_one 1.0   tanh 1.75
///   logistic 3.0   erf 1.75   sine, cosine 1.75 (of floats of every size)
///   power 0.6 (random pairs)   sqrt, divide 0.5   rsqrt 1.5
namespace slipway::vector_math {

llvm::Value* exponential(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* exponential_minus_one(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* log(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* log_plus_one(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* tanh(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* logistic(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* erf(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* sine(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* cosine(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* power(llvm::IRBuilder<>& builder, llvm::Value* x, llvm::Value* y);
llvm::Value* sqrt(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* rsqrt(llvm::IRBuilder<>& builder, llvm::Value* x);

}    // namespace slipway::vector_math
