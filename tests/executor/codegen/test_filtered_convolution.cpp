#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "executor/codegen/filtered_convolution.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {
namespace {

struct FilteredCase {
    const char* name;
    std::int64_t batch, channels, results;
    std::array<std::int64_t, 2> extents, padding_low, padding_high;
    Dims weight_order;    ///< of result, channel, row, column: outermost first
    FilteringLimits limits;
};

constexpr std::int64_t many = 1 << 30;
/// Limits under which a few tiles are enough, in every type.
FilteringLimits cut(std::int64_t tiles, std::int64_t weights_bytes, std::int64_t windows_bytes) {
    return {.takes_bf16 = true,
            .channels_min_in_bf16 = 32,
            .tiles_min = 0,
            .tiles_at_once = tiles,
            .weights_bytes_max = weights_bytes,
            .windows_bytes_max = windows_bytes};
}

/// A gradient is multiplied plane by plane.
FilteringLimits few_planes() {
    FilteringLimits limits = cut(64, many, many);
    limits.gradient_planes_bytes_max = 0;
    return limits;
}

const Dims as_parameters{0, 1, 2, 3}, by_window{2, 3, 1, 0};

// Limits so low that small cases are cut as large ones are.
const FilteredCase filtered_cases[] = {
    {"whole_tiles", 1, 32, 32, {8, 4}, {1, 1}, {1, 1}, as_parameters, cut(64, many, many)},
    {"beyond_the_edge", 2, 32, 64, {7, 6}, {1, 1}, {1, 1}, by_window, cut(64, many, many)},
    {"no_padding", 1, 48, 64, {9, 6}, {0, 0}, {0, 0}, as_parameters, cut(64, many, many)},
    {"uneven_padding", 1, 32, 64, {7, 6}, {2, 0}, {1, 3}, by_window, cut(64, many, many)},
    {"much_padding", 1, 32, 64, {4, 4}, {4, 3}, {3, 5}, as_parameters, cut(64, many, many)},
    {"padding_cuts_off", 1, 32, 64, {9, 10}, {0, 0}, {-1, -2}, by_window, cut(64, many, many)},
    {"blocks_of_five_tiles", 2, 32, 64, {9, 6}, {1, 1}, {1, 1}, by_window, cut(5, many, many)},
    {"slices_of_64", 1, 32, 128, {8, 4}, {1, 1}, {1, 1}, by_window, cut(64, 36 * 32 * 256, many)},
    {"slices_of_32_and_blocks", 1, 64, 96, {8, 7}, {1, 1}, {1, 1}, as_parameters, cut(3, 1, many)},
    {"slices_of_16", 1, 32, 80, {6, 7}, {1, 1}, {1, 1}, by_window, cut(3, 1, many)},
    {"too_many_tiles_for_slices", 1, 32, 96, {8, 6}, {1, 1}, {1, 1}, by_window, cut(3, 1, 1)},
    {"too_many_planes_for_caches", 2, 32, 64, {7, 6}, {1, 1}, {1, 1}, as_parameters, few_planes()},
};

/// Random numbers that bf16 holds where a view is, NaN around it.
std::vector<float> random_numbers(std::int64_t count, std::mt19937& random) {
    std::uniform_real_distribution<float> number(-1, 1);
    std::vector<float> numbers(std::size_t(count) + 32, std::nanf(""));
    for (std::int64_t i = 0; i < count; ++i)
        numbers[std::size_t(i)] = float(BFloat16(number(random)));
    return numbers;
}

/// An array of f32 or bf16 as a kernel sees it.
std::vector<std::byte> bytes_of(const std::vector<float>& numbers, DType type) {
    std::vector<std::byte> bytes(numbers.size() * size_in_bytes(type));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const BFloat16 narrow(numbers[i]);
        std::byte* const to = bytes.data() + i * size_in_bytes(type);
        if (type == DType::bf16)
            std::memcpy(to, &narrow, sizeof narrow);
        else
            std::memcpy(to, &numbers[i], sizeof numbers[i]);
    }
    return bytes;
}

