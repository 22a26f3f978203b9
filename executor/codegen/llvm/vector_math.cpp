// Each function reduces its argument to a short interval, evaluates a polynomial there, and puts
// scale or sign back. The bounds in the header are measured against values of higher precision
// over samples of all floats. Libraries were the alternative: their bits differ between
// machines, and a call from a loop of vectors cannot be fused into it. Invariant: every special
// value has an answer of its own, and a lane's result does not depend on the other lanes.
#include "executor/codegen/llvm/vector_math.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "executor/codegen/llvm/vector_tables.h"

namespace slipway::vector_math {

namespace {

using llvm::Intrinsic::ID;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// ln 2 in two parts: n * high is exact for the n there are.
constexpr double ln2_high = 0x1.62e4p-1;
constexpr double ln2_low = 0x1.7f7d1cf79abcap-20;
constexpr double log2_e = 1.4426950408889634;

/// Integers of so many bits, as many lanes as `type` has.
llvm::Type* integers_like(llvm::Type* type, unsigned bits) {
    llvm::Type* const integer = llvm::IntegerType::get(type->getContext(), bits);
    const auto* const vector = llvm::dyn_cast<llvm::VectorType>(type);
    return vector == nullptr ? integer : llvm::VectorType::get(integer, vector->getElementCount());
}

/// Instructions over one floating type: float or double, of any number of lanes.
class Math {
public:
    Math(llvm::IRBuilder<>& builder, llvm::Type* type)
        : b(builder),
          type_(type),
          is_double_(type->getScalarType()->isDoubleTy()),
          int_type_(integers_like(type, is_double_ ? 64 : 32)) {}

    llvm::Value* number(double value) const { return llvm::ConstantFP::get(type_, value); }
    llvm::Value* bits(std::int64_t value) const {
        return llvm::ConstantInt::get(int_type_, std::uint64_t(value), true);
    }
    llvm::Value* fma(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
        return b.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
    }
    llvm::Value* unary(ID id, llvm::Value* x) { return b.CreateUnaryIntrinsic(id, x); }
    llvm::Value* absolute(llvm::Value* x) { return unary(llvm::Intrinsic::fabs, x); }
    llvm::Value* with_sign_of(llvm::Value* x, llvm::Value* sign) {
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
    }
    llvm::Value* nearest_whole(llvm::Value* x) { return unary(llvm::Intrinsic::roundeven, x); }
    llvm::Value* as_bits(llvm::Value* x) { return b.CreateBitCast(x, int_type_); }
    llvm::Value* as_number(llvm::Value* x) { return b.CreateBitCast(x, type_); }
    llvm::Value* to_int(llvm::Value* x) { return b.CreateFPToSI(x, int_type_); }
    llvm::Value* to_number(llvm::Value* x) { return b.CreateSIToFP(x, type_); }

    /// One instruction each; NaN stays.
    llvm::Value* not_below(llvm::Value* x, double low) {
        return b.CreateSelect(b.CreateFCmpUGE(x, number(low)), x, number(low));
    }
    llvm::Value* not_above(llvm::Value* x, double high) {
        return b.CreateSelect(b.CreateFCmpULE(x, number(high)), x, number(high));
    }

    /// Within [low, high]; a NaN becomes low, so that it can be turned into a whole number.
    llvm::Value* bounded(llvm::Value* x, double low, double high) {
        x = b.CreateSelect(b.CreateFCmpOGT(x, number(low)), x, number(low));
        return b.CreateSelect(b.CreateFCmpOLT(x, number(high)), x, number(high));
    }

    /// coefficients[0] + x (coefficients[1] + x (...)).
    llvm::Value* polynomial(llvm::Value* x, std::span<const double> coefficients) {
        llvm::Value* sum = number(coefficients.back());
        for (std::size_t i = coefficients.size() - 1; i-- > 0;)
            sum = fma(sum, x, number(coefficients[i]));
        return sum;
    }

    /// 2^n for whole n of the exponent's range.
    llvm::Value* power_of_two(llvm::Value* n) {
        const int bias = is_double_ ? 1023 : 127;
        const int mantissa = is_double_ ? 52 : 23;
        return as_number(b.CreateShl(b.CreateAdd(n, bits(bias)), bits(mantissa)));
    }

