#include "executor/codegen/kernels/line_product.h"

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "executor/codegen/kernels/rounded_vectors.h"
#include "executor/processor/instruction_set.h"

// Sixteen results at a time, 4 rows by 4 columns, each in a register of 16 partial sums over all
// terms: eight loads for sixteen multiply-adds, and nothing is copied or turned around. The sixteen
// registers are then added up as one, halving their number at each step of the tree. The library
// reads such lines in one way for one row, in another up to 15 rows and in a third beyond, and in
// bf16 it works out 16 rows where there is one, so its bits depend on how many rows come together;
// these do not (docs/decisions/0081).
namespace slipway {

namespace {

constexpr std::int64_t lanes = floats_count;
// In bf16 the library is faster from two rows on, and joins them by itself.
constexpr std::int64_t rows_max = 15, rows_max_in_bf16 = 1, columns_min = 4, terms_min = 16;

using Sums = std::array<Floats, floats_count>;

template <int bit, std::size_t... lane>
Floats pair_sums(const Floats& a, const Floats& b, std::index_sequence<lane...>) {
    // Lanes with the bit: of b; the others: of a. Each is the sum of two that differ in the bit.
    return __builtin_shufflevector(a, b, ((lane & bit) != 0 ? lanes + lane : lane)...) +
           __builtin_shufflevector(a, b,
                                   ((lane & bit) != 0 ? lanes + (lane ^ bit) : lane | bit)...);
}

/// The first `bit` registers become the sums of two each.
template <int bit>
void halve(Sums& sums) {
    constexpr auto all = std::make_index_sequence<std::size_t(lanes)>();
    for (std::size_t i = 0; i < bit; ++i)
        sums[i] = pair_sums<bit>(sums[i], sums[i + bit], all);
}

/// Lane i: the sum of register i.
Floats sums_of(Sums& sums) {
    halve<8>(sums);
    halve<4>(sums);
    halve<2>(sums);
    halve<1>(sums);
    return sums[0];
}

/// How a register of a line's terms is read and multiplied.
template <class Operand>
struct Terms {
    using Line = Floats;
    static constexpr std::int64_t count = lanes;

    static Line take(const Operand* from) { return load_widened(from); }
    /// Up to `present` numbers, then zeros.
    static Line take_part(const Operand* from, std::int64_t present) {
        Floats numbers{};
        for (std::int64_t i = 0; i < present; ++i)
            numbers[i] = float(from[i]);
        return numbers;
    }
    static Floats add(const Floats& sums, const Line& a, const Line& b) {
        return multiply_add(a, b, sums);
    }
};

#if defined(__AVX512BF16__) && defined(__AVX512BW__)
/// Pairs of terms: the processor's own products of bf16.
struct PairedTerms {
    using Line = __m512bh;
    static constexpr std::int64_t count = 2 * lanes;

    static Line take(const BFloat16* from) { return Line(_mm512_loadu_si512(from)); }
    static Line take_part(const BFloat16* from, std::int64_t present) {
        return Line(_mm512_maskz_loadu_epi16(__mmask32((std::uint64_t{1} << present) - 1), from));
    }
    static Floats add(const Floats& sums, const Line& a, const Line& b) {
        return Floats(_mm512_dpbf16_ps(__m512(sums), a, b));
    }
};
#endif

template <class Operand, class Result, class Read>
struct Lines {
    const Operand* left;
    const Operand* right;
    Result* to;
    std::int64_t left_step, right_step, result_step;
    std::int64_t terms;
    bool adds;

