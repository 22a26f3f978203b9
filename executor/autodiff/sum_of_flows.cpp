#include "executor/autodiff/sum_of_flows.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "executor/graph/ops.h"

namespace slipway {

namespace {

/// A flow that is zero outside a range of one dimension.
struct Part {
    Tensor inside;
    std::int64_t dimension = 0;
    std::int64_t begin = 0;

    std::int64_t end() const { return begin + inside.dims()[std::size_t(dimension)]; }
};

/// The dimension along which a flow is padded, when it is one only.
std::optional<std::int64_t> padded_dimension(const PadAttributes& padding) {
    std::optional<std::int64_t> found;
    for (std::size_t i = 0; i < padding.low.size(); ++i) {
        const std::int64_t low = padding.low[i], high = padding.high[i];
        if (padding.interior[i] != 0 || low < 0 || high < 0) return {};
        if (low == 0 && high == 0) continue;
        if (found) return {};
        found = std::int64_t(i);
    }
    return found;
}

std::optional<Part> part_of(const Tensor& flow) {
    const Node& node = flow.node();
    if (node.op != OpCode::pad) return {};
    const auto* filler = std::get_if<ConstantAttributes>(&node.operands[1].node().attributes);
    const auto& padding = std::get<PadAttributes>(node.attributes);
    const auto dimension = padded_dimension(padding);
    if (filler == nullptr || filler->value != 0 || !dimension) return {};
    return Part{node.operands[0], *dimension, padding.low[std::size_t(*dimension)]};
}

/// Whether the parts, sorted by their beginnings, cover `extent` of one dimension without overlap.
bool are_side_by_side(std::span<const Part> parts, std::int64_t extent) {
    std::int64_t covered = 0;
    for (const Part& part : parts) {
        if (part.dimension != parts[0].dimension || part.begin != covered) return false;
        covered = part.end();
    }
    return covered == extent;
}

/// Nothing where the flows are anything but all the parts of one value.
std::optional<Tensor> joined(std::span<const Tensor> flows) {
    std::vector<Part> parts;
    for (const Tensor& flow : flows) {
        const auto part = part_of(flow);
        if (!part) return {};
        parts.push_back(*part);
    }
    std::ranges::stable_sort(parts, {}, &Part::begin);
    const std::int64_t dimension = parts[0].dimension;
    if (!are_side_by_side(parts, flows[0].dims()[std::size_t(dimension)])) return {};
    std::vector<Tensor> insides;
    for (const Part& part : parts)
        insides.push_back(part.inside);
    return concatenate(std::move(insides), dimension);
}

bool is_zeros(const Tensor& x) {
    if (x.node().op != OpCode::broadcast_in_dim) return false;
    const Node& number = x.node().operands[0].node();
    return number.op == OpCode::constant &&
           std::get<ConstantAttributes>(number.attributes).value == 0;
}

/// The gradient of a look-up in a table.
bool is_scattered(const Tensor& flow) {
    return flow.node().op == OpCode::scatter_add && is_zeros(flow.node().operands[0]);
}

Tensor added(const Tensor& sum, const Tensor& flow) {
    if (!is_scattered(flow)) return sum + flow;
    return scatter_add(sum, flow.node().operands[1], flow.node().operands[2]);
}

}    // namespace

Tensor sum_of_flows(std::span<const Tensor> flows) {
    if (const auto whole = joined(flows)) return *whole;
    std::vector<Tensor> ordered(flows.begin(), flows.end());
    std::ranges::stable_partition(ordered, std::not_fn(is_scattered));
    Tensor sum = ordered[0];
    for (const Tensor& flow : std::span(ordered).subspan(1))
        sum = added(sum, flow);
    return sum;
}

}    // namespace slipway
