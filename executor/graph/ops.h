#pragma once

#include <string>

#include "executor/graph/tensor.h"

/// The functions that build nodes: all of them, on one screen. Each checks its constraints
/// (docs/contributing/ops.md) and throws Error{invalid_argument} that names the op, the constraint,
/// and echoes the shapes. Elementwise operands have equal shapes; a rank-0 operand beside a larger
/// one is broadcast for convenience. Safe from every thread.
namespace slipway {

Tensor input(Shape shape, Placement placement, std::string name);
Tensor constant(double value, DType dtype = DType::f32);
Tensor iota(Shape shape, std::int64_t dimension);
Tensor broadcast_in_dim(const Tensor& x, Dims dims, Dims dimensions);
/// A scalar repeated to `dims`.
Tensor broadcast(const Tensor& scalar, Dims dims);
Tensor reshape(const Tensor& x, Dims dims);
Tensor transpose(const Tensor& x, Dims permutation);
Tensor slice(const Tensor& x, Dims start, Dims limit, Dims strides);
Tensor pad(const Tensor& x, double value, PadAttributes padding);
Tensor concatenate(std::vector<Tensor> parts, std::int64_t dimension);
Tensor reverse(const Tensor& x, Dims dimensions);
/// The part of these sizes that begins at `starts`, scalars of whole numbers, moved inside.
Tensor dynamic_slice(const Tensor& x, std::vector<Tensor> starts, Dims sizes);
Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, std::vector<Tensor> starts);
/// Rows of a table [v, rest...] by number: indices [dims...] -> [dims..., rest...]. A number beyond
/// the table gives its first or last row.
Tensor gather(const Tensor& table, const Tensor& indices);
/// operand [v, rest...] with updates [dims..., rest...] added at rows `indices` [dims...]; a number
/// beyond the table adds nothing.
Tensor scatter_add(const Tensor& operand, const Tensor& indices, const Tensor& updates);
Tensor convert(const Tensor& x, DType dtype);
/// The same bits as another type of the same width.
Tensor bitcast_convert(const Tensor& x, DType dtype);
/// x; no gradient flows through it.
Tensor stop_gradient(const Tensor& x);
/// x; no pass moves anything across it.
Tensor optimization_barrier(const Tensor& x);
/// Result `index` (1 for the second) of an op with several; the first is the node itself.
Tensor get_result(const Tensor& producer, std::int64_t index);

