#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

/// What optimizers do: sgd_update, adam_update, clip_by_global_norm.
namespace slipway {

SgdUpdate sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                     const SgdScalars& scalars, bool nesterov) {
    const std::vector<double> numbers{nesterov ? 1.0 : 0.0};
    if (velocity.empty()) {
        return {make_composite("sgd_update",
                               {parameter, gradient, scalars.learning_rate, scalars.weight_decay},
                               numbers),
                Tensor()};
    }
    const Tensor updated = make_composite("sgd_update",
                                          {parameter, gradient, velocity, scalars.learning_rate,
                                           scalars.weight_decay, scalars.momentum},
                                          numbers);
    return {updated, get_result(updated, 1)};
}

AdamUpdate adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& average,
                       const Tensor& average_square, const AdamScalars& scalars, bool decoupled) {
    const Tensor updated = make_composite(
        "adam_update",
        {parameter, gradient, average, average_square, scalars.beta1, scalars.one_minus_beta1,
         scalars.beta2, scalars.one_minus_beta2, scalars.epsilon, scalars.step_size,
         scalars.inverse_sqrt_bias2, scalars.weight_decay, scalars.learning_rate},
        {decoupled ? 1.0 : 0.0});
    return {updated, get_result(updated, 1), get_result(updated, 2)};
}

ClippedGradients clip_by_global_norm(std::vector<Tensor> gradients, const Tensor& limit) {
    const std::size_t count = gradients.size();
    gradients.push_back(limit);
    const Tensor first = make_composite("clip_by_global_norm", std::move(gradients));
    ClippedGradients result{{first}, get_result(first, std::int64_t(count))};
    for (std::size_t i = 1; i < count; ++i)
        result.gradients.push_back(get_result(first, std::int64_t(i)));
    return result;
}

namespace {

void require_alike(const NodeRequest& request, std::initializer_list<std::size_t> operands) {
    const Shape& parameter = request.operands[0].shape();
    require(is_floating(parameter.dtype), request, 1, "operands must be floating");
    for (const std::size_t i : operands)
        require(request.operands[i].shape() == parameter, request, 2,
                "gradient and state must have the parameter's shape");
}

void require_scalars(const NodeRequest& request, std::size_t first) {
    const Shape scalar{request.operands[0].dtype(), {}};
    for (std::size_t i = first; i < request.operands.size(); ++i)
        require(request.operands[i].shape() == scalar, request, 3,
                "operand {} must be a scalar of the parameter's dtype", i);
}

std::vector<Shape> infer_sgd(const NodeRequest& request) {
    const Shape& parameter = request.operands[0].shape();
    require_alike(request, {1});
    if (request.operands.size() < 6) {
        require_scalars(request, 2);
        return {parameter};
    }
    require_alike(request, {2});
    require_scalars(request, 3);
    return {parameter, parameter};
}

std::vector<Tensor> decompose_sgd(const Node& node) {
    const auto& operands = node.operands;
    const Tensor& parameter = operands[0];
    const std::size_t scalars = operands.size() < 6 ? 2 : 3;
    const Tensor& rate = operands[scalars];
    const Tensor g = operands[1] + operands[scalars + 1] * parameter;
    if (operands.size() < 6) return {parameter - rate * g};
    const Tensor& momentum = operands[scalars + 2];
    const Tensor velocity = momentum * operands[2] + g;
    if (numbers_of(node)[0] == 0) return {parameter - rate * velocity, velocity};
    return {parameter - rate * (g + momentum * velocity), velocity};
}

std::vector<Shape> infer_adam(const NodeRequest& request) {
    const Shape& parameter = request.operands[0].shape();
    require_alike(request, {1, 2, 3});
    require_scalars(request, 4);
    return {parameter, parameter, parameter};
}

std::vector<Tensor> decompose_adam(const Node& node) {
    const auto& x = node.operands;
    const bool decoupled = numbers_of(node)[0] != 0;
    const Tensor& parameter = x[0];
    const Tensor& weight_decay = x[11];
    const Tensor g = decoupled ? x[1] : x[1] + weight_decay * parameter;
    const Tensor average = x[4] * x[2] + x[5] * g;
    const Tensor average_square = x[6] * x[3] + x[7] * (g * g);
    const Tensor denominator = sqrt(average_square) * x[10] + x[8];
    const Tensor kept = decoupled ? parameter - x[12] * weight_decay * parameter : parameter;
    return {kept - x[9] * (average / denominator), average, average_square};
}

std::vector<Shape> infer_clip(const NodeRequest& request) {
    const DType dtype = request.operands[0].dtype();
    std::vector<Shape> shapes;
    for (const Tensor& operand : request.operands) {
        require(operand.dtype() == dtype && is_floating(dtype), request, 1,
                "operands must have one floating dtype");
        shapes.push_back(operand.shape());
    }
    require(shapes.back().dims.empty(), request, 2, "the limit must be a scalar");
    return shapes;    // the last is the norm's
}

/// Torch's rule: the factor is limit / (norm + 1e-6), at most 1.
std::vector<Tensor> decompose_clip(const Node& node) {
    const Tensor& limit = node.operands.back();
    Tensor total = number_like(limit, 0);
    for (std::size_t i = 0; i + 1 < node.operands.size(); ++i) {
        const Tensor g = node.operands[i];
        total = total + reduce(g * g, identity_permutation(g.shape().rank()), Reduction::add);
    }
    const Tensor norm = sqrt(total);
    const Tensor factor = minimum(limit / (norm + number_like(limit, 1e-6)), number_like(limit, 1));
    std::vector<Tensor> results;
    for (std::size_t i = 0; i + 1 < node.operands.size(); ++i)
        results.push_back(node.operands[i] * factor);
    results.push_back(norm);
    return results;
}

}    // namespace

const CompositeRow composites::sgd_update{"sgd_update", 4, 6, 1, infer_sgd, decompose_sgd};
const CompositeRow composites::adam_update{"adam_update", 13, 13, 1, infer_adam, decompose_adam};
const CompositeRow composites::clip_by_global_norm{
    "clip_by_global_norm", 2, std::size_t(-1), 0, infer_clip, decompose_clip};

}    // namespace slipway