    /// In a vector; 0 for a single number.
    unsigned lanes() const {
        const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type_);
        return vector == nullptr ? 0 : vector->getNumElements();
    }
    /// Sixteen floats are a vector of AVX-512.
    bool can_scale() const { return !is_double_ && lanes() == 16; }
    /// x 2^floor(n), in one instruction.
    llvm::Value* scaled(llvm::Value* x, llvm::Value* n) {
        constexpr int as_the_thread_rounds = 4;
        return b.CreateIntrinsic(
            llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
            {x, n, number(0), b.getInt16(0xffff), b.getInt32(as_the_thread_rounds)});
    }

    /// Of floats: the table's number at the place that the low four bits of `index` name.
    llvm::Value* looked_up(const PieceTable& table, llvm::Value* index) {
        return picked<float>(table, index, llvm::Intrinsic::x86_avx512_permvar_sf_512,
                             llvm::Intrinsic::x86_avx2_permps);
    }
    /// Of as many integers of 32 bits: the same.
    llvm::Value* looked_up(const WordTable& table, llvm::Value* index) {
        return picked<std::uint32_t>(table, index, llvm::Intrinsic::x86_avx512_permvar_si_512,
                                     llvm::Intrinsic::x86_avx2_permd);
    }

    llvm::IRBuilder<>& b;    // lives as long as the function being built

private:
    template <class Number>
    llvm::Value* picked(llvm::ArrayRef<Number> numbers, llvm::Value* index, ID of_sixteen,
                        ID of_eight) {
        const auto vector_of = [&](llvm::ArrayRef<Number> part) {
            return llvm::ConstantDataVector::get(b.getContext(), part);
        };
        if (lanes() == 16) return b.CreateIntrinsic(of_sixteen, {}, {vector_of(numbers), index});
        if (lanes() == 0)
            return b.CreateExtractElement(vector_of(numbers), b.CreateAnd(index, bits(15)));
        const auto half = [&](std::size_t first) {
            return b.CreateIntrinsic(of_eight, {}, {vector_of(numbers.slice(first, 8)), index});
        };
        llvm::Value* const is_low = b.CreateICmpEQ(b.CreateAnd(index, bits(8)), bits(0));
        return b.CreateSelect(is_low, half(0), half(8));
    }

