#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

/// Layers that are one product or one look-up: linear, embedding; batch_norm_relu.
namespace slipway {

Tensor embedding(const Tensor& table, const Tensor& indices) {
    return gather(table, indices);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    std::vector<Tensor> operands{x, weight};
    if (!bias.empty()) operands.push_back(bias);
    return make_composite("linear", std::move(operands));
}

BatchNorm batch_norm_relu(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon,
                          std::int64_t feature_dimension) {
    const Tensor y =
        make_composite("batch_norm_relu", {x, scale, bias}, {epsilon, double(feature_dimension)});
    return {y, get_result(y, 1), get_result(y, 2)};
}

namespace {

std::vector<Shape> infer_linear(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& weight = request.operands[1].shape();
    require(x.rank() >= 1 && weight.rank() == 2, request, 1,
            "operands must be [..., in] and [out, in]");
    require(is_floating(x.dtype) && weight.dtype == x.dtype, request, 2,
            "operands must have one floating dtype");
    require(x.dims.back() == weight.dims[1], request, 3, "inner sizes differ: {} and {}",
            x.dims.back(), weight.dims[1]);
    if (request.operands.size() > 2)
        require(request.operands[2].shape() == Shape{x.dtype, {weight.dims[0]}}, request, 4,
                "the bias must have one element per output: {}", weight.dims[0]);
    Shape result = x;
    result.dims.back() = weight.dims[0];
    return {result};
}

std::vector<Tensor> decompose_linear(const Node& node) {
    const Tensor product = dot_general(node.operands[0], node.operands[1],
                                       {.lhs_batching = {},
                                        .rhs_batching = {},
                                        .lhs_contracting = {last_dimension(node.operands[0])},
                                        .rhs_contracting = {1}});
    if (node.operands.size() == 2) return {product};
    return {product + over_rows(node.operands[2], product)};
}

BatchNorm normalised(const Node& node) {
    const auto& operands = node.operands;
    const auto& numbers = numbers_of(node);
    return batch_norm_training(operands[0], operands[1], operands[2], numbers[0],
                               std::int64_t(numbers[1]));
}

/// The constraints are those of batch_norm_training, under this name.
std::vector<Shape> infer_batch_norm_relu(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const auto feature_dimension = std::int64_t(numbers_of(request).at(1));
    require(feature_dimension >= 0 && feature_dimension < x.rank(), request, 1,
            "feature_dimension must be in 0..{}, got {}", x.rank() - 1, feature_dimension);
    require(is_floating(x.dtype), request, 2, "operands must be floating");
    const Shape features{x.dtype, {x.dims[std::size_t(feature_dimension)]}};
    require(request.operands[1].shape() == features && request.operands[2].shape() == features,
            request, 3, "scale and bias must have one element per feature: {}",
            to_string(features));
    require(numbers_of(request)[0] >= 0, request, 4, "epsilon must not be negative");
    return {x, features, features};
}

std::vector<Tensor> decompose_batch_norm_relu(const Node& node) {
    const BatchNorm parts = normalised(node);
    return {relu(parts.y), parts.mean, parts.variance};
}

/// Which elements got through is computed again from x, which the rest of the gradient reads
/// anyway: the masked gradient need not be stored, nor the result read.
std::vector<Tensor> gradient_batch_norm_relu(const Tensor& y, const Tensor& dy) {
    const auto& operands = y.node().operands;
    const double epsilon = numbers_of(y.node())[0];
    const auto feature_dimension = std::int64_t(numbers_of(y.node())[1]);
    const Tensor mean = get_result(y, 1);
    const Tensor variance = get_result(y, 2);
    const Tensor normalised = batch_norm_inference(operands[0], operands[1], operands[2], mean,
                                                   variance, epsilon, feature_dimension);
    const Tensor zeros = zeros_like(normalised);
    const Tensor flow = select(compare(normalised, zeros, Comparison::gt), dy, zeros);
    const BatchNormGradient flows =
        batch_norm_grad(operands[0], operands[1], mean, variance, flow, epsilon, feature_dimension);
    return {flows.dx, flows.dscale, flows.dbias};
}

}    // namespace

const CompositeRow composites::linear{"linear", 2, 3, 0, infer_linear, decompose_linear};
const CompositeRow composites::batch_norm_relu{
    "batch_norm_relu",       3, 3, 2, infer_batch_norm_relu, decompose_batch_norm_relu,
    gradient_batch_norm_relu};

}    // namespace slipway
