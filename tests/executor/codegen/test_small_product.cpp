// Goal: a small product is what its definition says, in every layout and of every size, and the
// same bits for any part of it. Method: sums in double precision; numbers around the result that
// must stay.

#include "executor/codegen/kernels/small_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace slipway {
namespace {

struct Case {
    std::int64_t rows, columns, terms;
    bool lhs_lies_in_columns, rhs_lies_in_columns, adds;
};

std::vector<float> random_numbers(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> numbers(std::size_t(count), 0.0F);
    for (float& x : numbers)
        x = std::uniform_real_distribution<float>(-1, 1)(random);
    return numbers;
}

/// Lines that are three elements longer than they must be, after five elements.
View view_of(std::int64_t rows, std::int64_t columns, bool lies_in_columns) {
    return {.dims = {rows, columns},
            .strides = lies_in_columns ? Dims{1, rows + 3} : Dims{columns + 3, 1},
            .offset = 5};
}

std::int64_t extent_of(const View& view) {
    return view.offset + (view.dims[0] - 1) * view.strides[0] +
           (view.dims[1] - 1) * view.strides[1] + 1;
}

float at(const std::vector<float>& buffer, const View& view, std::int64_t i, std::int64_t j) {
    return buffer[std::size_t(view.offset + i * view.strides[0] + j * view.strides[1])];
}

SmallProduct product_of(const Case& one) {
    return {.lhs = view_of(one.rows, one.terms, one.lhs_lies_in_columns),
            .rhs = view_of(one.terms, one.columns, one.rhs_lies_in_columns),
            .result = view_of(one.rows, one.columns, false),
            .adds = one.adds};
}

void check(const Case& one) {
    SCOPED_TRACE(testing::Message()
                 << one.rows << "x" << one.columns << "x" << one.terms
                 << (one.lhs_lies_in_columns ? " turned" : "")
                 << (one.rhs_lies_in_columns ? " by turned" : "") << (one.adds ? " added" : ""));
    const SmallProduct product = product_of(one);
    // To the last element that may be read, so that the address sanitizer sees one more.
    const auto left = random_numbers(extent_of(product.lhs), 1);
    const auto right = random_numbers(extent_of(product.rhs), 2);
    const auto before = random_numbers(extent_of(product.result) + 40, 3);
    std::vector<float> result = before;
    product.multiply(left.data(), right.data(), result.data());
    std::vector<float> others = before;
    for (std::int64_t i = 0; i < one.rows; ++i) {
        for (std::int64_t j = 0; j < one.columns; ++j) {
            double sum = one.adds ? double(at(before, product.result, i, j)) : 0;
            for (std::int64_t k = 0; k < one.terms; ++k)
                sum += double(at(left, product.lhs, i, k)) * double(at(right, product.rhs, k, j));
            const float got = at(result, product.result, i, j);
            ASSERT_NEAR(got, sum, 1e-6 * double(one.terms) + 1e-6) << i << ", " << j;
            others[std::size_t(product.result.offset + i * product.result.strides[0] + j)] = got;
        }
    }
    EXPECT_EQ(others, result) << "it wrote beside its result";
}

TEST(SmallProduct, is_the_sum_of_its_terms) {
    for (const bool lhs : {false, true})
        for (const bool rhs : {false, true})
            for (const bool adds : {false, true}) {
                for (const std::int64_t size : {2, 7, 8, 13, 16, 17, 31, 32, 33, 50})
                    for (const std::int64_t terms : {1, 15, 16, 33})
                        check({size, size + 1, terms, lhs, rhs, adds});
                check({32, 120, 400, lhs, rhs, adds});
                check({9, 40, 384, lhs, rhs, adds});
                check({9, 40, 385, lhs, rhs, adds});
                check({9, 40, 768, lhs, rhs, adds});
            }
}

TEST(SmallProduct, of_some_rows_has_the_bits_of_all) {
    const Case whole{37, 45, 500, false, true, true};
    const SmallProduct product = product_of(whole);
    const auto left = random_numbers(extent_of(product.lhs), 1);
    const auto right = random_numbers(extent_of(product.rhs), 2);
    const auto before = random_numbers(extent_of(product.result), 3);
    std::vector<float> expected = before, result = before;
    product.multiply(left.data(), right.data(), expected.data());
    for (const auto& [first, count] : {std::pair{0, 2}, {2, 5}, {7, 13}, {20, 17}}) {
        SmallProduct part = product;
        part.lhs.dims[0] = part.result.dims[0] = count;
        part.lhs.offset += first * product.lhs.strides[0];
        part.result.offset += first * product.result.strides[0];
        part.multiply(left.data(), right.data(), result.data());
    }
    EXPECT_EQ(result, expected);
}

TEST(SmallProduct, keeps_what_is_no_number) {
    const Case one{8, 20, 40, false, true, false};
    const SmallProduct product = product_of(one);
    auto left = random_numbers(extent_of(product.lhs), 1);
    const auto right = random_numbers(extent_of(product.rhs), 2);
    left[std::size_t(product.lhs.offset + 3 * product.lhs.strides[0] + 11)] = NAN;
    std::vector<float> result(std::size_t(extent_of(product.result)));
    product.multiply(left.data(), right.data(), result.data());
    for (std::int64_t i = 0; i < one.rows; ++i)
        for (std::int64_t j = 0; j < one.columns; ++j)
            EXPECT_EQ(std::isnan(at(result, product.result, i, j)), i == 3);
}

TEST(SmallProduct, is_for_few_and_short_sums) {
    EXPECT_TRUE(is_small_product(32, 120, 400));
    EXPECT_TRUE(is_small_product(8, 8, 768));
    EXPECT_FALSE(is_small_product(8, 8, 769));
    EXPECT_FALSE(is_small_product(1, 100, 100)) << "a vector";
    EXPECT_FALSE(is_small_product(100, 1, 100));
    EXPECT_FALSE(is_small_product(2, 2, 768)) << "less than a tile";
    EXPECT_FALSE(is_small_product(512, 512, 512));
    EXPECT_FALSE(is_small_product(std::int64_t{1} << 40, std::int64_t{1} << 40, 1))
        << "no overflow";
    EXPECT_FALSE(is_small_product(8, 8, 0));
}

}    // namespace
}    // namespace slipway