    llvm::Type* type_;
    bool is_double_;
    llvm::Type* int_type_;
};

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
constexpr std::array exponential_rest{0.500000001354,   0.166666666817,   0.0416664641974,
                                      0.00833331084465, 0.00139337307158, 0.00019891080464};

/// x = n ln 2 + r with |r| <= ln(2) / 2, n a whole number in floating form.
struct Reduced {
    llvm::Value *n, *r;
};
Reduced reduced(Math& m, llvm::Value* x) {
    llvm::Value* const n = m.nearest_whole(m.b.CreateFMul(x, m.number(log2_e)));
    llvm::Value* r = m.fma(n, m.number(-ln2_high), x);
    r = m.fma(n, m.number(-ln2_low), r);
    return {n, r};
}

/// e^r - 1 - r.
llvm::Value* exponential_minus_two_terms(Math& m, llvm::Value* r) {
    return m.b.CreateFMul(m.b.CreateFMul(r, r), m.polynomial(r, exponential_rest));
}

/// e^x of -104 <= x <= 89; NaN of NaN.
llvm::Value* bounded_exponential(Math& m, llvm::Value* x) {
    // x = n ln 2 + r for a multiple n of 1/16 and |r| <= ln(2) / 32. The number added to round to
    // such multiples has their count in its last bits; e^r = 1 + r + r^2 (...).
    constexpr double shift = 0x1.8p19;
    constexpr std::int64_t shift_bits = 0x49400000;
    constexpr std::array rest{0.500016195, 0.16666979};
    llvm::Value* const shifted = m.fma(x, m.number(log2_e), m.number(shift));
    llvm::Value* const n = m.b.CreateFSub(shifted, m.number(shift));
    llvm::Value* r = m.fma(n, m.number(-ln2_high), x);
    r = m.fma(n, m.number(-ln2_low), r);
    llvm::Value* const minus_one = m.fma(m.b.CreateFMul(r, r), m.polynomial(r, rest), r);
    llvm::Value* const root = m.looked_up(roots_of_two, m.as_bits(shifted));
    llvm::Value* const y = m.fma(root, minus_one, root);
    if (m.can_scale()) return m.scaled(y, n);
    // 2^floor(n) may leave the range of floats, and half of it does not.
    llvm::Value* const whole =
        m.b.CreateAShr(m.b.CreateSub(m.as_bits(shifted), m.bits(shift_bits)), m.bits(4));
    llvm::Value* const half = m.b.CreateAShr(whole, m.bits(1));
    llvm::Value* const scaled = m.b.CreateFMul(y, m.power_of_two(half));
    return m.b.CreateFMul(scaled, m.power_of_two(m.b.CreateSub(whole, half)));
}

// (log(1+f) - f + f^2/2) / f^3 for sqrt(1/2) - 1 <= f <= sqrt(2) - 1.
constexpr std::array logarithm_rest{0.3333333118,    -0.24999996958,  0.200007157489,
                                    -0.166678023195, 0.142490576457,  -0.124256873315,
                                    0.116854199235,  -0.114797338466, 0.0697161147145};

/// log(m 2^e) + rest for x = m 2^e, a positive normal number; `rest` is a small correction.
llvm::Value* log_of_normal(Math& m, llvm::Value* x, llvm::Value* exponent, llvm::Value* rest) {
    // The mantissa in [sqrt(1/2), sqrt(2)): the exponent counts from sqrt(1/2).
    constexpr std::int64_t root_half_bits = 0x3f3504f3;
    llvm::Value* const shifted = m.b.CreateSub(m.as_bits(x), m.bits(root_half_bits));
    llvm::Value* const e = m.b.CreateAShr(shifted, m.bits(23));
    llvm::Value* const mantissa =
        m.as_number(m.b.CreateSub(m.as_bits(x), m.b.CreateShl(e, m.bits(23))));
    llvm::Value* const f = m.b.CreateFSub(mantissa, m.number(1));
    llvm::Value* const n = m.b.CreateFAdd(m.to_number(e), exponent);
    llvm::Value* const square = m.b.CreateFMul(f, f);
    llvm::Value* y = m.b.CreateFMul(m.b.CreateFMul(square, f), m.polynomial(f, logarithm_rest));
    y = m.fma(n, m.number(ln2_low), y);
    y = m.b.CreateFAdd(y, rest);
    y = m.fma(square, m.number(-0.5), y);
    y = m.b.CreateFAdd(f, y);
    return m.fma(n, m.number(ln2_high), y);
}

/// y where x is an ordinary positive number; what the logarithm says elsewhere.
llvm::Value* log_or_special(Math& m, llvm::Value* x, llvm::Value* y) {
    y = m.b.CreateSelect(m.b.CreateFCmpUEQ(x, m.number(infinity)), x, y);    // and NaN
    y = m.b.CreateSelect(m.b.CreateFCmpOLT(x, m.number(0)), m.number(not_a_number), y);
    return m.b.CreateSelect(m.b.CreateFCmpOEQ(x, m.number(0)), m.number(-infinity), y);
}

llvm::Value* expm1_core(Math& m, llvm::Value* x) {
    const auto [whole, r] = reduced(m, x);
    llvm::Value* const n = m.to_int(whole);
    llvm::Value* const rest = exponential_minus_two_terms(m, r);
    llvm::Value* const half = m.b.CreateAShr(n, m.bits(1));
    llvm::Value* const other_half = m.b.CreateSub(n, half);
    llvm::Value* const first = m.power_of_two(half);
    llvm::Value* const inverse = m.power_of_two(m.b.CreateNeg(other_half));
    // 2^n (e^r - 1) + (2^n - 1), where the last difference is exact or hides nothing.
    llvm::Value* const y = m.fma(m.b.CreateFAdd(r, rest), first, m.b.CreateFSub(first, inverse));
    return m.b.CreateFMul(y, m.power_of_two(other_half));
}

/// Sixteen short polynomials instead of one long one or a division.
template <std::size_t Coefficients>
llvm::Value* odd_in_pieces(Math& m, llvm::Value* x, const PieceTables<Coefficients>& tables) {
    // Added, it rounds to a whole number, which its last bits then hold.
    constexpr double shift = 0x1.8p23;
    llvm::Value* const size = m.not_above(m.absolute(x), tables.bound);
    llvm::Value* const piece = m.as_bits(m.fma(size, m.number(tables.per_unit), m.number(shift)));
    llvm::Value* const t = m.b.CreateFSub(size, m.looked_up(tables.centers, piece));
    llvm::Value* sum = m.looked_up(tables.coefficients.back(), piece);
    for (std::size_t i = Coefficients - 1; i-- > 0;)
        sum = m.fma(sum, t, m.looked_up(tables.coefficients[i], piece));
    return m.with_sign_of(m.b.CreateFMul(sum, size), x);
}

// Sine and cosine: |x| = n pi/2 + r with |r| a little above pi/4 at most, of which short
// polynomials give both; the last two bits of n choose among them and their signs. Up to 2^17
// three multiply-adds find r, pi/2 being the sum of three floats (Cody and Waite). Beyond, |x| is a
// whole number times a power of two, and its product with the digits of 2/pi that matter modulo 4
// is exact (Payne and Hanek). That is done only where a vector has such a number.

// n < 2^17, so that the nearest n is found closely enough.
constexpr auto angle_max_bits = std::bit_cast<std::int32_t>(0x1p17F);
constexpr auto infinity_bits = std::bit_cast<std::int32_t>(std::numeric_limits<float>::infinity());

constexpr std::array half_pi{0x1.921fb6p+0, -0x1.777a5cp-25, -0x1.ee59dap-50};
constexpr double two_over_pi = 0.6366197723675814;

// (sin r - r) / r^3 and (cos r - 1 + r^2/2) / r^4 in r^2 for |r| <= 0.8: 2^-26.8 of sin r and
// 2^-30 of cos r.
constexpr std::array sine_rest{-0.1666665375, 0.008332070895, -0.0001950306905};
constexpr std::array cosine_rest{0.04166664183, -0.001388719422, 2.441919605e-05};

/// An angle without its multiples of pi/2: `quadrant` counts them modulo 4 in its last two bits.
struct Angle {
    llvm::Value *quadrant, *r;
};

/// Of 0 <= x <= 2^17; NaN stays NaN, infinity becomes NaN.
Angle small_angle(Math& m, llvm::Value* x) {
    // Added, it rounds to a whole number, which its last bits then hold.
    constexpr double shift = 0x1.8p23;
    llvm::Value* const shifted = m.fma(x, m.number(two_over_pi), m.number(shift));
    llvm::Value* const n = m.b.CreateFSub(shifted, m.number(shift));
    llvm::Value* r = x;
    for (const double part : half_pi)
        r = m.fma(n, m.number(-part), r);
    return {m.as_bits(shifted), r};
}

/// Of finite x >= 2^17.
Angle large_angle(Math& m, llvm::Value* x) {
    constexpr double radians_per_unit = 0x1.921fb54442d18p0 * 0x1p-62;
    static constexpr TwoOverPiWindows windows = two_over_pi_windows();
    llvm::Type* const type = x->getType();
    llvm::Type* const long_type = integers_like(type, 64);
    const auto number = [&](std::uint64_t value) {
        return llvm::ConstantInt::get(long_type, value);
    };
    // x = whole 2^(8 window - 22), whole below 2^31.
    llvm::Value* const exponent =
        m.b.CreateSub(m.b.CreateLShr(m.as_bits(x), m.bits(23)), m.bits(128));
    llvm::Value* const window = m.b.CreateLShr(exponent, m.bits(3));
    llvm::Value* const mantissa =
        m.b.CreateOr(m.b.CreateAnd(m.as_bits(x), m.bits(0x7fffff)), m.bits(0x800000));
    llvm::Value* const whole =
        m.b.CreateZExt(m.b.CreateShl(mantissa, m.b.CreateAnd(exponent, m.bits(7))), long_type);
    const auto product = [&](std::size_t word) {
        llvm::Value* const digits = m.looked_up(windows.words[word], window);
        return m.b.CreateMul(whole, m.b.CreateZExt(digits, long_type));
    };
    // x 2/pi modulo 4, in units of 2^-62.
    llvm::Value* units = m.b.CreateShl(product(0), number(32));
    units = m.b.CreateAdd(units, product(1));
    units = m.b.CreateAdd(units, m.b.CreateLShr(product(2), number(32)));
    llvm::Value* const n = m.b.CreateLShr(m.b.CreateAdd(units, number(1ULL << 61)), number(62));
    llvm::Value* const rest = m.b.CreateSub(units, m.b.CreateShl(n, number(62)));
    llvm::Type* const doubles = type->getWithNewType(m.b.getDoubleTy());
    llvm::Value* const r = m.b.CreateFMul(m.b.CreateSIToFP(rest, doubles),
                                          llvm::ConstantFP::get(doubles, radians_per_unit));
    return {m.b.CreateTrunc(n, integers_like(type, 32)), m.b.CreateFPTrunc(r, type)};
}

/// Of x >= 0 and NaN.
Angle angle_of(Math& m, llvm::Value* x) {
    const Angle small = small_angle(m, x);
    llvm::Value* const is_large =
        m.b.CreateICmpULT(m.b.CreateSub(m.as_bits(x), m.bits(angle_max_bits)),
                          m.bits(infinity_bits - angle_max_bits));
    llvm::BasicBlock* const before = m.b.GetInsertBlock();
    llvm::Function* const function = before->getParent();
    auto* const large_block = llvm::BasicBlock::Create(m.b.getContext(), "large", function);
    auto* const after = llvm::BasicBlock::Create(m.b.getContext(), "after", function);
    llvm::MDNode* const seldom = llvm::MDBuilder(m.b.getContext()).createBranchWeights(1, 1000);
    m.b.CreateCondBr(m.lanes() == 0 ? is_large : m.b.CreateOrReduce(is_large), large_block, after,
                     seldom);
    m.b.SetInsertPoint(large_block);
    const Angle large = large_angle(m, x);
    const Angle mixed{m.b.CreateSelect(is_large, large.quadrant, small.quadrant),
                      m.b.CreateSelect(is_large, large.r, small.r)};
    m.b.CreateBr(after);
    m.b.SetInsertPoint(after);
    const auto either = [&](llvm::Value* without, llvm::Value* with) {
        llvm::PHINode* const value = m.b.CreatePHI(without->getType(), 2);
        value->addIncoming(without, before);
        value->addIncoming(with, large_block);
        return value;
    };
    return {either(small.quadrant, mixed.quadrant), either(small.r, mixed.r)};
}

/// The sine of r in the even quadrants, the cosine in the odd ones; negative in the last two.
llvm::Value* sine_in_quadrant(Math& m, llvm::Value* quadrant, llvm::Value* r) {
    llvm::Value* const square = m.b.CreateFMul(r, r);
    llvm::Value* const sine = m.fma(m.b.CreateFMul(r, square), m.polynomial(square, sine_rest), r);
    llvm::Value* const cosine =
        m.fma(m.b.CreateFMul(square, square), m.polynomial(square, cosine_rest),
              m.fma(square, m.number(-0.5), m.number(1)));
    llvm::Value* const is_even = m.b.CreateICmpEQ(m.b.CreateAnd(quadrant, m.bits(1)), m.bits(0));
    llvm::Value* const sign = m.b.CreateShl(m.b.CreateLShr(quadrant, m.bits(1)), m.bits(31));
    llvm::Value* const y = m.b.CreateSelect(is_even, sine, cosine);
    return m.as_number(m.b.CreateXor(m.as_bits(y), sign));
}

}    // namespace

