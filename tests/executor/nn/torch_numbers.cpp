#include "tests/executor/nn/torch_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace slipway {

namespace {

double number(std::uint32_t start, std::size_t position) {
    std::uint32_t x = (std::uint32_t(position) * 2654435761U) ^ start;
    x ^= x >> 16;
    x *= 0x85EBCA6BU;
    x ^= x >> 13;
    x *= 0xC2B2AE35U;
    x ^= x >> 16;
    return double(x >> 8) * 0x1p-23 - 1.0;
}

}    // namespace

std::vector<double> numbers(const std::string& name, std::int64_t count) {
    std::uint32_t start = 2166136261U;
    for (const char letter : name)
        start = (start ^ std::uint8_t(letter)) * 16777619U;
    std::vector<double> values;
    for (std::size_t i = 0; i < std::size_t(count); ++i)
        values.push_back(number(start, i));
    return values;
}

Array reals(const std::string& name, Dims dims) {
    Array array({DType::f32, std::move(dims)});
    const std::vector<double> values = numbers(name, array.element_count());
    std::ranges::transform(values, array.as<float>().begin(), [](double x) { return float(x); });
    return array;
}

Array integers(const std::string& name, Dims dims, std::int64_t first, std::int64_t end) {
    Array array({DType::i32, std::move(dims)});
    const std::vector<double> values = numbers(name, array.element_count());
    std::ranges::transform(values, array.as<std::int32_t>().begin(), [&](double x) {
        return std::int32_t(double(first) + std::floor((x + 1) / 2 * double(end - first)));
    });
    return array;
}

void set_weights(ParameterList& parameters) {
    for (Parameter& parameter : parameters.all()) {
        const Dims& dims = parameter.value.shape().dims;
        const std::int64_t count = parameter.value.element_count();
        const std::vector<double> values = numbers(parameter.name, count);
        const auto gain = double(float(std::sqrt(3.0 * double(dims[0]) / double(count))));
        const double middle = parameter.name.ends_with(".weight") ? 1 : 0;
        std::ranges::transform(values, parameter.value.as<float>().begin(), [&](double x) {
            return float(dims.size() > 1 ? x * gain : x * 0.125 + middle);
        });
    }
}

void expect_sums(const std::string& name, const Array& values, const nlohmann::json& expected,
                 double tolerance) {
    const std::span<const float> flat = values.as<float>();
    const std::vector<double> weights = numbers("weights of " + name, values.element_count());
    std::array<double, 3> sums{};
    for (std::size_t i = 0; i < flat.size(); ++i) {
        const auto x = double(flat[i]);
        sums[0] += x * weights[i];
        sums[1] += std::abs(x);
        sums[2] += i < 8 ? x : 0;
    }
    const double scale = std::max(expected[1].get<double>(), 1e-3);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(sums[i], expected[i].get<double>(), tolerance * scale) << name << " sum " << i;
}

}    // namespace slipway
