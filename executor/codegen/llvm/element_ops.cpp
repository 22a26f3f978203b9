// One operation as instructions, for a single value or a vector: the loop emitter asks for each
// operation of a fused kernel and never knows which it is. bf16 is computed as float and rounded
// where a value of that type is made, so registers hold exact bf16 numbers. Semantics are those
// of the naive evaluators (executor/graph/ops), which the tests compare with to the bit, special
// values included.
#include "executor/codegen/llvm/element_ops.h"

#include <fmt/format.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>
#include <limits>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/codegen/llvm/vector_math.h"

namespace slipway {

namespace {

bool is_signed(DType dtype) {
    return dtype == DType::i32 || dtype == DType::i64;
}

unsigned bits_of(DType dtype) {
    return dtype == DType::pred ? 1 : unsigned(8 * size_in_bytes(dtype));
}

[[noreturn]] void refuse(OpCode op, DType dtype) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("op {} of {} cannot run in a program", int(op), to_string(dtype)));
}

llvm::CmpInst::Predicate float_predicate(Comparison direction) {
    switch (direction) {
        case Comparison::eq:
            return llvm::CmpInst::FCMP_OEQ;
        case Comparison::ne:
            return llvm::CmpInst::FCMP_UNE;
        case Comparison::lt:
            return llvm::CmpInst::FCMP_OLT;
        case Comparison::le:
            return llvm::CmpInst::FCMP_OLE;
        case Comparison::gt:
            return llvm::CmpInst::FCMP_OGT;
        case Comparison::ge:
            return llvm::CmpInst::FCMP_OGE;
    }
    return llvm::CmpInst::FCMP_FALSE;
}

llvm::CmpInst::Predicate integer_predicate(Comparison direction, bool has_sign) {
    switch (direction) {
        case Comparison::eq:
            return llvm::CmpInst::ICMP_EQ;
        case Comparison::ne:
            return llvm::CmpInst::ICMP_NE;
        case Comparison::lt:
            return has_sign ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;
        case Comparison::le:
            return has_sign ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
        case Comparison::gt:
            return has_sign ? llvm::CmpInst::ICMP_SGT : llvm::CmpInst::ICMP_UGT;
        case Comparison::ge:
            return has_sign ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE;
    }
    return llvm::CmpInst::ICMP_EQ;
}

}    // namespace

llvm::Type* ElementOps::scalar_register_type(DType dtype) const {
    if (is_floating(dtype)) return b_.getFloatTy();
    return b_.getIntNTy(bits_of(dtype));
}

llvm::Type* ElementOps::with_lanes(llvm::Type* type) const {
    return lanes_ == 0 ? type : llvm::FixedVectorType::get(type, lanes_);
}

llvm::Type* ElementOps::register_type(DType dtype) const {
    return with_lanes(scalar_register_type(dtype));
}

llvm::Type* ElementOps::memory_type(DType dtype) const {
    if (dtype == DType::pred) return with_lanes(b_.getInt8Ty());
    if (dtype == DType::bf16) return with_lanes(b_.getInt16Ty());
    return register_type(dtype);
}

llvm::Value* ElementOps::constant(DType dtype, double number) const {
    llvm::Type* const type = register_type(dtype);
    if (dtype == DType::bf16)
        return rounded(dtype, llvm::ConstantFP::get(type, double(float(number))));
    if (dtype == DType::f32) return llvm::ConstantFP::get(type, double(float(number)));
    if (dtype == DType::pred) return llvm::ConstantInt::get(type, number != 0);
    return llvm::ConstantInt::get(type, std::uint64_t(std::int64_t(number)), is_signed(dtype));
}

llvm::Value* ElementOps::from_memory(DType dtype, llvm::Value* stored) const {
    if (dtype == DType::pred)
        return b_.CreateICmpNE(stored, llvm::ConstantInt::get(stored->getType(), 0));
    if (dtype != DType::bf16) return stored;
    llvm::Type* const wide = with_lanes(b_.getInt32Ty());
    llvm::Value* const bits =
        b_.CreateShl(b_.CreateZExt(stored, wide), llvm::ConstantInt::get(wide, 16));
    return b_.CreateBitCast(bits, register_type(dtype));
}