llvm::Value* exponential(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    return bounded_exponential(m, m.not_above(m.not_below(x, -104), 89));
}

llvm::Value* exponential_minus_one(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    llvm::Value* const y = expm1_core(m, m.bounded(x, -30, 89));
    // Of a number this small it is the number itself, zeros with their sign and NaN too.
    llvm::Value* const is_tiny = m.b.CreateFCmpULT(m.absolute(x), m.number(0x1p-25));
    return m.b.CreateSelect(is_tiny, x, y);
}

llvm::Value* log(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    llvm::Value* const is_subnormal = m.b.CreateFCmpOLT(x, m.number(0x1p-126));
    llvm::Value* const scaled =
        m.b.CreateSelect(is_subnormal, m.b.CreateFMul(x, m.number(0x1p24)), x);
    llvm::Value* const exponent = m.b.CreateSelect(is_subnormal, m.number(-24), m.number(0));
    return log_or_special(m, x, log_of_normal(m, scaled, exponent, m.number(0)));
}

llvm::Value* log_plus_one(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    llvm::Value* const u = m.b.CreateFAdd(m.number(1), x);
    // What the sum lost: exact, because one of the two is much larger or they are close.
    llvm::Value* const is_large = m.b.CreateFCmpOGT(m.absolute(x), m.number(1));
    llvm::Value* const lost =
        m.b.CreateSelect(is_large, m.b.CreateFSub(m.number(1), m.b.CreateFSub(u, x)),
                         m.b.CreateFSub(x, m.b.CreateFSub(u, m.number(1))));
    llvm::Value* const rest = m.b.CreateFDiv(lost, u);
    llvm::Value* const y = log_or_special(m, u, log_of_normal(m, u, m.number(0), rest));
    llvm::Value* const is_tiny = m.b.CreateFCmpULT(m.absolute(x), m.number(0x1p-25));
    return m.b.CreateSelect(is_tiny, x, y);
}

