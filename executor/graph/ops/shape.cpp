#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Ops that put every element elsewhere: broadcast_in_dim, reshape, transpose, reverse.
namespace slipway {

Tensor broadcast_in_dim(const Tensor& x, Dims dims, Dims dimensions) {
    return make_node({.op = OpCode::broadcast_in_dim,
                      .attributes = BroadcastAttributes{std::move(dimensions)},
                      .operands = {x},
                      .result = {x.dtype(), std::move(dims)}});
}

Tensor broadcast(const Tensor& scalar, Dims dims) {
    if (!scalar.dims().empty())
        refuse("broadcast", 1, {&scalar, 1}, "the operand must be a scalar");
    return broadcast_in_dim(scalar, std::move(dims), {});
}

Tensor reshape(const Tensor& x, Dims dims) {
    return make_node({.op = OpCode::reshape,
                      .attributes = NoAttributes{},
                      .operands = {x},
                      .result = {x.dtype(), std::move(dims)}});
}

Tensor transpose(const Tensor& x, Dims permutation) {
    return make_node({.op = OpCode::transpose,
                      .attributes = TransposeAttributes{std::move(permutation)},
                      .operands = {x},
                      .result = {}});
}

Tensor reverse(const Tensor& x, Dims dimensions) {
    std::ranges::sort(dimensions);    // one spelling, so equal reversals hash equal
    return make_node({.op = OpCode::reverse,
                      .attributes = ReverseAttributes{std::move(dimensions)},
                      .operands = {x},
                      .result = {}});
}

namespace rules {

Shape infer_broadcast_in_dim(const NodeRequest& request) {
    const Dims& dimensions = std::get<BroadcastAttributes>(request.attributes).dimensions;
    const Shape& x = request.operands[0].shape();
    const Dims& dims = request.result.dims;
    require(dimensions.size() == x.dims.size(), request, 1,
            "dimensions {} must have one entry per operand dimension", to_string(dimensions));
    require(are_distinct_dimensions(dimensions, request.result.rank()) &&
                std::ranges::is_sorted(dimensions),
            request, 2, "dimensions {} must increase within the result {}", to_string(dimensions),
            to_string(dims));
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const std::int64_t extent = dims[std::size_t(dimensions[i])];
        require(x.dims[i] == extent || x.dims[i] == 1, request, 3,
                "operand dimension {} must have extent 1 or that of dimension {} of the result {}",
                i, dimensions[i], to_string(dims));
    }
    require(std::ranges::all_of(dims, [](std::int64_t e) { return e >= 0; }), request, 4,
            "extents must not be negative, got {}", to_string(dims));
    return {x.dtype, dims};
}

Shape infer_reshape(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape result{x.dtype, request.result.dims};
    require(std::ranges::all_of(result.dims, [](std::int64_t e) { return e >= 0; }), request, 1,
            "extents must not be negative, got {}", to_string(result.dims));
    require(result.element_count() == x.element_count(), request, 2,
            "{} has {} elements, the operand has {}", to_string(result.dims),
            result.element_count(), x.element_count());
    return result;
}

Shape infer_transpose(const NodeRequest& request) {
    const Dims& permutation = std::get<TransposeAttributes>(request.attributes).permutation;
    const Shape& x = request.operands[0].shape();
    require(is_permutation(permutation, x.rank()), request, 1,
            "permutation {} must name each of the operand's {} dimensions once",
            to_string(permutation), x.rank());
    return {x.dtype, picked(x.dims, permutation)};
}

Shape infer_reverse(const NodeRequest& request) {
    const Dims& dimensions = std::get<ReverseAttributes>(request.attributes).dimensions;
    const Shape& x = request.operands[0].shape();
    require(are_distinct_dimensions(dimensions, x.rank()), request, 1,
            "dimensions {} must be in 0..{}, none twice", to_string(dimensions), x.rank() - 1);
    return x;
}

std::vector<Tensor> gradient_broadcast_in_dim(const Tensor& y, const Tensor& dy) {
    const Dims& dimensions = std::get<BroadcastAttributes>(y.node().attributes).dimensions;
    const Tensor& x = y.node().operands[0];
    Dims repeated = other_dimensions(y.shape().rank(), dimensions);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        if (x.dims()[i] != y.dims()[std::size_t(dimensions[i])]) repeated.push_back(dimensions[i]);
    }
    return {reshape(reduce(dy, repeated, Reduction::add), x.dims())};
}

std::vector<Tensor> gradient_reshape(const Tensor& y, const Tensor& dy) {
    return {reshape(dy, y.node().operands[0].dims())};
}

std::vector<Tensor> gradient_transpose(const Tensor& y, const Tensor& dy) {
    const Dims& permutation = std::get<TransposeAttributes>(y.node().attributes).permutation;
    return {transpose(dy, inverse_permutation(permutation))};
}

std::vector<Tensor> gradient_reverse(const Tensor& y, const Tensor& dy) {
    return {reverse(dy, std::get<ReverseAttributes>(y.node().attributes).dimensions)};
}

Array evaluate_broadcast_in_dim(const Node& node, std::span<const Array> operands) {
    const Dims& dimensions = std::get<BroadcastAttributes>(node.attributes).dimensions;
    const Shape& from = operands[0].shape();
    const Dims strides = strides_of(from.dims);
    return gathered(node.shape, operands[0], [&](const Dims& index) {
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < dimensions.size(); ++i)
            if (from.dims[i] != 1) offset += index[std::size_t(dimensions[i])] * strides[i];
        return std::size_t(offset);
    });
}

Array evaluate_reshape(const Node& node, std::span<const Array> operands) {
    return operands[0].reshaped(node.shape.dims);
}

Array evaluate_transpose(const Node& node, std::span<const Array> operands) {
    const Dims& permutation = std::get<TransposeAttributes>(node.attributes).permutation;
    const Dims strides = picked(strides_of(operands[0].shape().dims), permutation);
    return gathered(node.shape, operands[0],
                    [&](const Dims& index) { return offset_of(index, strides); });
}

Array evaluate_reverse(const Node& node, std::span<const Array> operands) {
    const Dims& dimensions = std::get<ReverseAttributes>(node.attributes).dimensions;
    const Dims strides = strides_of(node.shape.dims);
    return gathered(node.shape, operands[0], [&](const Dims& index) {
        Dims source = index;
        for (const std::int64_t i : dimensions)
            source[std::size_t(i)] = node.shape.dims[std::size_t(i)] - 1 - index[std::size_t(i)];
        return offset_of(source, strides);
    });
}

}    // namespace rules

}    // namespace slipway
