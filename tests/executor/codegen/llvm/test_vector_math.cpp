#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "executor/codegen/jit/compiler.h"
#include "executor/codegen/jit/kernel_loader.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {
namespace {

LoopKernel flat_kernel(OpCode op, std::size_t operands) {
    LoopKernel kernel{.extents = {0}, .flat = true, .values = {}, .stores = {}};
    LoopValue result{.kind = LoopValueKind::compute, .op = op};
    for (std::size_t i = 0; i < operands; ++i) {
        kernel.values.push_back(
            {.kind = LoopValueKind::load, .access = {.buffer = i, .strides = {1}}});
        result.operands.push_back(ValueId(i));
    }
    kernel.values.push_back(result);
    kernel.stores.push_back({.value = ValueId(operands), .to = {.buffer = 0, .strides = {1}}});
    kernel.reads = operands;
    kernel.writes = 1;
    return kernel;
}

/// The function of one number for each row, which is no vector.
LoopKernel row_kernel(OpCode op, std::int64_t rows) {
    return {.extents = {rows, 1},
            .rows = 1,
            .values = {{.kind = LoopValueKind::load, .access = {.buffer = 0, .strides = {1, 0}}},
                       {.kind = LoopValueKind::compute, .op = op, .operands = {0}}},
            .stores = {{.kind = LoopStoreKind::row,
                        .value = 1,
                        .to = {.buffer = 0, .strides = {1, 0}}}},
            .reads = 1,
            .writes = 1};
}

std::vector<float> results(LoopFunctionPointer function, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    const std::byte* const reads[] = {reinterpret_cast<const std::byte*>(x.data())};
    std::byte* const writes[] = {reinterpret_cast<std::byte*>(y.data())};
    function(reads, writes, 0, std::int64_t(x.size()));
    return y;
}

#ifdef NDEBUG
constexpr std::uint64_t sample_step = 61;
#else
constexpr std::uint64_t sample_step = 20011;
#endif

/// All floats that there are, NaN and infinities too, or each `step`th of them, in blocks.
template <class Body>
void for_blocks_of_floats(std::uint64_t step, Body&& body) {
    constexpr std::size_t block = 4096;
    std::vector<float> x(block);
    for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += step * block) {
        for (std::size_t i = 0; i < block; ++i)
            x[i] = std::bit_cast<float>(std::uint32_t(bits + i * step));
        body(x);
    }
}

/// The difference in units of the last place of the true value's float neighbourhood.
double ulps(float actual, double expected) {
    if (std::isnan(expected)) return std::isnan(actual) ? 0 : 1e9;
    const auto nearest = float(expected);
    if (actual == nearest) return std::abs(expected) > 3.4e38 ? 0 : std::min(0.5, 1.0);
    if (std::isinf(nearest) || std::isinf(actual) || std::isnan(actual)) return 1e9;
    const int exponent = std::max(std::ilogb(expected), -126);
    return std::abs(double(actual) - expected) / std::ldexp(1.0, exponent - 23);
}

struct Function {
    const char* name;
    OpCode op;
    double (*exact)(double);
    double ulps_max;
};

const Function functions[] = {
    {"exponential", OpCode::exponential, [](double x) { return std::exp(x); }, 1.0},
    {"exponential_minus_one", OpCode::exponential_minus_one, [](double x) { return std::expm1(x); },
     1.5},
    {"log", OpCode::log, [](double x) { return std::log(x); }, 1.0},
    {"log_plus_one", OpCode::log_plus_one, [](double x) { return std::log1p(x); }, 1.0},
    {"tanh", OpCode::tanh, [](double x) { return std::tanh(x); }, 1.75},
    {"logistic", OpCode::logistic, [](double x) { return 1 / (1 + std::exp(-x)); }, 3.0},
    {"erf", OpCode::erf, [](double x) { return std::erf(x); }, 1.75},
    {"sine", OpCode::sine, [](double x) { return std::sin(x); }, 1.75},
    {"cosine", OpCode::cosine, [](double x) { return std::cos(x); }, 1.75},
    {"sqrt", OpCode::sqrt, [](double x) { return std::sqrt(x); }, 0.5},
    {"rsqrt", OpCode::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5},
};

class VectorMath : public testing::TestWithParam<Function> {};

// Goal: the largest error that vector_math.h states.
// Method: a regular sample of all floats that there are, NaN and infinities too, in every lane.
TEST_P(VectorMath, is_as_exact_as_stated) {
    KernelLoader loader;
    const auto run = loader.load(compile(flat_kernel(GetParam().op, 1), host_target()));
    double worst = 0;
    float worst_at = 0;
    for_blocks_of_floats(sample_step, [&](const std::vector<float>& x) {
        const std::vector<float> y = results(run, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double error = ulps(y[i], GetParam().exact(double(x[i])));
            if (error > worst) {
                worst = error;
                worst_at = x[i];
            }
        }
    });
    fmt::print("{}: {:.3f} ulp at {}\n", GetParam().name, worst, worst_at);
    EXPECT_LE(worst, GetParam().ulps_max) << "at " << worst_at;
}