llvm::Value* tanh(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    return odd_in_pieces(m, x, tanh_pieces);
}

llvm::Value* logistic(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    llvm::Value* const size = m.not_above(m.absolute(x), 104);
    llvm::Value* const e = bounded_exponential(m, m.b.CreateFNeg(size));
    llvm::Value* const upper = m.b.CreateFCmpOGE(x, m.number(0));
    return m.b.CreateFDiv(m.b.CreateSelect(upper, m.number(1), e), m.b.CreateFAdd(m.number(1), e));
}

llvm::Value* erf(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    return odd_in_pieces(m, x, erf_pieces);
}

llvm::Value* sine(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    const Angle angle = angle_of(m, m.absolute(x));
    llvm::Value* const y = sine_in_quadrant(m, angle.quadrant, angle.r);
    llvm::Value* const sign = m.b.CreateAnd(m.as_bits(x), m.bits(std::int64_t(1) << 31));
    return m.as_number(m.b.CreateXor(m.as_bits(y), sign));
}

llvm::Value* cosine(llvm::IRBuilder<>& builder, llvm::Value* x) {
    Math m(builder, x->getType());
    const Angle angle = angle_of(m, m.absolute(x));
    return sine_in_quadrant(m, m.b.CreateAdd(angle.quadrant, m.bits(1)), angle.r);
}