std::vector<float> numbers_of(const std::vector<std::byte>& bytes, DType type) {
    std::vector<float> numbers(bytes.size() / size_in_bytes(type));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        BFloat16 narrow;
        const std::byte* const from = bytes.data() + i * size_in_bytes(type);
        if (type == DType::bf16) {
            std::memcpy(&narrow, from, sizeof narrow);
            numbers[i] = float(narrow);
        } else {
            std::memcpy(&numbers[i], from, sizeof numbers[i]);
        }
    }
    return numbers;
}

View channels_last(const Dims& dims) {
    return ordered_view(dims, {0, 2, 3, 1});
}

/// The convolution's three images by their definition, in double.
class Definition {
public:
    explicit Definition(const ConvolutionSpec& spec) : spec_(spec) {}

    /// Calls body(places of x, w and y) for each product of a weight and a pixel.
    void for_each_product(const auto& body) const {
        const View &x = spec_.x, &w = spec_.w, &y = spec_.y;
        const auto place = [](const View& view, const Dims& index) {
            std::int64_t at = view.offset;
            for (std::size_t i = 0; i < index.size(); ++i)
                at += index[i] * view.strides[i];
            return std::size_t(at);
        };
        for (std::int64_t n = 0; n < y.dims[0]; ++n)
            for (std::int64_t o = 0; o < y.dims[1]; ++o)
                for (std::int64_t i = 0; i < y.dims[2]; ++i)
                    for (std::int64_t j = 0; j < y.dims[3]; ++j)
                        for (std::int64_t a = 0; a < 3; ++a)
                            for (std::int64_t b = 0; b < 3; ++b) {
                                const std::int64_t row = i + a - spec_.padding_low[0];
                                const std::int64_t column = j + b - spec_.padding_low[1];
                                if (row < 0 || row >= x.dims[2] || column < 0 ||
                                    column >= x.dims[3])
                                    continue;
                                std::size_t from = place(x, {n, 0, row, column});
                                std::size_t weight = place(w, {0, o, 0, a, b});
                                const std::size_t to = place(y, {n, o, i, j});
                                for (std::int64_t c = 0; c < x.dims[1]; ++c) {
                                    body(from, weight, to);
                                    from += std::size_t(x.strides[1]);
                                    weight += std::size_t(w.strides[2]);
                                }
                            }
    }

private:
    const ConvolutionSpec& spec_;
};

ConvolutionSpec spec_of(const FilteredCase& c, ConvolutionKind kind) {
    Dims results{c.batch, c.results};
    for (std::size_t i = 0; i < 2; ++i)
        results.push_back(c.extents[i] + c.padding_low[i] + c.padding_high[i] - 2);
    const View w = ordered_view({c.results, c.channels, 3, 3}, c.weight_order);
    ConvolutionSpec spec{.kind = kind,
                         .x = channels_last({c.batch, c.channels, c.extents[0], c.extents[1]}),
                         .w = w,
                         .y = channels_last(results),
                         .strides = {1, 1},
                         .dilations = {1, 1},
                         .padding_low = {c.padding_low[0], c.padding_low[1]},
                         .padding_high = {c.padding_high[0], c.padding_high[1]},
                         .packs_weights = true};
    spec.w.dims.insert(spec.w.dims.begin(), 1);
    spec.w.strides.insert(spec.w.strides.begin(), 0);
    return spec;
}

/// Bytes that are NaN in every type.
std::vector<std::byte> spoiled(std::int64_t count) {
    return std::vector<std::byte>(std::size_t(count), std::byte{0xff});
}

