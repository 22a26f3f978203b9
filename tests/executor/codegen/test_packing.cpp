#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "executor/codegen/filtered_convolution.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {
namespace {

constexpr std::int64_t channels = 256, outputs = 192, pixels = 4;
constexpr int workers = 3;

/// A convolution of one image with windows of one pixel: a product of matrices.
ConvolutionSpec spec_of(ConvolutionKind kind, DType dtype) {
    const auto image = [](std::int64_t count) {
        return View{{1, count, 1, pixels}, {count * pixels, 1, count * pixels, count}, 0};
    };
    ConvolutionSpec spec{.kind = kind,
                         .x = image(channels),
                         .w = dense_view({1, outputs, channels, 1, 1}),
                         .y = image(outputs),
                         .strides = {1, 1},
                         .dilations = {1, 1},
                         .padding_low = {0, 0},
                         .padding_high = {0, 0},
                         .packs_weights = true};
    spec.operands = spec.results = dtype;
    return spec;
}

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::vector<float>& numbers, DType dtype) {
    Bytes bytes(numbers.size() * size_in_bytes(dtype));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (dtype == DType::f32)
            reinterpret_cast<float*>(bytes.data())[i] = numbers[i];
        else
            reinterpret_cast<BFloat16*>(bytes.data())[i] = BFloat16(numbers[i]);
    return bytes;
}

float number(const Bytes& bytes, std::int64_t i, DType dtype) {
    return dtype == DType::f32 ? reinterpret_cast<const float*>(bytes.data())[i]
                               : float(reinterpret_cast<const BFloat16*>(bytes.data())[i]);
}

/// Small whole numbers: their sums are exact in both types.
Bytes random_numbers(std::int64_t count, DType dtype, std::mt19937& random) {
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i)
        numbers.push_back(random() % 16 == 0 ? float(random() % 3) - 1 : 0.0f);
    return bytes_of(numbers, dtype);
}

/// Bytes that are NaN in every type.
Bytes spoiled(std::int64_t count) {
    return Bytes(std::size_t(count), std::byte{0xff});
}

/// Packs by ranges of elements, the last one first, each on another worker.
Bytes pack(const Packing& packing, const Bytes& from, std::int64_t byte_count,
           const std::vector<std::int64_t>& bounds) {
    Bytes to = spoiled(byte_count), scratch = spoiled(packing.scratch_bytes + 64);
    const std::byte* const reads[] = {from.data()};
    std::byte* const writes[] = {to.data(), scratch.data()};
    for (std::size_t i = bounds.size() - 1; i > 0; --i)
        packing.kernel({.reads = reads,
                        .writes = writes,
                        .begin = bounds[i - 1],
                        .end = bounds[i],
                        .worker = int(i) % workers});
    return to;
}

/// The same bytes in one piece and in any pieces; no byte is left as it was.
Bytes pack_in_pieces(const Packing& packing, const Bytes& from, std::int64_t byte_count) {
    const std::int64_t end = packing.elements;
    Bytes whole = pack(packing, from, byte_count, {0, end});
    EXPECT_EQ(pack(packing, from, byte_count, {0, 1, end - 1, end}), whole);
    EXPECT_EQ(pack(packing, from, byte_count, {0, 0, end / 2, end / 2, end}), whole);
    return whole;
}

class Packings : public testing::TestWithParam<DType> {};

// Goal: layouts that the library chooses, cut along whichever dimension; the oracle is the product
// that the kernel makes of them.
TEST_P(Packings, of_large_weights_come_in_parts) {
    const DType dtype = GetParam();
    if (dtype == DType::bf16 && !multiplies_bf16())
        GTEST_SKIP() << "the library has no bf16 on this processor";
    std::mt19937 random(1);
    const Bytes w = random_numbers(outputs * channels, dtype, random);
    for (const ConvolutionKind kind : {ConvolutionKind::forward, ConvolutionKind::backward_data}) {
        const auto kernel = make_convolution(spec_of(kind, dtype), workers);
        ASSERT_TRUE(kernel && kernel->packing);
        ASSERT_GT(kernel->packing->elements, 3);
        const Bytes packed =
            pack_in_pieces(*kernel->packing, w, kernel->packing->layout.byte_count);
        const bool is_forward = kind == ConvolutionKind::forward;
        const std::int64_t terms = is_forward ? channels : outputs;
        const std::int64_t results = is_forward ? outputs : channels;
        const Bytes given = random_numbers(pixels * terms, dtype, random);
        Bytes result = spoiled(pixels * results * std::int64_t(size_in_bytes(dtype)));
        Bytes scratch = spoiled(kernel->scratch_bytes + 64);
        const std::byte* const reads[] = {given.data(), packed.data()};
        std::byte* const writes[] = {result.data(), scratch.data()};
        kernel->kernel({.reads = reads, .writes = writes});
        for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
            for (std::int64_t i = 0; i < results; ++i) {
                float sum = 0;
                for (std::int64_t k = 0; k < terms; ++k)
                    sum += number(given, pixel * terms + k, dtype) *
                           number(w, is_forward ? i * channels + k : k * channels + i, dtype);
                ASSERT_EQ(number(result, pixel * results + i, dtype), sum);
            }
    }
}

