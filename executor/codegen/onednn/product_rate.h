#pragma once

#include "executor/tensor/dtype.h"

namespace slipway {

/// How fast the library multiplies on this machine: multiplications and additions per second of
/// large square products of the dtype (f32, bf16 with f32 sums), one on each of `threads` threads
/// at once; the best of several. 0 when the library does not offer it.
double measure_product_rate(DType dtype, int threads);

}    // namespace slipway
