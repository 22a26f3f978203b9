#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "executor/codegen/triangular_analysis.h"

/// What is left of a product [batch, m, k] x [batch, k, n] when the upper half of a square matrix,
/// an operand or the result, is left out.
namespace slipway {

struct ProductPart {
    /// first..last-1.
    struct Range {
        std::int64_t first = 0, last = 0;
        std::int64_t count() const { return last - first; }
    };
    Range rows, columns, terms;
};

/// The parts of a dot_general, which together write all of its result that somebody reads, each
/// element once. One part, the whole product, where nothing is known of it.
std::vector<ProductPart> product_parts(const Tensor& product, const TriangularAnalysis& triangular);

}    // namespace slipway
