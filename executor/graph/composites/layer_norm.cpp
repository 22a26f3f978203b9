#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

namespace slipway {

Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon) {
    return make_composite("layer_norm", {x, scale, bias}, {epsilon});
}

namespace {

void require_columns(const NodeRequest& request, std::initializer_list<std::size_t> operands) {
    const Shape& x = request.operands[0].shape();
    for (const std::size_t i : operands)
        require(request.operands[i].shape() == Shape{x.dtype, {x.dims.back()}}, request, 2,
                "operand {} must have one element per element of the last axis", i);
}

Tensor mean_of_rows(const Tensor& x) {
    return reduce_rows(x, Reduction::add) * number_like(x, 1 / double(x.dims().back()));
}

/// Sums over all dimensions but the last.
Tensor sum_of_columns(const Tensor& x) {
    return reduce(x, identity_permutation(last_dimension(x)), Reduction::add);
}

/// Results: y, mean, 1 / deviation.
std::vector<Shape> infer(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require_rows(request, x);
    require_columns(request, {1, 2});
    require(numbers_of(request).at(0) >= 0, request, 3, "epsilon must not be negative");
    const Shape rows{wide_type(x.dtype), row_dims(x.dims)};
    return {x, rows, rows};
}

std::vector<Tensor> decompose(const Node& node) {
    const Tensor x = widened(node.operands[0]);
    const Tensor mean = mean_of_rows(x);
    const Tensor centered = x - along_rows(mean, x);
    const Tensor variance = mean_of_rows(centered * centered);
    const Tensor inverse = rsqrt(variance + number_like(x, numbers_of(node)[0]));
    const Tensor normal = centered * along_rows(inverse, x);
    const Tensor y =
        normal * over_rows(widened(node.operands[1]), x) + over_rows(widened(node.operands[2]), x);
    return {as(y, node.shape.dtype), mean, inverse};
}

std::vector<Tensor> gradient(const Tensor& y, const Tensor& dy) {
    const auto& operands = y.node().operands;
    const Tensor dx = make_composite(
        "layer_norm_grad", {operands[0], operands[1], get_result(y, 1), get_result(y, 2), dy});
    return {dx, get_result(dx, 1), get_result(dx, 2)};
}

/// Operands: x, scale, mean, 1 / deviation, dy. Results: dx, dscale, dbias.
std::vector<Shape> infer_grad(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require_rows(request, x);
    require_columns(request, {1});
    const Shape rows{wide_type(x.dtype), row_dims(x.dims)};
    require(request.operands[2].shape() == rows && request.operands[3].shape() == rows, request, 3,
            "there must be one mean and one deviation per row: {}", to_string(rows));
    require(request.operands[4].shape() == x, request, 4, "dy must have the shape of x");
    const Shape& scale = request.operands[1].shape();
    return {x, scale, scale};
}

std::vector<Tensor> decompose_grad(const Node& node) {
    const auto& operands = node.operands;
    const DType dtype = node.shape.dtype;
    const Tensor x = widened(operands[0]);
    const Tensor dy = widened(operands[4]);
    const Tensor inverse = along_rows(operands[3], x);
    const Tensor normal = (x - along_rows(operands[2], x)) * inverse;
    const Tensor scaled = dy * over_rows(widened(operands[1]), x);
    const Tensor tilt = mean_of_rows(scaled * normal);
    const Tensor shift = mean_of_rows(scaled);
    const Tensor dx = (scaled - along_rows(shift, x) - normal * along_rows(tilt, x)) * inverse;
    return {as(dx, dtype), as(sum_of_columns(dy * normal), dtype), as(sum_of_columns(dy), dtype)};
}

}    // namespace

const CompositeRow composites::layer_norm{"layer_norm", 3, 3, 1, infer, decompose, gradient};
const CompositeRow composites::layer_norm_grad{"layer_norm_grad", 5, 5, 0, infer_grad,
                                               decompose_grad};

}    // namespace slipway
