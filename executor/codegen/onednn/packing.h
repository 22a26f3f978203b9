#pragma once

#include "executor/codegen/onednn/library_kernel.h"
#include "executor/codegen/onednn/primitive.h"

namespace slipway::onednn {

/// What brings the plain operand into the layout that is wanted (`is_read`), or back. A large one
/// comes in parts, one an element.
Packing make_packing(const dnnl::engine& engine, const Operand& operand, bool is_read, int workers);

}    // namespace slipway::onednn
