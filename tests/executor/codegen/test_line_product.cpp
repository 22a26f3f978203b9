// Goal: a line product is what its definition says, of every size and type, and the same bits for
// any number of rows. Method: sums in double precision; numbers around the result that must stay.

#include "executor/codegen/kernels/line_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "executor/tensor/bfloat16.h"

namespace slipway {
namespace {

struct Case {
    std::int64_t rows, columns, terms;
    bool adds = false;
};

template <class Number>
constexpr DType dtype_of = std::is_same_v<Number, float> ? DType::f32 : DType::bf16;

template <class Number>
std::vector<Number> random_numbers(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Number> numbers;
    for (std::int64_t i = 0; i < count; ++i)
        numbers.push_back(Number(std::uniform_real_distribution<float>(-1, 1)(random)));
    return numbers;
}

/// Lines that are three elements longer than they must be, after five elements.
template <class Operand, class Result>
LineProduct product_of(const Case& one) {
    return {.lhs = {{one.rows, one.terms}, {one.terms + 3, 1}, 5},
            .rhs = {{one.terms, one.columns}, {1, one.terms + 3}, 5},
            .result = {{one.rows, one.columns}, {one.columns + 3, 1}, 5},
            .operands = dtype_of<Operand>,
            .results = dtype_of<Result>,
            .adds = one.adds};
}

template <class Number>
const std::byte* bytes_of(const std::vector<Number>& numbers) {
    return reinterpret_cast<const std::byte*>(numbers.data());
}

template <class Operand, class Result>
void check(const Case& one) {
    SCOPED_TRACE(testing::Message() << one.rows << "x" << one.terms << "x" << one.columns);
    const LineProduct product = product_of<Operand, Result>(one);
    // To the last element that may be read, so that the address sanitizer sees one more.
    const std::int64_t line = one.terms + 3;
    const auto left = random_numbers<Operand>(5 + (one.rows - 1) * line + one.terms, 1);
    const auto right = random_numbers<Operand>(5 + (one.columns - 1) * line + one.terms, 2);
    const auto before = random_numbers<Result>(one.rows * (one.columns + 3) + 40, 3);
    std::vector<Result> got = before;
    product.multiply(bytes_of(left), bytes_of(right), reinterpret_cast<std::byte*>(got.data()));
    const double rounding = std::is_same_v<Result, float> ? 0 : 1.0 / 256;
    std::vector<Result> others = before;
    for (std::int64_t i = 0; i < one.rows; ++i)
        for (std::int64_t j = 0; j < one.columns; ++j) {
            const auto at = std::size_t(5 + i * (one.columns + 3) + j);
            double sum = one.adds ? double(float(before[at])) : 0;
            for (std::int64_t k = 0; k < one.terms; ++k)
                sum += double(float(left[std::size_t(5 + i * line + k)])) *
                       double(float(right[std::size_t(5 + j * line + k)]));
            const double tolerance = 1e-6 * double(one.terms) + rounding * std::abs(sum);
            ASSERT_NEAR(float(got[at]), sum, tolerance) << i << ", " << j;
            others[at] = got[at];
        }
    EXPECT_EQ(std::memcmp(others.data(), got.data(), got.size() * sizeof(Result)), 0)
        << "it wrote beside its result";
}

TEST(LineProduct, is_the_sum_of_its_terms) {
    for (const std::int64_t rows : {1, 2, 3, 4, 7, 15, 60})
        for (const std::int64_t columns : {4, 5, 15, 16, 17, 35})
            for (const std::int64_t terms : {16, 17, 31, 32, 33, 100}) {
                check<float, float>({rows, columns, terms});
                check<BFloat16, float>({rows, columns, terms});
                check<BFloat16, BFloat16>({rows, columns, terms});
                check<float, BFloat16>({rows, columns, terms});
                check<float, float>({rows, columns, terms, true});
            }
}

/// The bits of each row alone, which takes other tiles.
template <class Number>
void check_rows_alone(std::int64_t terms) {
    const LineProduct whole = product_of<Number, float>({13, 45, terms});
    const auto left = random_numbers<Number>(5 + 13 * (terms + 3), 1);
    const auto right = random_numbers<Number>(5 + 45 * (terms + 3), 2);
    std::vector<float> expected(5 + 13 * 48), result(5 + 13 * 48);
    whole.multiply(bytes_of(left), bytes_of(right), reinterpret_cast<std::byte*>(expected.data()));
    for (std::int64_t row = 0; row < 13; ++row) {
        LineProduct one = whole;
        one.lhs.dims[0] = one.result.dims[0] = 1;
        one.lhs.offset += row * whole.lhs.strides[0];
        one.result.offset += row * whole.result.strides[0];
        one.multiply(bytes_of(left), bytes_of(right), reinterpret_cast<std::byte*>(result.data()));
    }
    EXPECT_EQ(result, expected);
}

TEST(LineProduct, of_one_row_has_the_bits_of_many) {
    for (const std::int64_t terms : {16, 100, 784}) {
        check_rows_alone<float>(terms);
        check_rows_alone<BFloat16>(terms);
    }
}

TEST(LineProduct, keeps_what_is_no_number) {
    const LineProduct product = product_of<float, float>({4, 20, 40});
    auto left = random_numbers<float>(5 + 4 * 43, 1);
    const auto right = random_numbers<float>(5 + 20 * 43, 2);
    left[5 + 2 * 43 + 39] = NAN;
    std::vector<float> result(5 + 4 * 23);
    product.multiply(bytes_of(left), bytes_of(right), reinterpret_cast<std::byte*>(result.data()));
    for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t j = 0; j < 20; ++j)
            EXPECT_EQ(std::isnan(result[std::size_t(5 + i * 23 + j)]), i == 2);
}

TEST(LineProduct, is_for_few_rows_of_lines) {
    const auto product = product_of<float, float>;
    EXPECT_TRUE(product({15, 4, 16}).is_possible());
    EXPECT_TRUE(product({15, 4, 16}).pays());
    EXPECT_FALSE(product({16, 4, 16}).pays());
    EXPECT_FALSE((product_of<BFloat16, float>({2, 4, 16}).pays())) << "the library's own is faster";
    EXPECT_FALSE(product({1, 3, 16}).is_possible());
    EXPECT_FALSE(product({1, 4, 15}).is_possible());
    LineProduct by_columns = product({2, 16, 16});
    by_columns.rhs.strides = {16, 1};
    EXPECT_FALSE(by_columns.is_possible());
}

}    // namespace
}    // namespace slipway