Tensor negate(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor exponential(const Tensor& x);
Tensor exponential_minus_one(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log_plus_one(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor logistic(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor sine(const Tensor& x);      ///< of an angle in radians
Tensor cosine(const Tensor& x);    ///< of an angle in radians
Tensor floor(const Tensor& x);
Tensor is_finite(const Tensor& x);
Tensor logical_not(const Tensor& x);

Tensor add(const Tensor& x, const Tensor& y);
Tensor subtract(const Tensor& x, const Tensor& y);
Tensor multiply(const Tensor& x, const Tensor& y);
Tensor divide(const Tensor& x, const Tensor& y);
Tensor maximum(const Tensor& x, const Tensor& y);
Tensor minimum(const Tensor& x, const Tensor& y);
Tensor power(const Tensor& x, const Tensor& y);
Tensor remainder(const Tensor& x, const Tensor& y);
Tensor logical_and(const Tensor& x, const Tensor& y);
Tensor logical_or(const Tensor& x, const Tensor& y);
Tensor logical_xor(const Tensor& x, const Tensor& y);
Tensor shift_left(const Tensor& x, const Tensor& y);
Tensor shift_right_logical(const Tensor& x, const Tensor& y);
Tensor compare(const Tensor& x, const Tensor& y, Comparison direction);
Tensor select(const Tensor& condition, const Tensor& when_true, const Tensor& when_false);
Tensor clamp(const Tensor& low, const Tensor& x, const Tensor& high);

Tensor dot_general(const Tensor& lhs, const Tensor& rhs, DotAttributes attributes);
/// [..., m, k] x [k, n] -> [..., m, n].
Tensor matmul(const Tensor& lhs, const Tensor& rhs);
Tensor convolution(const Tensor& input, const Tensor& kernel, ConvolutionAttributes attributes);
/// NCHW input, OIHW kernel, symmetric padding.
Tensor convolution_2d(const Tensor& input, const Tensor& kernel, std::int64_t stride,
                      std::int64_t padding);

Tensor reduce(const Tensor& x, Dims dimensions, Reduction reduction);
Tensor reduce_window(const Tensor& x, std::vector<WindowDimension> window, Reduction reduction);
Tensor select_and_scatter(const Tensor& input, const Tensor& source,
                          std::vector<WindowDimension> window);
/// NCHW; the window moves over H and W.
Tensor max_pool_2d(const Tensor& x, std::int64_t size, std::int64_t stride);
Tensor average_pool_2d(const Tensor& x, std::int64_t size, std::int64_t stride);

/// y, and the statistics it was made with: the mean and the biased variance of each feature.
struct BatchNorm {
    Tensor y, mean, variance;
};
BatchNorm batch_norm_training(const Tensor& x, const Tensor& scale, const Tensor& bias,
                              double epsilon, std::int64_t feature_dimension);
Tensor batch_norm_inference(const Tensor& x, const Tensor& scale, const Tensor& bias,
                            const Tensor& mean, const Tensor& variance, double epsilon,
                            std::int64_t feature_dimension);
struct BatchNormGradient {
    Tensor dx, dscale, dbias;
};
BatchNormGradient batch_norm_grad(const Tensor& x, const Tensor& scale, const Tensor& mean,
                                  const Tensor& variance, const Tensor& dy, double epsilon,
                                  std::int64_t feature_dimension);

/// The sum (or largest, or smallest) over all cores, the same on every core. A replicated operand
/// is refused: its sum would depend on the number of cores. `exchange`: as in AllReduceAttributes.
Tensor all_reduce(const Tensor& x, Reduction reduction = Reduction::add,
                  std::optional<DType> exchange = {});
/// The sum of the cores' shares: all_reduce of a value per core. One that is the same on every core
/// is the whole already.
Tensor sum_of_shares(const Tensor& x, std::optional<DType> exchange = {});

/// max(x, 0).
Tensor relu(const Tensor& x);
/// Numerically safe log(softmax(x)) over the last axis.
Tensor log_softmax(const Tensor& x);
/// labels i32 or i64 [n] in 0..classes-1 -> [n, classes]; a label outside gives a row of zeros.
Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype = DType::f32);
/// Index of the largest value over the last axis; the first of equals; the axis' extent when there
/// is a NaN. i32.
Tensor argmax(const Tensor& x);

// ---- composites: rows of composite_table.h, which a backend may take whole ----

/// e^x over its sum, over the last axis.
Tensor softmax(const Tensor& x);
/// [..., c], labels [...] -> [...], -log softmax at the label; f32 or wider. A label outside
/// 0..c-1, such as -100, gives 0 and no gradient.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels);
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets);
/// Over the last axis; scale and offset have one element per element of it.
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon);
Tensor gelu(const Tensor& x, bool tanh_approximation);
/// Inverted dropout: 0 with probability `rate` (f32[]), else x / (1 - rate). The mask is threefry
/// of key (u32[2]: seed and step) and site, at (first_sample (i32[]) + row, element), a word for
/// each of two elements: the same on any number of cores.
Tensor dropout(const Tensor& x, const Tensor& rate, const Tensor& key, std::uint32_t site,
               const Tensor& first_sample);
/// x [..., in] times weight [out, in], plus bias [out] unless that is an empty handle.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
/// softmax(scale q k^T) v over [b, h, s, d]; mask (pred [b, s], or an empty handle) says which keys
/// may be looked at, `causal` that only those up to the query's own place.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale, bool causal,
                 const Tensor& mask);
/// Rows of a table: gather.
Tensor embedding(const Tensor& table, const Tensor& indices);
BatchNorm batch_norm_relu(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon,
                          std::int64_t feature_dimension);

/// Scalars of the parameter's dtype.
struct SgdScalars {
    Tensor learning_rate, weight_decay, momentum;
};
struct SgdUpdate {
    Tensor parameter, velocity;
};
/// Torch's SGD; without momentum when `velocity` is an empty handle.
SgdUpdate sgd_update(const Tensor& parameter, const Tensor& gradient, const Tensor& velocity,
                     const SgdScalars& scalars, bool nesterov);
/// step_size is learning_rate / (1 - beta1^step), inverse_sqrt_bias2 is 1 / sqrt(1 - beta2^step).
struct AdamScalars {
    Tensor beta1, one_minus_beta1, beta2, one_minus_beta2, epsilon, step_size, inverse_sqrt_bias2,
        weight_decay, learning_rate;
};
struct AdamUpdate {
    Tensor parameter, average, average_square;
};
/// Torch's Adam, or AdamW when `decoupled`.
AdamUpdate adam_update(const Tensor& parameter, const Tensor& gradient, const Tensor& average,
                       const Tensor& average_square, const AdamScalars& scalars, bool decoupled);
/// Gradients scaled down so that their common norm is at most `limit`, and the norm they had.
struct ClippedGradients {
    std::vector<Tensor> gradients;
    Tensor norm;
};
ClippedGradients clip_by_global_norm(std::vector<Tensor> gradients, const Tensor& limit);

inline Tensor operator+(const Tensor& x, const Tensor& y) {
    return add(x, y);
}
inline Tensor operator-(const Tensor& x, const Tensor& y) {
    return subtract(x, y);
}
inline Tensor operator*(const Tensor& x, const Tensor& y) {
    return multiply(x, y);
}
inline Tensor operator/(const Tensor& x, const Tensor& y) {
    return divide(x, y);
}

}    // namespace slipway
