#pragma once

#include <string>

#include "executor/graph/tensor.h"

/// The functions that build nodes: all of them, on one screen. Each checks its constraints
/// (docs/ops.md) and throws Error{invalid_argument} that names the op, the constraint, and echoes
/// the shapes. Elementwise operands have equal shapes; a rank-0 operand beside a larger one is
/// broadcast for convenience. Safe from every thread.
namespace slipway {

Tensor leaf(Shape shape, Placement placement, std::string name);
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
Tensor convert(const Tensor& x, DType dtype);
/// x; no gradient flows through it.
Tensor stop_gradient(const Tensor& x);

Tensor negate(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor exponential(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor logistic(const Tensor& x);
Tensor floor(const Tensor& x);

Tensor add(const Tensor& x, const Tensor& y);
Tensor subtract(const Tensor& x, const Tensor& y);
Tensor multiply(const Tensor& x, const Tensor& y);
Tensor divide(const Tensor& x, const Tensor& y);
Tensor maximum(const Tensor& x, const Tensor& y);
Tensor minimum(const Tensor& x, const Tensor& y);
Tensor power(const Tensor& x, const Tensor& y);
Tensor compare(const Tensor& x, const Tensor& y, Comparison direction);
Tensor select(const Tensor& condition, const Tensor& when_true, const Tensor& when_false);

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

/// The sum (or largest, or smallest) over all cores, the same on every core. A replicated operand
/// is refused: its sum would depend on the number of cores.
Tensor all_reduce(const Tensor& x, Reduction reduction = Reduction::add);

/// max(x, 0).
Tensor relu(const Tensor& x);
/// Numerically safe log(softmax(x)) over the last axis.
Tensor log_softmax(const Tensor& x);
/// labels i32 or i64 [n] in 0..classes-1 -> [n, classes]; a label outside gives a row of zeros.
Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype = DType::f32);
/// Index of the largest value over the last axis; the first of equals; the axis' extent when there
/// is a NaN. i32.
Tensor argmax(const Tensor& x);

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