// Goal: a function has one result, whoever computes it.
// Method: vectors of this machine's width, of eight, and single numbers give the same bits.
TEST_P(VectorMath, does_not_depend_on_the_width_of_vectors) {
    CompileTarget narrow = host_target();
    narrow.lanes = 8;
    KernelLoader loader;
    const LoopKernel flat = flat_kernel(GetParam().op, 1);
    const auto wide = loader.load(compile(flat, host_target()));
    const auto others = {loader.load(compile(flat, narrow)),
                         loader.load(compile(row_kernel(GetParam().op, 4096), host_target()))};
    for_blocks_of_floats(sample_step, [&](const std::vector<float>& x) {
        const std::vector<float> expected = results(wide, x);
        for (const auto other : others) {
            const std::vector<float> y = results(other, x);
            for (std::size_t i = 0; i < x.size(); ++i)
                ASSERT_TRUE(std::bit_cast<std::uint32_t>(y[i]) ==
                                std::bit_cast<std::uint32_t>(expected[i]) ||
                            (std::isnan(y[i]) && std::isnan(expected[i])))
                    << y[i] << " and " << expected[i] << " of " << x[i];
        }
    });
}

// Goal: what these end in is reached, and not left again.
TEST(OddFunctions, end_in_one_exactly) {
    KernelLoader loader;
    const std::vector<float> x{
        3.92F, 4, 5, 8.5F, 9.02F, 10, 100, 3e38F, std::numeric_limits<float>::infinity()};
    const auto erf = results(loader.load(compile(flat_kernel(OpCode::erf, 1), host_target())), x);
    const auto tanh = results(loader.load(compile(flat_kernel(OpCode::tanh, 1), host_target())), x);
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(erf[i], 1) << x[i];
        if (x[i] > 9) {
            EXPECT_EQ(tanh[i], 1) << x[i];
        }
    }
}

// Goal: no digit is lost where an argument is nearly a multiple of pi/2, small or huge.
// Method: the floats around multiples of every size, and 16367173 2^72, the nearest of all.
TEST(SineAndCosine, are_exact_near_their_zeros) {
    std::mt19937_64 random(11);
    std::vector<float> x{16367173.0F * 0x1p72F};
    constexpr float far = std::numeric_limits<float>::infinity();
    for (int exponent = 0; exponent < 126; ++exponent)
        for (int i = 0; i < 64; ++i) {
            const double size = std::ldexp(1 + double(random() % 1024) / 1024, exponent);
            const auto near = float(std::rint(size / std::numbers::pi * 2) * std::numbers::pi / 2);
            for (const float one : {std::nextafter(near, 0.0F), near, std::nextafter(near, far)})
                x.insert(x.end(), {one, -one});
        }
    for (const Function& function : functions) {
        if (function.op != OpCode::sine && function.op != OpCode::cosine) continue;
        KernelLoader loader;
        const auto y = results(loader.load(compile(flat_kernel(function.op, 1), host_target())), x);
        for (std::size_t i = 0; i < x.size(); ++i)
            EXPECT_LE(ulps(y[i], function.exact(double(x[i]))), function.ulps_max)
                << function.name << " of " << x[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Jit, VectorMath, testing::ValuesIn(functions),
                         [](const auto& row) { return std::string(row.param.name); });

// Goal: one rounding to bf16, with and without the processor's instruction for it.
// Method: a sample of all floats, against the nearest bf16; too small to be normal becomes zero.
TEST(Rounding, to_bf16_is_to_the_nearest_with_every_target) {
    LoopKernel kernel = flat_kernel(OpCode::convert, 1);
    kernel.values[1].dtype = DType::bf16;
    CompileTarget without = host_target();
    without.rounds_to_bf16 = false;
    KernelLoader loader;
    const auto targets = {loader.load(compile(kernel, host_target())),
                          loader.load(compile(kernel, without))};
    for_blocks_of_floats(sample_step, [&](const std::vector<float>& x) {
        for (const auto function : targets) {
            std::vector<BFloat16> y(x.size());
            const std::byte* const reads[] = {reinterpret_cast<const std::byte*>(x.data())};
            std::byte* const writes[] = {reinterpret_cast<std::byte*>(y.data())};
            function(reads, writes, 0, std::int64_t(x.size()));
            for (std::size_t i = 0; i < x.size(); ++i) {
                const bool is_normal = !(std::abs(x[i]) < std::numeric_limits<float>::min());
                const BFloat16 expected(is_normal ? x[i] : std::copysign(0.0F, x[i]));
                ASSERT_EQ(y[i].bits(), expected.bits()) << x[i];
            }
        }
    });
}

TEST(Power, is_as_exact_as_stated) {
    KernelLoader loader;
    const auto run = loader.load(compile(flat_kernel(OpCode::power, 2), host_target()));
    constexpr float inf = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> special{0.0F, -0.0F, 1,     -1,     2,      -2,   0.5F, -0.5F, 3,  -3,
                                     inf,  -inf,  1e30F, -1e30F, 1e-40F, 4097, 2.5F, -2.5F, nan};
    std::vector<float> x, y;
    for (const float a : special)
        for (const float b : special) {
            x.push_back(a);
            y.push_back(b);
        }
    std::mt19937_64 random(7);
    while (x.size() < 200000) {
        x.push_back(std::exp(std::uniform_real_distribution<float>(-40, 40)(random)));
        y.push_back(std::uniform_real_distribution<float>(-4, 4)(random));
    }
    std::vector<float> z(x.size());
    const std::byte* const reads[] = {reinterpret_cast<const std::byte*>(x.data()),
                                      reinterpret_cast<const std::byte*>(y.data())};
    std::byte* const writes[] = {reinterpret_cast<std::byte*>(z.data())};
    run(reads, writes, 0, std::int64_t(x.size()));
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = std::pow(double(x[i]), double(y[i]));
        const double error = ulps(z[i], exact);
        EXPECT_LT(error, 1e6) << x[i] << " to the power of " << y[i] << " is " << exact << ", not "
                              << z[i];
        worst = std::max(worst, error);
    }
    fmt::print("power: {:.3f} ulp\n", worst);
    EXPECT_LE(worst, 0.6);
}

}    // namespace
}    // namespace slipway