    template <int rows, int columns>
    void multiply_tile(std::int64_t row, std::int64_t column) const {
        static_assert(rows * columns <= lanes);
        const Operand* const a = left + row * left_step;
        const Operand* const b = right + column * right_step;
        Sums sums{};
        const auto add_terms = [&](std::int64_t term, const auto& take) {
            typename Read::Line lines[columns];
            for (int j = 0; j < columns; ++j)
                lines[j] = take(b + j * right_step + term);
            for (int i = 0; i < rows; ++i) {
                const typename Read::Line line = take(a + i * left_step + term);
                for (int j = 0; j < columns; ++j) {
                    Floats& sum = sums[std::size_t(i * columns + j)];
                    sum = Read::add(sum, line, lines[j]);
                }
            }
        };
        const std::int64_t whole = terms / Read::count * Read::count;
        for (std::int64_t term = 0; term < whole; term += Read::count)
            add_terms(term, Read::take);
        if (whole < terms)
            add_terms(whole, [&](const Operand* at) { return Read::take_part(at, terms - whole); });
        const Floats results = sums_of(sums);
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < columns; ++j) {
                Result& result = to[(row + i) * result_step + column + j];
                const float sum = results[i * columns + j];
                result = Result(adds ? float(result) + sum : sum);
            }
    }

    /// All rows of some columns, whose lines are read once from where they lie far away.
    template <int columns>
    void multiply_columns(std::int64_t rows, std::int64_t column) const {
        std::int64_t row = 0;
        for (; row + 4 <= rows; row += 4)
            multiply_tile<4, columns>(row, column);
        if (row + 2 <= rows) {
            multiply_tile<2, columns>(row, column);
            row += 2;
        }
        if (row < rows) multiply_tile<1, columns>(row, column);
    }
};

template <class Operand, class Result, class Read = Terms<Operand>>
void multiply_lines(const LineProduct& product, const std::byte* left, const std::byte* right,
                    std::byte* to) {
    const Lines<Operand, Result, Read> lines{
        .left = reinterpret_cast<const Operand*>(left) + product.lhs.offset,
        .right = reinterpret_cast<const Operand*>(right) + product.rhs.offset,
        .to = reinterpret_cast<Result*>(to) + product.result.offset,
        .left_step = product.lhs.strides[0],
        .right_step = product.rhs.strides[1],
        .result_step = product.result.strides[0],
        .terms = product.lhs.dims[1],
        .adds = product.adds};
    const std::int64_t rows = product.result.dims[0], columns = product.result.dims[1];
    std::int64_t column = 0;
    // One row alone is sixteen columns, to have as many sums at work.
    if (rows == 1)
        for (; column + 16 <= columns; column += 16)
            lines.template multiply_tile<1, 16>(0, column);
    for (; column + 4 <= columns; column += 4)
        lines.template multiply_columns<4>(rows, column);
    for (; column < columns; ++column)
        lines.template multiply_columns<1>(rows, column);
}

/// By the results' type.
template <class Operand, class Read = Terms<Operand>>
void multiply_all(const LineProduct& product, const std::byte* left, const std::byte* right,
                  std::byte* to) {
    if (product.results == DType::f32)
        multiply_lines<Operand, float, Read>(product, left, right, to);
    else
        multiply_lines<Operand, BFloat16, Read>(product, left, right, to);
}

}    // namespace

bool LineProduct::is_possible() const {
    return result.dims[0] >= 1 && result.dims[1] >= columns_min && lhs.dims[1] >= terms_min &&
           lhs.strides[1] == 1 && rhs.strides[0] == 1 && result.strides[1] == 1;
}

bool LineProduct::pays() const {
    return result.dims[0] <= (operands == DType::f32 ? rows_max : rows_max_in_bf16);
}

void LineProduct::multiply(const std::byte* left, const std::byte* right, std::byte* to) const {
    if (operands == DType::f32) return multiply_all<float>(*this, left, right, to);
#if defined(__AVX512BF16__) && defined(__AVX512BW__)
    if (instruction_set() >= InstructionSet::avx512_core_bf16)
        return multiply_all<BFloat16, PairedTerms>(*this, left, right, to);
#endif
    multiply_all<BFloat16>(*this, left, right, to);
}

}    // namespace slipway