TEST_P(Packings, of_large_gradients_are_undone_in_parts) {
    const DType dtype = GetParam();
    std::mt19937 random(2);
    ConvolutionSpec spec = spec_of(ConvolutionKind::backward_weights, dtype);
    spec.results = DType::f32;
    const auto kernel = make_convolution(spec, workers);
    ASSERT_TRUE(kernel);
    if (!kernel->packing) GTEST_SKIP() << "the library leaves this gradient as it is on this CPU";
    ASSERT_GT(kernel->packing->elements, 3);
    const Bytes x = random_numbers(pixels * channels, dtype, random);
    const Bytes y = random_numbers(pixels * outputs, dtype, random);
    Bytes packed = spoiled(kernel->packing->layout.byte_count);
    Bytes scratch = spoiled(kernel->scratch_bytes + 64);
    const std::byte* const reads[] = {x.data(), y.data()};
    std::byte* const writes[] = {packed.data(), scratch.data()};
    kernel->kernel({.reads = reads, .writes = writes});
    const Bytes w = pack_in_pieces(*kernel->packing, packed, outputs * channels * 4);
    for (std::int64_t o = 0; o < outputs; ++o)
        for (std::int64_t c = 0; c < channels; ++c) {
            float sum = 0;
            for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
                sum +=
                    number(x, pixel * channels + c, dtype) * number(y, pixel * outputs + o, dtype);
            ASSERT_EQ(number(w, o * channels + c, DType::f32), sum);
        }
}

INSTANTIATE_TEST_SUITE_P(Types, Packings, testing::Values(DType::f32, DType::bf16),
                         [](const auto& row) { return std::string(to_string(row.param)); });

TEST(Packing, of_few_bytes_or_uneven_blocks_is_whole) {
    ConvolutionSpec spec = spec_of(ConvolutionKind::forward, DType::f32);
    spec.w = dense_view({1, 16, channels, 1, 1});
    spec.y = View{{1, 16, 1, pixels}, {16 * pixels, 1, 16 * pixels, 16}, 0};
    const auto small = make_convolution(spec, workers);
    ASSERT_TRUE(small);
    if (small->packing) {
        EXPECT_EQ(small->packing->elements, 0);
    }
    spec.w = dense_view({1, 191, channels, 1, 1});
    spec.y = View{{1, 191, 1, pixels}, {191 * pixels, 1, 191 * pixels, 191}, 0};
    const auto uneven = make_convolution(spec, workers);
    ASSERT_TRUE(uneven);
    if (uneven->packing) {
        EXPECT_EQ(uneven->packing->elements, 0);
    }
}

TEST(Packing, of_filtered_weights_comes_in_parts_with_scratch_memory_for_each_worker) {
    std::mt19937 random(3);
    ConvolutionSpec spec = spec_of(ConvolutionKind::forward, DType::f32);
    const auto image = [](std::int64_t count) {
        return View{{1, count, 32, 32}, {count * 1024, 1, count * 32, count}, 0};
    };
    spec.x = image(48);
    spec.y = image(64);
    spec.w = dense_view({1, 64, 48, 3, 3});
    spec.padding_low = spec.padding_high = {1, 1};
    const auto kernel = make_filtered_convolution(spec, workers);
    ASSERT_TRUE(kernel && kernel->packing);
    EXPECT_EQ(kernel->packing->elements, 3);    // 16 channels of the images each
    const Bytes w = random_numbers(64 * 48 * 9, DType::f32, random);
    pack_in_pieces(*kernel->packing, w, kernel->packing->layout.byte_count);
}

}    // namespace
}    // namespace slipway
