#include <cmath>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Batch normalisation: training, inference, gradient.
namespace slipway {

BatchNorm batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& bias,
                              double epsilon, std::int64_t feature_dimension) {
    const Tensor y = make_node({.op = OpCode::batch_norm_training,
                                .attributes = BatchNormAttributes{epsilon, feature_dimension},
                                .operands = {x, scale, bias},
                                .result = {}});
    return {y, get_result(y, 1), get_result(y, 2)};
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& scale, const Tensor& bias,
                            const Tensor& mean, const Tensor& variance, double epsilon,
                            std::int64_t feature_dimension) {
    return make_node({.op = OpCode::batch_norm_inference,
                      .attributes = BatchNormAttributes{epsilon, feature_dimension},
                      .operands = {x, scale, bias, mean, variance},
                      .result = {}});
}

BatchNormGradient batch_norm_grad(const Tensor& x, const Tensor& scale, const Tensor& mean,
                                  const Tensor& variance, const Tensor& dy, double epsilon,
                                  std::int64_t feature_dimension) {
    const Tensor dx = make_node({.op = OpCode::batch_norm_grad,
                                 .attributes = BatchNormAttributes{epsilon, feature_dimension},
                                 .operands = {x, scale, mean, variance, dy},
                                 .result = {}});
    return {dx, get_result(dx, 1), get_result(dx, 2)};
}

namespace {

const BatchNormAttributes& attributes_of(const Node& node) {
    return std::get<BatchNormAttributes>(node.attributes);
}

/// The shape rule of all three: operands `vectors` have one element per feature.
Shape infer_normalised(const NodeRequest& request, std::initializer_list<std::size_t> vectors) {
    const auto& [epsilon, feature_dimension] = std::get<BatchNormAttributes>(request.attributes);
    const Shape& x = request.operands[0].shape();
    require(feature_dimension >= 0 && feature_dimension < x.rank(), request, 1,
            "feature_dimension must be in 0..{}, got {}", x.rank() - 1, feature_dimension);
    require(is_floating(x.dtype), request, 2, "operands must be floating");
    const Shape features{x.dtype, {x.dims[std::size_t(feature_dimension)]}};
    for (const std::size_t i : vectors)
        require(request.operands[i].shape() == features, request, 3,
                "operand {} must have one element per feature: {}", i, to_string(features));
    require(epsilon >= 0, request, 4, "epsilon must not be negative, got {}", epsilon);
    return x;
}

// ---- the parts of the decompositions ----

/// What the three have in common: x, and its dimensions but the feature one.
struct Frame {
    Tensor x;
    std::int64_t feature_dimension;
    Dims others;
    double epsilon;

    explicit Frame(const Node& node)
        : x(node.operands[0]),
          feature_dimension(attributes_of(node).feature_dimension),
          others(other_dimensions(x.shape().rank(), {feature_dimension})),
          epsilon(attributes_of(node).epsilon) {}

    Tensor number(double value) const { return constant(value, x.dtype()); }
    /// One element per feature, repeated to x's dims.
    Tensor spread(const Tensor& features) const {
        return broadcast_in_dim(features, x.dims(), {feature_dimension});
    }
    Tensor sum(const Tensor& values) const { return reduce(values, others, Reduction::add); }
    double samples() const {
        const std::int64_t features = x.dims()[std::size_t(feature_dimension)];
        const std::int64_t count = x.shape().element_count();
        return features == 0 ? 0 : double(count) / double(features);
    }
    Tensor mean_of(const Tensor& values) const { return sum(values) * number(1 / samples()); }
    Tensor inverse_deviation(const Tensor& variance) const {
        return rsqrt(variance + number(epsilon));
    }
};

// ---- the parts of the evaluators ----

/// Calls body(n, feature) for each element.
template <class Body>
void for_each_element(const Node& node, Body&& body) {
    const auto dimension = std::size_t(attributes_of(node).feature_dimension);
    std::size_t n = 0;
    for_each_index(node.operands[0].dims(),
                   [&](const Dims& index) { body(n++, std::size_t(index[dimension])); });
}

template <class T>
Array rounded(const std::vector<double>& values, const Shape& shape) {
    Array result(shape);
    auto to = result.as<T>();
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = T(values[i]);
    return result;
}

/// Sums per feature, in f64.
struct FeatureSums {
    std::vector<double> values;
    double samples;