/// What the kernel makes of the two known ones; the weights are packed where it wants them so.
std::vector<float> run(const LibraryKernel& kernel, const ConvolutionSpec& spec,
                       const std::vector<float>& first, const std::vector<float>& second,
                       std::int64_t count) {
    const auto call = [](const Kernel& work, std::vector<const std::byte*> reads,
                         std::vector<std::byte>& to, std::int64_t scratch_bytes,
                         std::int64_t elements) {
        std::vector<std::byte> scratch = spoiled(scratch_bytes + 64);
        std::byte* const writes[] = {to.data(), scratch.data()};
        work({.reads = reads, .writes = writes, .begin = 0, .end = elements, .worker = 0});
    };
    const std::vector<std::byte> left = bytes_of(first, spec.operands);
    std::vector<std::byte> right = bytes_of(second, spec.operands);
    if (kernel.packing) {
        std::vector<std::byte> packed = spoiled(kernel.packing->layout.byte_count);
        call(kernel.packing->kernel, {right.data()}, packed, kernel.packing->scratch_bytes,
             kernel.packing->elements);
        right = packed;
    }
    std::vector<std::byte> result = spoiled(count * std::int64_t(size_in_bytes(spec.results)));
    call(kernel.kernel, {left.data(), right.data()}, result, kernel.scratch_bytes, 0);
    return numbers_of(result, spec.results);
}

struct Numbers {
    std::vector<float> x, w, y;

    Numbers(const ConvolutionSpec& spec, std::mt19937& random)
        : x(random_numbers(element_count(spec.x), random)),
          w(random_numbers(element_count(spec.w), random)),
          y(random_numbers(element_count(spec.y), random)) {}
};

/// The unknown in double, and by the kernel.
struct Outcome {
    std::vector<double> expected;
    std::vector<float> actual;
};

Outcome outcome_of(const ConvolutionSpec& spec, const Numbers& known, const LibraryKernel& kernel) {
    Outcome outcome;
    const auto add = [&](std::size_t to, double product) { outcome.expected[to] += product; };
    const Definition definition(spec);
    switch (spec.kind) {
        case ConvolutionKind::forward:
            outcome.expected.resize(std::size_t(element_count(spec.y)));
            definition.for_each_product([&](std::size_t x, std::size_t w, std::size_t y) {
                add(y, double(known.x[x]) * known.w[w]);
            });
            outcome.actual = run(kernel, spec, known.x, known.w, element_count(spec.y));
            break;
        case ConvolutionKind::backward_data:
            outcome.expected.resize(std::size_t(element_count(spec.x)));
            definition.for_each_product([&](std::size_t x, std::size_t w, std::size_t y) {
                add(x, double(known.y[y]) * known.w[w]);
            });
            outcome.actual = run(kernel, spec, known.y, known.w, element_count(spec.x));
            break;
        case ConvolutionKind::backward_weights:
            outcome.expected.resize(std::size_t(element_count(spec.w)));
            definition.for_each_product([&](std::size_t x, std::size_t w, std::size_t y) {
                add(w, double(known.x[x]) * known.y[y]);
            });
            outcome.actual = run(kernel, spec, known.x, known.y, element_count(spec.w));
            break;
    }
    return outcome;
}

/// The largest error beyond what rounding to the results' type makes, of their root mean square.
double error_of(const Outcome& outcome, DType results) {
    const double rounding = results == DType::bf16 ? std::ldexp(1.0, -8) : 0;
    double square = 0, error = 0;
    for (std::size_t i = 0; i < outcome.expected.size(); ++i) {
        const double difference = std::fabs(outcome.actual[i] - outcome.expected[i]) -
                                  rounding * std::fabs(outcome.expected[i]);
        error = std::isnan(difference) ? difference : std::max(error, difference);
        if (std::isnan(error)) return error;
        square += outcome.expected[i] * outcome.expected[i];
    }
    return error / std::sqrt(square / double(outcome.expected.size()));
}