llvm::Value* ElementOps::to_memory(DType dtype, llvm::Value* value) const {
    if (dtype == DType::pred) return b_.CreateZExt(value, memory_type(dtype));
    if (dtype != DType::bf16) return value;
    llvm::Type* const wide = with_lanes(b_.getInt32Ty());
    llvm::Value* const bits = b_.CreateBitCast(value, wide);
    return b_.CreateTrunc(b_.CreateLShr(bits, llvm::ConstantInt::get(wide, 16)),
                          memory_type(dtype));
}

llvm::Value* ElementOps::rounded(DType dtype, llvm::Value* value) const {
    if (dtype != DType::bf16) return value;
    if (rounds_to_bf16_ && !llvm::isa<llvm::Constant>(value)) {
        llvm::Value* const narrow =
            b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {},
                               llvm::ArrayRef<llvm::Value*>(value));
        return from_memory(dtype, b_.CreateBitCast(narrow, memory_type(dtype)));
    }
    llvm::Type* const wide = with_lanes(b_.getInt32Ty());
    const auto number = [&](std::uint32_t bits) { return llvm::ConstantInt::get(wide, bits); };
    llvm::Value* const bits = b_.CreateBitCast(value, wide);
    llvm::Value* const odd = b_.CreateAnd(b_.CreateLShr(bits, number(16)), number(1));
    llvm::Value* const nearest = b_.CreateAdd(bits, b_.CreateAdd(odd, number(0x7fff)));
    llvm::Value* const quiet = b_.CreateOr(bits, number(0x400000));
    llvm::Value* const is_normal =
        b_.CreateFCmpUGE(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value),
                         llvm::ConstantFP::get(value->getType(), 0x1p-126));
    llvm::Value* const result =
        b_.CreateAnd(b_.CreateSelect(b_.CreateFCmpUNO(value, value), quiet, nearest),
                     b_.CreateSelect(is_normal, number(0xffff0000), number(0x80000000)));
    return b_.CreateBitCast(result, register_type(dtype));
}

llvm::Value* ElementOps::compute(const LoopValue& value, DType from,
                                 std::span<llvm::Value* const> operands) const {
    switch (value.op) {
        case OpCode::convert:
            return converted(from, value.dtype, operands[0]);
        case OpCode::bitcast_convert:
            return bitcast(from, value.dtype, operands[0]);
        case OpCode::compare:
            return compared(value.direction, from, operands[0], operands[1]);
        case OpCode::select:
            return b_.CreateSelect(operands[0], operands[1], operands[2]);
        case OpCode::clamp:
            return clamped(from, operands);
        default:
            break;
    }
    if (operands.size() == 1) return compute_unary(value.op, from, operands[0]);
    check(operands.size() == 2, "other elementwise ops have one or two operands");
    return compute_binary(value.op, from, operands[0], operands[1]);
}

llvm::Value* ElementOps::compute_unary(OpCode op, DType dtype, llvm::Value* x) const {
    const bool is_float = is_floating(dtype);
    llvm::Value* const zero = llvm::Constant::getNullValue(x->getType());
    switch (op) {
        case OpCode::negate:
            return is_float ? b_.CreateFNeg(x) : b_.CreateNeg(x);
        case OpCode::abs:
            if (is_float) return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
            return b_.CreateSelect(compared(Comparison::lt, dtype, x, zero), b_.CreateNeg(x), x);
        case OpCode::sign: {
            llvm::Value* const rest =
                b_.CreateSelect(compared(Comparison::lt, dtype, x, zero), constant(dtype, -1), x);
            return b_.CreateSelect(compared(Comparison::gt, dtype, x, zero), constant(dtype, 1),
                                   rest);
        }
        case OpCode::logical_not:
            return b_.CreateNot(x);
        case OpCode::is_finite:
            return b_.CreateFCmpOLT(
                b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                llvm::ConstantFP::get(x->getType(), std::numeric_limits<double>::infinity()));
        default:
            if (!is_float) refuse(op, dtype);
            return rounded(dtype, compute_float(op, x));
    }
}