    explicit FeatureSums(const Node& node)
        : values(std::size_t(
              node.operands[0].dims()[std::size_t(attributes_of(node).feature_dimension)])),
          samples(Frame(node).samples()) {}
    FeatureSums& divided() {
        for (double& value : values)
            value /= samples;
        return *this;
    }
};

}    // namespace

namespace rules {

Shape infer_batch_norm_training(const NodeRequest& request) {
    return infer_normalised(request, {1, 2});
}

Shape infer_batch_norm_inference(const NodeRequest& request) {
    return infer_normalised(request, {1, 2, 3, 4});
}

Shape infer_batch_norm_grad(const NodeRequest& request) {
    const Shape x = infer_normalised(request, {1, 2, 3});
    require(request.operands[4].shape() == x, request, 5, "dy must have the shape of x");
    return x;
}

std::vector<Shape> more_of_batch_norm(const NodeRequest& request) {
    const Shape& features = request.operands[1].shape();
    return {features, features};
}

std::vector<Tensor> gradient_batch_norm_training(const Tensor& y, const Tensor& dy) {
    const auto& [epsilon, feature_dimension] = attributes_of(y.node());
    const auto& operands = y.node().operands;
    const BatchNormGradient flows =
        batch_norm_grad(operands[0], operands[1], get_result(y, 1), get_result(y, 2), dy, epsilon,
                        feature_dimension);
    return {flows.dx, flows.dscale, flows.dbias};
}

/// The statistics are operands here and get what is theirs.
std::vector<Tensor> gradient_batch_norm_inference(const Tensor& y, const Tensor& dy) {
    const Frame frame(y.node());
    const Tensor& scale = y.node().operands[1];
    const Tensor& mean = y.node().operands[3];
    const Tensor inverse = frame.inverse_deviation(y.node().operands[4]);
    const Tensor dscale = frame.sum(dy * (frame.x - frame.spread(mean)) * frame.spread(inverse));
    const Tensor dbias = frame.sum(dy);
    const Tensor factor = scale * inverse;
    const Tensor dvariance = frame.number(-0.5) * dscale * factor * inverse;
    return {dy * frame.spread(factor), dscale, dbias, negate(dbias * factor), dvariance};
}

std::vector<Tensor> decompose_batch_norm_training(const Node& node) {
    const Frame frame(node);
    const Tensor mean = frame.mean_of(frame.x);
    const Tensor centered = frame.x - frame.spread(mean);
    const Tensor variance = frame.mean_of(centered * centered);
    const Tensor factor = node.operands[1] * frame.inverse_deviation(variance);
    const Tensor y = centered * frame.spread(factor) + frame.spread(node.operands[2]);
    return {y, mean, variance};
}

std::vector<Tensor> decompose_batch_norm_inference(const Node& node) {
    const Frame frame(node);
    const auto& operands = node.operands;
    const Tensor factor = operands[1] * frame.inverse_deviation(operands[4]);
    const Tensor centered = frame.x - frame.spread(operands[3]);
    return {centered * frame.spread(factor) + frame.spread(operands[2])};
}

std::vector<Tensor> decompose_batch_norm_grad(const Node& node) {
    const Frame frame(node);
    const auto& operands = node.operands;
    const Tensor& dy = operands[4];
    const Tensor inverse = frame.inverse_deviation(operands[3]);
    const Tensor centered = frame.x - frame.spread(operands[2]);
    const Tensor dbias = frame.sum(dy);
    const Tensor dscale = frame.sum(dy * centered) * inverse;
    const Tensor share = frame.number(1 / frame.samples());
    const Tensor slope = dscale * inverse * share;
    const Tensor dx = frame.spread(operands[1] * inverse) *
                      (dy - frame.spread(dbias * share) - centered * frame.spread(slope));
    return {dx, dscale, dbias};
}

Array evaluate_batch_norm_training_result(const Node& node, std::span<const Array> operands,
                                          std::int64_t index) {
    return with_floating_type(node.shape.dtype, [&]<class T>() {
        const auto x = operands[0].as<T>();
        FeatureSums mean(node), variance(node);
        for_each_element(node,
                         [&](std::size_t n, std::size_t f) { mean.values[f] += double(x[n]); });
        mean.divided();
        for_each_element(node, [&](std::size_t n, std::size_t f) {
            const double distance = double(x[n]) - mean.values[f];
            variance.values[f] += distance * distance;
        });
        variance.divided();
        if (index == 1) return rounded<T>(mean.values, node.more_shapes[0]);
        if (index == 2) return rounded<T>(variance.values, node.more_shapes[1]);
        const auto scale = operands[1].as<T>();
        const auto offset = operands[2].as<T>();
        Array result(node.shape);
        auto to = result.as<T>();
        for_each_element(node, [&](std::size_t n, std::size_t f) {
            const double deviation = std::sqrt(variance.values[f] + attributes_of(node).epsilon);
            const double normal = (double(x[n]) - mean.values[f]) / deviation;
            to[n] = T(normal * double(scale[f]) + double(offset[f]));
        });
        return result;
    });
}

Array evaluate_batch_norm_training(const Node& node, std::span<const Array> operands) {
    return evaluate_batch_norm_training_result(node, operands, 0);
}

Array evaluate_batch_norm_inference(const Node& node, std::span<const Array> operands) {
    return with_floating_type(node.shape.dtype, [&]<class T>() {
        const auto at = [&](std::size_t i, std::size_t n) {
            return double(operands[i].as<T>()[n]);
        };
        Array result(node.shape);
        auto to = result.as<T>();
        for_each_element(node, [&](std::size_t n, std::size_t f) {
            const double deviation = std::sqrt(at(4, f) + attributes_of(node).epsilon);
            to[n] = T((at(0, n) - at(3, f)) / deviation * at(1, f) + at(2, f));
        });
        return result;
    });
}

Array evaluate_batch_norm_grad_result(const Node& node, std::span<const Array> operands,
                                      std::int64_t index) {
    return with_floating_type(node.shape.dtype, [&]<class T>() {
        const auto at = [&](std::size_t i, std::size_t n) {
            return double(operands[i].as<T>()[n]);
        };
        const auto deviation = [&](std::size_t f) {
            return std::sqrt(at(3, f) + attributes_of(node).epsilon);
        };
        const auto normal = [&](std::size_t n, std::size_t f) {
            return (at(0, n) - at(2, f)) / deviation(f);
        };
        FeatureSums dscale(node), dbias(node);
        for_each_element(node, [&](std::size_t n, std::size_t f) {
            dscale.values[f] += at(4, n) * normal(n, f);
            dbias.values[f] += at(4, n);
        });
        if (index == 1) return rounded<T>(dscale.values, node.more_shapes[0]);
        if (index == 2) return rounded<T>(dbias.values, node.more_shapes[1]);
        Array result(node.shape);
        auto to = result.as<T>();
        for_each_element(node, [&](std::size_t n, std::size_t f) {
            const double common =
                (dbias.values[f] + normal(n, f) * dscale.values[f]) / dscale.samples;
            to[n] = T(at(1, f) / deviation(f) * (at(4, n) - common));
        });
        return result;
    });
}

Array evaluate_batch_norm_grad(const Node& node, std::span<const Array> operands) {
    return evaluate_batch_norm_grad_result(node, operands, 0);
}

}    // namespace rules

}    // namespace slipway
