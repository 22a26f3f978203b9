#include <cmath>

#include "executor/nn/layer_list/builders.h"

namespace slipway::layer_list {

namespace {

/// The longest wavelength, in positions and apart from 2 pi: that of "Attention is all you need".
constexpr double wavelength_max = 10000;
// A position is a float, which counts no further.
constexpr std::int64_t positions_max = 1 << 24;

/// [s, d]: sine(s / 10000^(2i/d)) in column 2i, the cosine of the same angle in column 2i + 1.
Tensor sinusoids(const Dims& dims) {
    const Shape shape{DType::f32, dims};
    // Which columns are odd is told by whole numbers, which no precision rounds: 257 is 256 in
    // bf16.
    const Tensor parity =
        remainder(iota({DType::i32, dims}, 1), broadcast(constant(2, DType::i32), dims));
    const Tensor is_odd = compare(parity, broadcast(constant(0, DType::i32), dims), Comparison::ne);
    const Tensor pair = floor(iota(shape, 1) * constant(0.5));
    const double decay = -2 * std::log(wavelength_max) / double(dims[1]);
    const Tensor angle = iota(shape, 0) * exponential(pair * constant(decay));
    return select(is_odd, cosine(angle), sine(angle));
}

}    // namespace

BuiltLayer build_sinusoidal_position(const LayerRequest& request) {
    const Dims& dims = request.input();
    if (dims.size() != 2)
        refuse(request, "a sequence [positions, features], as an embedding gives");
    if (dims[0] > positions_max) refuse(request, "at most 16777216 positions");
    return {forward_of([dims](const Tensor& x) {
                return x + broadcast_in_dim(sinusoids(dims), x.dims(), {1, 2});
            }),
            dims};
}

}    // namespace slipway::layer_list
