#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/tensor/dtype.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// left^T times right, of the rows of all cores, one core's after the other's.
struct StackedRows {
    std::int64_t rows = 0;                     ///< of all cores
    std::int64_t features = 0, columns = 0;    ///< of the left and of the right matrix
    /// 0: both matrices are gathered before; else the cores, each of which has its rows of the left
    /// one, and a block copies the features that it needs.
    std::int64_t left_cores = 0;
    DType operands = DType::f32;
    DType results = DType::f32;
};

struct StackedProduct {
    /// Call: reads left [rows, features] and right [rows, columns], dense, or those of every core,
    /// of which the first one has them; with left_cores the left rows of every core come first.
    /// writes[0] = the product, writes[1] = scratch memory for all workers. Computes begin..end of
    /// `elements`, whose bits do not depend on how they are cut.
    LibraryKernel kernel;
    std::int64_t elements = 0;    ///< blocks of features
};

/// A gradient of weights over all cores as one product, in two steps.
struct StackedGradient {
    /// Call: reads = what every core has for the left matrix, then for the right one; writes[0] =
    /// the left matrix, writes[1] = the right one. Computes cores begin..end. Without `left` it
    /// reads and writes the right one alone, and the product reads what every core has. Empty: the
    /// product reads what every core has for both, and the shapes mean nothing.
    Kernel gather;
    std::optional<Shape> left;
    Shape right;
    StackedProduct product;
};

/// lying  how so many features of the product lie in the order in which they are wanted; dense, or
///        empty: as they are made
/// returns nothing where the library does not take it
std::optional<StackedProduct> make_stacked_product(
    const StackedRows& stacked, const std::function<View(std::int64_t features)>& lying,
    int workers);

}    // namespace slipway
