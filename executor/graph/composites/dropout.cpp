#include <array>

#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

/// Inverted dropout whose mask is a function of seed, step, site, sample and element alone.
namespace slipway {

Tensor dropout(const Tensor& x, const Tensor& rate, const Tensor& key, std::uint32_t site,
               const Tensor& first_sample) {
    return make_composite("dropout", {x, rate, key, first_sample}, {double(site)});
}

namespace {

Tensor word(double value) {
    return constant(value, DType::u32);
}

Tensor rotated_left(const Tensor& x, int count) {
    return logical_or(shift_left(x, word(count)), shift_right_logical(x, word(32 - count)));
}

using Words = std::array<Tensor, 2>;

/// Threefry-2x32, 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
Words threefry(const Words& key, Words counter) {
    constexpr std::array<std::array<int, 4>, 2> rotations{{{13, 15, 26, 6}, {17, 29, 16, 24}}};
    const Tensor parity = logical_xor(logical_xor(key[0], key[1]), word(0x1BD11BDA));
    const std::array keys{key[0], key[1], parity};
    counter = {counter[0] + key[0], counter[1] + key[1]};
    for (std::size_t group = 0; group < 5; ++group) {
        for (const int count : rotations[group % 2]) {
            counter[0] = counter[0] + counter[1];
            counter[1] = logical_xor(rotated_left(counter[1], count), counter[0]);
        }
        counter[0] = counter[0] + keys[(group + 1) % 3];
        counter[1] = counter[1] + (keys[(group + 2) % 3] + word(double(group + 1)));
    }
    return counter;
}

/// The number of an element within its sample: row-major over all dimensions but the first.
Tensor element_numbers(const Dims& dims) {
    const Shape shape{DType::u32, {dims.begin() + 1, dims.end()}};
    if (shape.dims.empty()) return word(0);
    const Tensor flat = iota({DType::u32, {shape.element_count()}}, 0);
    return reshape(flat, shape.dims);
}

/// 24 random bits per element of x, as f32 in [0, 1).
Tensor uniform_numbers(const Dims& dims, const Tensor& key, std::uint32_t site,
                       const Tensor& first_sample) {
    const auto key_word = [&](std::int64_t i) {
        return reshape(slice(key, {i}, {i + 1}, {1}), {});
    };
    const Words site_key = threefry({key_word(0), key_word(1)}, {word(site), word(0)});
    const Tensor samples = iota({DType::u32, {dims[0]}}, 0) + convert(first_sample, DType::u32);
    Dims within;
    for (std::size_t i = 1; i < dims.size(); ++i)
        within.push_back(std::int64_t(i));
    const Words spread{broadcast(site_key[0], dims), broadcast(site_key[1], dims)};
    // Two elements share a counter, a word for each. 16 apart, they are in two vectors or four of
    // one round of a kernel's loop, and nothing has to move between lanes.
    const Tensor elements = broadcast_in_dim(element_numbers(dims), dims, within);
    const Tensor second = compare(logical_and(elements, word(16)), word(0), Comparison::ne);
    const Words words = threefry(
        spread, {broadcast_in_dim(samples, dims, {0}), logical_and(elements, word(0xffffffef))});
    const Tensor bits = select(second, words[1], words[0]);
    return convert(shift_right_logical(bits, word(8)), DType::f32) * constant(0x1p-24);
}

std::vector<Shape> infer(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require(is_floating(x.dtype) && x.rank() >= 1, request, 1,
            "the operand must be floating, with a dimension of samples");
    require(request.operands[1].shape() == Shape{DType::f32, {}}, request, 2,
            "the rate must be f32[]");
    require(request.operands[2].shape() == Shape{DType::u32, {2}}, request, 3,
            "the key must be u32[2]");
    require(request.operands[3].shape() == Shape{DType::i32, {}}, request, 4,
            "the first sample must be i32[]");
    return {x};
}

std::vector<Tensor> decompose(const Node& node) {
    const Tensor& x = node.operands[0];
    const Tensor& rate = node.operands[1];
    const Tensor uniform = uniform_numbers(x.dims(), node.operands[2],
                                           std::uint32_t(numbers_of(node)[0]), node.operands[3]);
    const Tensor keep = compare(uniform, rate, Comparison::ge);
    const Tensor scale = as(constant(1) / (constant(1) - rate), x.dtype());
    return {select(keep, x * scale, number_like(x, 0))};
}

/// The same mask over dy; the rest are no numbers one learns.
std::vector<Tensor> gradient(const Tensor& y, const Tensor& dy) {
    const auto& operands = y.node().operands;
    return {
        dropout(dy, operands[1], operands[2], std::uint32_t(numbers_of(y.node())[0]), operands[3]),
        Tensor(), Tensor(), Tensor()};
}

}    // namespace

const CompositeRow composites::dropout{"dropout", 4, 4, 1, infer, decompose, gradient};

}    // namespace slipway
