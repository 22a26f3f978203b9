#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "api/base/error.h"
#include "executor/codegen/jit/compiler.h"
#include "executor/codegen/jit/kernel_loader.h"
#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/jit/object_file.h"
#include "executor/codegen/loops/loop_plan.h"

namespace slipway {
namespace {

std::vector<float> random_numbers(std::size_t n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<float> numbers(n);
    for (float& x : numbers)
        x = std::uniform_real_distribution<float>(-1, 1)(random);
    return numbers;
}

template <class T>
const std::byte* in(const std::vector<T>& values) {
    return reinterpret_cast<const std::byte*>(values.data());
}
template <class T>
std::byte* out(std::vector<T>& values) {
    return reinterpret_cast<std::byte*>(values.data());
}

/// Compiles, gives scratch memory of its own, runs.
void run(const LoopKernel& kernel, std::vector<const std::byte*> reads,
         std::vector<std::byte*> writes) {
    static KernelStore store;
    std::vector<std::byte> scratch(std::size_t(scratch_bytes(kernel)));
    if (!scratch.empty()) writes.push_back(scratch.data());
    store.get(kernel).function(reads.data(), writes.data(), 0, kernel.extents.back());
}

LoopValue load(std::size_t buffer, Dims strides, DType dtype = DType::f32) {
    return {.kind = LoopValueKind::load,
            .dtype = dtype,
            .access = {.buffer = buffer, .strides = std::move(strides)}};
}
LoopValue compute(OpCode op, std::vector<ValueId> operands, DType dtype = DType::f32) {
    return {
        .kind = LoopValueKind::compute, .dtype = dtype, .op = op, .operands = std::move(operands)};
}
LoopValue reduced(ValueId operand, Reduction reduction) {
    return {.kind = LoopValueKind::reduce, .operands = {operand}, .reduction = reduction};
}
LoopStore store(LoopStoreKind kind, ValueId value, std::size_t buffer, Dims strides) {
    return {.kind = kind, .value = value, .to = {.buffer = buffer, .strides = std::move(strides)}};
}

/// Softmax of each row, and the rows' largest elements: three passes over one row.
LoopKernel softmax_kernel(std::int64_t rows, std::int64_t width) {
    return {.extents = {rows, width},
            .rows = 1,
            .values = {load(0, {width, 1}), reduced(0, Reduction::maximum),
                       compute(OpCode::subtract, {0, 1}), compute(OpCode::exponential, {2}),
                       reduced(3, Reduction::add), compute(OpCode::divide, {3, 4})},
            .stores = {store(LoopStoreKind::element, 5, 0, {width, 1}),
                       store(LoopStoreKind::row, 1, 1, {1, 0})},
            .reads = 1,
            .writes = 2};
}

TEST(LoopKernel, keeps_a_row_for_later_passes) {
    for (const std::int64_t width : {1, 3, 16, 17, 64, 100, 1000, 20000}) {
        const std::int64_t rows = 5;
        const LoopKernel kernel = softmax_kernel(rows, width);
        ASSERT_EQ(find_problem(kernel), "");
        EXPECT_TRUE(plan_of(kernel).kept[3].has_value()) << "the exponential is not computed twice";
        const auto x = random_numbers(std::size_t(rows * width), 1);
        std::vector<float> y(x.size()), largest(std::size_t(rows), 0.0F);
        run(kernel, {in(x)}, {out(y), out(largest)});
        for (std::int64_t row = 0; row < rows; ++row) {
            const float* const from = x.data() + row * width;
            const float top = *std::max_element(from, from + width);
            double sum = 0;
            for (std::int64_t i = 0; i < width; ++i)
                sum += std::exp(double(from[i]) - double(top));
            EXPECT_EQ(largest[std::size_t(row)], top);
            for (std::int64_t i = 0; i < width; ++i)
                ASSERT_NEAR(y[std::size_t(row * width + i)],
                            std::exp(double(from[i]) - double(top)) / sum,
                            2e-6 / double(width) + 1e-9)
                    << width << ": " << row << ", " << i;
        }
    }
}

// 100,000 ones and a little: a float32 sum one by one would stand still at far less.
TEST(LoopKernel, sums_of_many_rows_stay_exact) {
    const std::int64_t rows = 100000;
    const std::int64_t width = 19;
    const LoopKernel kernel{.extents = {rows, width},
                            .rows = 1,
                            .values = {load(0, {width, 1})},
                            .stores = {store(LoopStoreKind::column, 0, 0, {0, 1})},
                            .reads = 1,
                            .writes = 1};
    std::vector<float> x(std::size_t(rows * width), 1.0F + 0x1p-20F);
    std::vector<float> sums(std::size_t(width), 0.0F);
    run(kernel, {in(x)}, {out(sums)});
    const double exact = double(rows) * double(1.0F + 0x1p-20F);
    for (const float sum : sums)
        EXPECT_NEAR(sum, exact, exact * 2e-6);
}

TEST(LoopKernel, columns_begin_anew_with_each_group) {
    const std::int64_t groups = 3;
    const std::int64_t rows = 7;
    const std::int64_t width = 33;
    LoopKernel kernel{.extents = {groups, rows, width},
                      .groups = 1,
                      .rows = 1,
                      .values = {load(0, {rows * width, width, 1})},
                      .stores = {store(LoopStoreKind::column, 0, 0, {width, 0, 1})},
                      .reads = 1,
                      .writes = 1};
    kernel.stores[0].reduction = Reduction::maximum;
    const auto x = random_numbers(std::size_t(groups * rows * width), 2);
    std::vector<float> y(std::size_t(groups * width));
    run(kernel, {in(x)}, {out(y)});
    for (std::int64_t g = 0; g < groups; ++g)
        for (std::int64_t i = 0; i < width; ++i) {
            float largest = -2;
            for (std::int64_t r = 0; r < rows; ++r)
                largest = std::max(largest, x[std::size_t((g * rows + r) * width + i)]);
            ASSERT_EQ(y[std::size_t(g * width + i)], largest);
        }
}

/// Numbers made in many steps of i & kept_bits, by i & 16 in one way or in another.
LoopKernel counted_kernel(double kept_bits) {
    const auto number = [](double value) {
        return LoopValue{.dtype = DType::u32, .number = value};
    };
    LoopKernel kernel{.extents = {70},
                      .values = {{.kind = LoopValueKind::counter,
                                  .dtype = DType::u32,
                                  .access = {.strides = {1}}},
                                 number(kept_bits),
                                 compute(OpCode::logical_and, {0, 1}, DType::u32),
                                 number(16),
                                 compute(OpCode::logical_and, {0, 3}, DType::u32),
                                 number(0)},
                      .stores = {},
                      .writes = 1};
    LoopValue is_second = compute(OpCode::compare, {4, 5}, DType::pred);
    is_second.direction = Comparison::ne;
    kernel.values.push_back(is_second);
    ValueId last = 2;
    for (int i = 0; i < 30; ++i) {
        kernel.values.push_back(compute(OpCode::multiply, {last, last}, DType::u32));
        const auto square = ValueId(kernel.values.size() - 1);
        kernel.values.push_back(compute(OpCode::logical_xor, {square, 2}, DType::u32));
        last = square + 1;
    }
    kernel.values.push_back(compute(OpCode::select, {6, last, ValueId(last - 1)}, DType::u32));
    kernel.stores = {store(LoopStoreKind::element, last + 1, 0, {1})};
    return kernel;
}

// Goal: of elements 16 apart that are made from one number, that number is made once.
TEST(LoopKernel, shares_what_is_counted_alike) {
    const auto bytes_of = [](double kept_bits) {
        return code_bytes(compile(counted_kernel(kept_bits), host_target()));
    };
    EXPECT_LT(double(bytes_of(0xffffffef)), 0.8 * double(bytes_of(0xfffffffb)));
    std::vector<std::uint32_t> y(70);
    run(counted_kernel(0xffffffef), {}, {out(y)});
    for (std::uint32_t i = 0; i < 70; ++i) {
        std::uint32_t x = i & ~16U;
        std::uint32_t square = 0;
        for (int k = 0; k < 30; ++k) {
            square = x * x;
            x = square ^ (i & ~16U);
        }
        ASSERT_EQ(y[i], (i & 16U) != 0 ? x : square) << i;
    }
}

TEST(LoopKernel, a_flat_one_runs_any_slice_and_touches_nothing_else) {
    const LoopKernel kernel{.extents = {100},
                            .flat = true,
                            .values = {load(0, {1}), compute(OpCode::negate, {0})},
                            .stores = {store(LoopStoreKind::element, 1, 0, {1})},
                            .reads = 1,
                            .writes = 1};
    KernelStore kernels;
    const LoopFunctionPointer function = kernels.get(kernel).function;
    const auto x = random_numbers(100, 3);
    for (std::int64_t begin = 0; begin < 40; begin += 3)
        for (std::int64_t end = begin; end <= 100; end += 7) {
            std::vector<float> y(100, 5.0F);
            const std::byte* const reads[] = {in(x)};
            std::byte* const writes[] = {out(y)};
            function(reads, writes, begin, end);
            for (std::int64_t i = 0; i < 100; ++i)
                ASSERT_EQ(y[std::size_t(i)], begin <= i && i < end ? -x[std::size_t(i)] : 5.0F);
        }
}

TEST(LoopKernel, text_names_operations_so_that_new_ones_change_no_other) {
    const LoopKernel kernel{.extents = {100},
                            .flat = true,
                            .values = {load(0, {1}), compute(OpCode::floor, {0})},
                            .stores = {store(LoopStoreKind::element, 1, 0, {1})},
                            .reads = 1,
                            .writes = 1};
    EXPECT_NE(print(kernel).find("floor"), std::string::npos) << print(kernel);
}

TEST(LoopKernel, equal_ones_are_compiled_once_whatever_their_size) {
    KernelStore kernels;
    LoopKernel kernel{.extents = {100},
                      .flat = true,
                      .values = {load(0, {1})},
                      .stores = {store(LoopStoreKind::element, 0, 0, {1})},
                      .reads = 1,
                      .writes = 1};
    const LoopFunctionPointer first = kernels.get(kernel).function;
    kernel.extents = {7};
    EXPECT_EQ(kernels.get(kernel).function, first);
    kernel.values[0].dtype = DType::i32;
    EXPECT_NE(kernels.get(kernel).function, first);
    EXPECT_EQ(kernels.compiled(), 2u);
}

TEST(LoopKernel, gives_the_same_object_every_time) {
    const LoopKernel kernel = softmax_kernel(4, 100);
    EXPECT_EQ(compile(kernel, host_target()), compile(kernel, host_target()));
}

TEST(LoopKernel, narrower_vectors_give_numbers_as_good) {
    CompileTarget narrow = host_target();
    narrow.lanes = 8;
    const LoopKernel kernel = softmax_kernel(2, 100);
    KernelLoader loader;
    const auto x = random_numbers(200, 4);
    std::vector<std::vector<float>> results;
    for (const CompileTarget& target : {host_target(), narrow}) {
        const LoopFunctionPointer function = loader.load(compile(kernel, target));
        std::vector<float> y(200), largest(2);
        std::vector<std::byte> scratch(std::size_t(scratch_bytes(kernel)));
        const std::byte* const reads[] = {in(x)};
        std::byte* const writes[] = {out(y), out(largest), scratch.data()};
        function(reads, writes, 0, 0);
        results.push_back(y);
    }
    EXPECT_THAT(results[0], testing::Pointwise(testing::FloatNear(1e-8F), results[1]));
}

TEST(LoopKernel, says_what_is_wrong_with_it) {
    LoopKernel kernel = softmax_kernel(2, 3);
    kernel.stores[1].value = 0;
    EXPECT_NE(find_problem(kernel), "") << "an element is no value of the row";
    kernel = softmax_kernel(2, 3);
    kernel.values[2].operands[0] = 5;
    EXPECT_NE(find_problem(kernel), "") << "an operand must come first";
    kernel = softmax_kernel(2, 3);
    kernel.values[0].access.strides.pop_back();
    EXPECT_NE(find_problem(kernel), "") << "each loop has a stride";
}

TEST(LoopKernel, refuses_double_precision) {
    LoopKernel kernel = softmax_kernel(2, 3);
    kernel.values[0].dtype = DType::f64;
    EXPECT_THROW(compile(kernel, host_target()), Error);
}

TEST(Coalesce, joins_loops_that_lie_one_after_the_other) {
    LoopKernel kernel{.extents = {4, 1, 5, 6},
                      .values = {load(0, {30, 7, 6, 1})},
                      .stores = {store(LoopStoreKind::element, 0, 0, {30, 30, 6, 1})},
                      .reads = 1,
                      .writes = 1};
    coalesce(kernel);
    EXPECT_EQ(kernel.extents, (Dims{120}));
    EXPECT_TRUE(kernel.flat);
    LoopKernel broadcast{.extents = {4, 6},
                         .values = {load(0, {0, 1})},
                         .stores = {store(LoopStoreKind::element, 0, 0, {6, 1})},
                         .reads = 1,
                         .writes = 1};
    coalesce(broadcast);
    EXPECT_EQ(broadcast.extents, (Dims{4, 6}));
    EXPECT_FALSE(broadcast.flat);
}

}    // namespace
}    // namespace slipway