llvm::Value* ElementOps::compute_float(OpCode op, llvm::Value* x) const {
    switch (op) {
        case OpCode::exponential:
            return vector_math::exponential(b_, x);
        case OpCode::exponential_minus_one:
            return vector_math::exponential_minus_one(b_, x);
        case OpCode::log:
            return vector_math::log(b_, x);
        case OpCode::log_plus_one:
            return vector_math::log_plus_one(b_, x);
        case OpCode::sqrt:
            return vector_math::sqrt(b_, x);
        case OpCode::rsqrt:
            return vector_math::rsqrt(b_, x);
        case OpCode::tanh:
            return vector_math::tanh(b_, x);
        case OpCode::logistic:
            return vector_math::logistic(b_, x);
        case OpCode::erf:
            return vector_math::erf(b_, x);
        case OpCode::sine:
            return vector_math::sine(b_, x);
        case OpCode::cosine:
            return vector_math::cosine(b_, x);
        case OpCode::floor:
            return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
        default:
            refuse(op, DType::f32);
    }
}

llvm::Value* ElementOps::compute_binary(OpCode op, DType dtype, llvm::Value* x,
                                        llvm::Value* y) const {
    const bool is_float = is_floating(dtype);
    switch (op) {
        case OpCode::add:
            return is_float ? rounded(dtype, b_.CreateFAdd(x, y)) : b_.CreateAdd(x, y);
        case OpCode::subtract:
            return is_float ? rounded(dtype, b_.CreateFSub(x, y)) : b_.CreateSub(x, y);
        case OpCode::multiply:
            return is_float ? rounded(dtype, b_.CreateFMul(x, y)) : b_.CreateMul(x, y);
        case OpCode::maximum:
            return larger(dtype, x, y);
        case OpCode::minimum:
            return smaller(dtype, x, y);
        case OpCode::remainder:
            return remainder(dtype, x, y);
        case OpCode::divide:
            if (!is_float) refuse(op, dtype);
            return rounded(dtype, b_.CreateFDiv(x, y));
        case OpCode::power:
            if (!is_float) refuse(op, dtype);
            return rounded(dtype, vector_math::power(b_, x, y));
        default:
            if (is_float) refuse(op, dtype);
            return compute_bits(op, dtype, x, y);
    }
}

llvm::Value* ElementOps::compute_bits(OpCode op, DType dtype, llvm::Value* x,
                                      llvm::Value* y) const {
    // A shift by the width or more, or by a negative number, leaves nothing.
    const auto shifted = [&](auto&& shift) {
        llvm::Type* const type = x->getType();
        llvm::Value* const fits = b_.CreateICmpULT(y, llvm::ConstantInt::get(type, bits_of(dtype)));
        llvm::Value* const zero = llvm::Constant::getNullValue(type);
        return b_.CreateSelect(fits, shift(b_.CreateSelect(fits, y, zero)), zero);
    };
    switch (op) {
        case OpCode::logical_and:
            return b_.CreateAnd(x, y);
        case OpCode::logical_or:
            return b_.CreateOr(x, y);
        case OpCode::logical_xor:
            return b_.CreateXor(x, y);
        case OpCode::shift_left:
            return shifted([&](llvm::Value* by) { return b_.CreateShl(x, by); });
        case OpCode::shift_right_logical:
            return shifted([&](llvm::Value* by) { return b_.CreateLShr(x, by); });
        default:
            refuse(op, dtype);
    }
}

/// x - trunc(x / y) y, exactly; of integers by 0 it is x.
llvm::Value* ElementOps::remainder(DType dtype, llvm::Value* x, llvm::Value* y) const {
    if (is_floating(dtype)) return rounded(dtype, b_.CreateFRem(x, y));
    llvm::Value* const zero = llvm::Constant::getNullValue(y->getType());
    llvm::Value* const by_zero = b_.CreateICmpEQ(y, zero);
    llvm::Value* traps = by_zero;
    if (is_signed(dtype)) traps = b_.CreateOr(traps, b_.CreateICmpEQ(y, constant(dtype, -1)));
    llvm::Value* const divisor = b_.CreateSelect(traps, constant(dtype, 1), y);
    llvm::Value* const result =
        is_signed(dtype) ? b_.CreateSRem(x, divisor) : b_.CreateURem(x, divisor);
    return b_.CreateSelect(by_zero, x, result);
}