llvm::Value* sqrt(llvm::IRBuilder<>& builder, llvm::Value* x) {
    return builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
}

llvm::Value* rsqrt(llvm::IRBuilder<>& builder, llvm::Value* x) {
    return builder.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), sqrt(builder, x));
}

namespace {

/// log2 of a positive normal double.
llvm::Value* log2_of_double(Math& m, llvm::Value* x) {
    // 2 atanh(s) = 2 s + s^3 q(s^2) with s = (m - 1) / (m + 1).
    constexpr std::array atanh_rest{0.66666666666662023502, 0.40000000011328368557,
                                    0.28571424099667423027, 0.22222866482782104373,
                                    0.18140010272578446622, 0.16624587178390532366};
    constexpr std::int64_t root_half_bits = 0x3fe6a09e667f3bcd;
    llvm::Value* const shifted = m.b.CreateSub(m.as_bits(x), m.bits(root_half_bits));
    llvm::Value* const e = m.b.CreateAShr(shifted, m.bits(52));
    llvm::Value* const mantissa =
        m.as_number(m.b.CreateSub(m.as_bits(x), m.b.CreateShl(e, m.bits(52))));
    llvm::Value* const s = m.b.CreateFDiv(m.b.CreateFSub(mantissa, m.number(1)),
                                          m.b.CreateFAdd(mantissa, m.number(1)));
    llvm::Value* const square = m.b.CreateFMul(s, s);
    llvm::Value* const cube = m.b.CreateFMul(square, s);
    llvm::Value* const ln =
        m.fma(cube, m.polynomial(square, atanh_rest), m.b.CreateFMul(s, m.number(2)));
    return m.fma(ln, m.number(log2_e), m.to_number(e));
}

/// 2^y in double, rounded to float; y is within the range of both.
llvm::Value* exp2_of_double(Math& m, llvm::Value* y, llvm::Type* result) {
    constexpr std::array rest{1.0000000000000136224,      1.000000000000001238,
                              0.49999999999434079644,     0.16666666666615237252,
                              0.041666667042802460132,    0.0083333333675161087421,
                              0.0013888801400235062359,   0.0001984119033003133762,
                              0.000024884625825292251356, 2.7632791582662333923e-6};
    llvm::Value* const n = m.nearest_whole(y);
    llvm::Value* const r = m.b.CreateFMul(m.b.CreateFSub(y, n), m.number(0.69314718055994530942));
    llvm::Value* const scaled = m.b.CreateFMul(m.polynomial(r, rest), m.power_of_two(m.to_int(n)));
    return m.b.CreateFPTrunc(scaled, result);
}

}    // namespace

