#pragma once

#include <string>
#include <vector>

#include "executor/codegen/lowering.h"
#include "executor/codegen/stacked_product.h"

namespace slipway {

/// The two steps of a gradient that is one product of what all cores have, as people read them.
struct StackedNames {
    std::string gather;     ///< what lies one core's after the other's: "patches"
    std::string product;    ///< the operation: "convolution"
};

/// Emits them in the stage of a batched node.
///   reads  what a core has for the left and for the right matrix; it keeps both until then
///   order  of the result's dimensions as the product leaves them
void emit_stacked(Lowering& lowering, const Tensor& tensor, StackedGradient gradient,
                  const std::vector<BufferId>& reads, const StackedNames& names, const Dims& order);

}    // namespace slipway
