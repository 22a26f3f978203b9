#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "executor/codegen/onednn/sum_of_matmuls.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {
namespace {

constexpr std::int64_t core_count = 3, term_count = 37;

struct SumCase {
    const char* name;
    std::int64_t rows, columns;
    bool is_lhs_transposed;
};

// A quarter of the rows are a block, but 32 at least and 192 at most.
const SumCase sum_cases[] = {
    {"one_row", 1, 20, true},
    {"less_than_a_block", 20, 64, true},
    {"one_block", 32, 20, true},
    {"a_rest_of_one_row", 33, 64, true},
    {"four_blocks", 192, 33, true},
    {"large_blocks_and_a_rest", 800, 33, true},
    {"rows_side_by_side", 400, 64, false},
};

/// A matrix's numbers, each of which bf16 holds, in f32 and as the kernel wants them.
struct Numbers {
    std::vector<float> wide;
    std::vector<BFloat16> narrow;

    Numbers(std::int64_t count, std::mt19937& random) {
        std::uniform_real_distribution<float> number(-1, 1);
        for (std::int64_t i = 0; i < count; ++i) {
            narrow.emplace_back(number(random));
            wide.push_back(float(narrow.back()));
        }
    }
    const std::byte* bytes(DType type) const {
        return type == DType::bf16 ? reinterpret_cast<const std::byte*>(narrow.data())
                                   : reinterpret_cast<const std::byte*>(wide.data());
    }
};

class SumsOfMatmuls : public testing::TestWithParam<std::tuple<SumCase, DType>> {
protected:
    SumsOfMatmuls() {
        std::mt19937 random(5);
        for (std::int64_t core = 0; core < core_count; ++core) {
            lhs_.emplace_back(case_.rows * term_count, random);
            rhs_.emplace_back(term_count * case_.columns, random);
        }
        for (const auto* numbers : {&lhs_, &rhs_})
            for (const Numbers& core : *numbers)
                reads_.push_back(core.bytes(operands_));
        View lhs = case_.is_lhs_transposed ? ordered_view({1, case_.rows, term_count}, {0, 2, 1})
                                           : dense_view({1, case_.rows, term_count});
        sum_ = make_sum_of_matmuls({.lhs = lhs,
                                    .rhs = dense_view({1, term_count, case_.columns}),
                                    .result = dense_view({1, case_.rows, case_.columns}),
                                    .operands = operands_},
                                   workers_);
    }

    /// The sum, its elements computed in these parts, each by the next worker.
    std::vector<float> run(const std::vector<std::int64_t>& bounds) const {
        std::vector<float> result(std::size_t(case_.rows * case_.columns), std::nanf(""));
        std::vector<std::byte> scratch(std::size_t(sum_->kernel.scratch_bytes) + 64);
        const auto offset = 64 - reinterpret_cast<std::uintptr_t>(scratch.data()) % 64;
        const std::array writes{reinterpret_cast<std::byte*>(result.data()),
                                scratch.data() + offset};
        for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
            sum_->kernel.kernel({.reads = reads_,
                                 .writes = writes,
                                 .begin = bounds[i],
                                 .end = bounds[i + 1],
                                 .worker = int(i) % workers_});
        return result;
    }

    double by_definition(std::int64_t row, std::int64_t column) const {
        double sum = 0;
        for (std::size_t core = 0; core < std::size_t(core_count); ++core)
            for (std::int64_t term = 0; term < term_count; ++term) {
                const std::int64_t left =
                    case_.is_lhs_transposed ? term * case_.rows + row : row * term_count + term;
                sum += double(lhs_[core].wide[std::size_t(left)]) *
                       rhs_[core].wide[std::size_t(term * case_.columns + column)];
            }
        return sum;
    }

    static constexpr int workers_ = 2;
    const SumCase case_ = std::get<0>(GetParam());
    const DType operands_ = std::get<1>(GetParam());
    std::vector<Numbers> lhs_, rhs_;
    std::vector<const std::byte*> reads_;
    std::optional<SumOfMatmuls> sum_;
};

// Tolerance: products of numbers of 8 bits are exact in f32, their sums of 111 numbers below 1 are
// below 64 and round by half an ulp of that, 111 times at most.
TEST_P(SumsOfMatmuls, are_the_products_of_all_cores_added_up) {
    if (!sum_) GTEST_SKIP() << "the library has no bf16 on this processor";
    const std::vector<float> result = run({0, sum_->elements});
    for (std::int64_t row = 0; row < case_.rows; ++row)
        for (std::int64_t column = 0; column < case_.columns; ++column)
            ASSERT_NEAR(result[std::size_t(row * case_.columns + column)],
                        by_definition(row, column), 111 * std::ldexp(64.0, -24))
                << row << ", " << column;
}

TEST_P(SumsOfMatmuls, have_the_same_bits_however_they_are_cut) {
    if (!sum_) GTEST_SKIP() << "the library has no bf16 on this processor";
    const std::int64_t n = sum_->elements;
    EXPECT_EQ(run({0, n / 3, n / 3, n / 2, n}), run({0, n}));
}

INSTANTIATE_TEST_SUITE_P(Cases, SumsOfMatmuls,
                         testing::Combine(testing::ValuesIn(sum_cases),
                                          testing::Values(DType::f32, DType::bf16)),
                         [](const auto& test) {
                             return std::string(std::get<0>(test.param).name) + "_" +
                                    std::string(to_string(std::get<1>(test.param)));
                         });

TEST(SumsOfMatmulsNone, of_many_matrices_or_narrow_results) {
    const View many = dense_view({2, 16, 16}), one = dense_view({1, 16, 16});
    EXPECT_FALSE(make_sum_of_matmuls({.lhs = many, .rhs = many, .result = many}, 1));
    EXPECT_FALSE(make_sum_of_matmuls(
        {.lhs = one, .rhs = one, .result = one, .operands = DType::bf16, .results = DType::bf16},
        1));
}

}    // namespace
}    // namespace slipway