constexpr std::pair<DType, DType> type_pairs[] = {{DType::f32, DType::f32},
                                                  {DType::f32, DType::bf16},
                                                  {DType::bf16, DType::f32},
                                                  {DType::bf16, DType::bf16}};

class FilteredConvolutions : public testing::TestWithParam<FilteredCase> {};

// Goal: forward and both gradients, however the work is cut, for weights in two orders.
// Tolerance: 5e-5 of the results' root mean square; the transforms' multiples of up to 8 and 24
// in both directions make 1e-5 to 3e-5 of float32's 6e-8. Products are f32 for all types.
TEST_P(FilteredConvolutions, and_their_gradients_are_what_the_definition_says) {
    const FilteredCase& c = GetParam();
    std::mt19937 random(1);
    for (const auto kind : {ConvolutionKind::forward, ConvolutionKind::backward_data,
                            ConvolutionKind::backward_weights})
        for (const auto& [operands, results] : type_pairs) {
            ConvolutionSpec spec = spec_of(c, kind);
            spec.operands = operands;
            spec.results = results;
            const auto kernel = make_filtered_convolution(spec, 1, c.limits);
            ASSERT_TRUE(kernel) << int(kind) << to_string(operands);
            const Outcome outcome = outcome_of(spec, Numbers(spec, random), *kernel);
            EXPECT_LT(error_of(outcome, results), 5e-5)
                << "kind " << int(kind) << ", " << to_string(operands) << " to "
                << to_string(results);
        }
}

INSTANTIATE_TEST_SUITE_P(Cut, FilteredConvolutions, testing::ValuesIn(filtered_cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(FilteredConvolution, is_not_made_where_it_does_not_apply_or_pay) {
    const FilteredCase good = filtered_cases[0];
    const auto is_made = [](const ConvolutionSpec& spec, const FilteringLimits& limits) {
        return make_filtered_convolution(spec, 1, limits).has_value();
    };
    const ConvolutionSpec spec = spec_of(good, ConvolutionKind::forward);
    EXPECT_TRUE(is_made(spec, good.limits));
    EXPECT_FALSE(is_made(spec, {})) << "4 tiles are too few";
    const auto changed = [&](const auto& change) {
        ConvolutionSpec other = spec;
        change(other);
        return is_made(other, good.limits);
    };
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.packs_weights = false; }));
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.strides = {1, 2}; }));
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.dilations = {2, 1}; }));
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.w.dims[4] = 2; }));
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.w.dims[0] = 2; }));
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.x = dense_view(s.x.dims); }));
    EXPECT_FALSE(changed([](ConvolutionSpec& s) { s.y.offset = 1; }));
    const auto is_made_in_bf16 = [&](const FilteringLimits& limits) {
        ConvolutionSpec other = spec;
        other.operands = other.results = DType::bf16;
        return is_made(other, limits);
    };
    FilteringLimits tiles = good.limits, many_channels = good.limits;
    tiles.takes_bf16 = false;
    many_channels.channels_min_in_bf16 = 64;
    EXPECT_TRUE(is_made_in_bf16(good.limits));
    EXPECT_FALSE(is_made_in_bf16(tiles)) << "multiplied in tiles bf16 is faster";
    EXPECT_FALSE(is_made_in_bf16(many_channels)) << "few channels";
    const auto is_made_with = [&](std::int64_t channels, std::array<std::int64_t, 2> extents) {
        FilteredCase other = good;
        other.channels = channels;
        other.extents = extents;
        return is_made(spec_of(other, ConvolutionKind::forward), good.limits);
    };
    EXPECT_FALSE(is_made_with(40, {8, 4})) << "channels do not fill registers";
    EXPECT_FALSE(is_made_with(16, {8, 4})) << "few channels";
    EXPECT_FALSE(is_made_with(32, {7, 4})) << "few channels for what tiles waste";
    EXPECT_FALSE(is_made_with(64, {5, 5})) << "tiles waste more than they use";
}

}    // namespace
}    // namespace slipway