llvm::Value* power(llvm::IRBuilder<>& builder, llvm::Value* x, llvm::Value* y) {
    llvm::Type* const type = x->getType();
    Math f(builder, type);
    llvm::Type* const doubles = type->getWithNewType(builder.getDoubleTy());
    Math d(builder, doubles);
    llvm::IRBuilder<>& b = builder;
    llvm::Value* const size = f.absolute(x);
    llvm::Value* const log2 = log2_of_double(d, b.CreateFPExt(size, doubles));
    llvm::Value* const exponent =
        d.bounded(b.CreateFMul(log2, b.CreateFPExt(y, doubles)), -200, 200);
    llvm::Value* result = exp2_of_double(d, exponent, type);
    // Zero and infinity raised: infinity where the sign of y asks for it.
    llvm::Value* const is_zero = b.CreateFCmpOEQ(size, f.number(0));
    llvm::Value* const is_infinite = b.CreateFCmpOEQ(size, f.number(infinity));
    llvm::Value* const y_positive = b.CreateFCmpOGT(y, f.number(0));
    llvm::Value* const to_infinity = b.CreateXor(is_zero, y_positive);
    result = b.CreateSelect(b.CreateOr(is_zero, is_infinite),
                            b.CreateSelect(to_infinity, f.number(infinity), f.number(0)), result);
    // A negative base: an odd whole exponent keeps the sign, a fraction has no real power.
    llvm::Value* const truncated = f.unary(llvm::Intrinsic::trunc, y);
    llvm::Value* const is_whole = b.CreateFCmpOEQ(truncated, y);
    llvm::Value* const half = b.CreateFMul(y, f.number(0.5));
    llvm::Value* const is_odd =
        b.CreateAnd(is_whole, b.CreateFCmpONE(f.unary(llvm::Intrinsic::trunc, half), half));
    result = b.CreateSelect(is_odd, f.with_sign_of(result, x), result);
    llvm::Value* const is_unreal = b.CreateAnd(
        b.CreateAnd(b.CreateFCmpOLT(x, f.number(0)), b.CreateNot(b.CreateOr(is_infinite, is_zero))),
        b.CreateNot(is_whole));
    result = b.CreateSelect(is_unreal, f.number(not_a_number), result);
    result = b.CreateSelect(b.CreateFCmpUNO(x, y), f.number(not_a_number), result);
    // 1 to any power and anything to the power of 0, even NaN; -1 to an infinite power.
    llvm::Value* const is_one =
        b.CreateOr(b.CreateOr(b.CreateFCmpOEQ(x, f.number(1)), b.CreateFCmpOEQ(y, f.number(0))),
                   b.CreateAnd(b.CreateFCmpOEQ(size, f.number(1)),
                               b.CreateFCmpOEQ(f.absolute(y), f.number(infinity))));
    return b.CreateSelect(is_one, f.number(1), result);
}

}    // namespace slipway::vector_math