/// A NaN wins over everything, the first of two.
llvm::Value* ElementOps::larger(DType dtype, llvm::Value* x, llvm::Value* y) const {
    llvm::Value* const result = b_.CreateSelect(compared(Comparison::gt, dtype, x, y), x, y);
    return is_floating(dtype) ? b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, result) : result;
}

llvm::Value* ElementOps::smaller(DType dtype, llvm::Value* x, llvm::Value* y) const {
    llvm::Value* const result = b_.CreateSelect(compared(Comparison::lt, dtype, x, y), x, y);
    return is_floating(dtype) ? b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, result) : result;
}

llvm::Value* ElementOps::clamped(DType dtype, std::span<llvm::Value* const> operands) const {
    llvm::Value* const low = operands[0];
    llvm::Value* const high = operands[2];
    llvm::Value* result =
        b_.CreateSelect(compared(Comparison::lt, dtype, operands[1], low), low, operands[1]);
    result = b_.CreateSelect(compared(Comparison::gt, dtype, result, high), high, result);
    if (!is_floating(dtype)) return result;
    result = b_.CreateSelect(b_.CreateFCmpUNO(high, high), high, result);
    return b_.CreateSelect(b_.CreateFCmpUNO(low, low), low, result);
}

/// A fraction is cut off, what does not fit becomes the nearest number, NaN 0; integers wrap.
llvm::Value* ElementOps::converted(DType from, DType to, llvm::Value* x) const {
    if (from == to) return x;
    if (to == DType::pred) {
        if (is_floating(from))
            return b_.CreateFCmpUNE(x, llvm::Constant::getNullValue(x->getType()));
        return b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
    }
    if (!is_floating(to)) return converted_to_integer(from, to, x);
    if (is_floating(from)) return rounded(to, x);
    llvm::Type* const type = register_type(to);
    return rounded(to, is_signed(from) ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type));
}

llvm::Value* ElementOps::converted_to_integer(DType from, DType to, llvm::Value* x) const {
    llvm::Type* const type = register_type(to);
    if (is_floating(from)) {
        const auto saturating =
            is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
        return b_.CreateIntrinsic(saturating, {type, x->getType()}, {x});
    }
    return is_signed(from) ? b_.CreateSExtOrTrunc(x, type) : b_.CreateZExtOrTrunc(x, type);
}

llvm::Value* ElementOps::bitcast(DType from, DType to, llvm::Value* x) const {
    if (from == to) return x;
    if (size_in_bytes(from) != size_in_bytes(to) || from == DType::bf16 || to == DType::bf16)
        refuse(OpCode::bitcast_convert, from);
    return from_memory(to, b_.CreateBitCast(to_memory(from, x), memory_type(to)));
}

llvm::Value* ElementOps::compared(Comparison direction, DType dtype, llvm::Value* x,
                                  llvm::Value* y) const {
    if (is_floating(dtype)) return b_.CreateFCmp(float_predicate(direction), x, y);
    return b_.CreateICmp(integer_predicate(direction, is_signed(dtype)), x, y);
}

llvm::Value* ElementOps::combined(Reduction reduction, DType dtype, llvm::Value* x,
                                  llvm::Value* y) const {
    if (reduction == Reduction::maximum) return larger(dtype, x, y);
    if (reduction == Reduction::minimum) return smaller(dtype, x, y);
    return is_floating(dtype) ? b_.CreateFAdd(x, y) : b_.CreateAdd(x, y);
}

llvm::Value* ElementOps::neutral(Reduction reduction, DType dtype) const {
    llvm::Type* const type = register_type(dtype);
    if (reduction == Reduction::add) return llvm::Constant::getNullValue(type);
    const bool lowest = reduction == Reduction::maximum;
    if (is_floating(dtype))
        return llvm::ConstantFP::get(type, lowest ? -std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::infinity());
    const unsigned bits = bits_of(dtype);
    const llvm::APInt low =
        is_signed(dtype) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
    const llvm::APInt high =
        is_signed(dtype) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    return llvm::ConstantInt::get(type, lowest ? low : high);
}

}    // namespace slipway
