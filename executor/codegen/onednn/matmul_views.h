#pragma once

#include <optional>

#include "executor/codegen/onednn/matmul.h"

namespace slipway::onednn {

/// Strides as the library wants them: those of extents 1 carry no meaning, so they get one that
/// fits. Nothing when it would refuse the view or be slow.
std::optional<View> usable_view(const View& view);

struct MatmulViews {
    View lhs, rhs, result;
};

/// A product's sides, usable. A batch of one matrix becomes that matrix: the library packs no
/// other. Nothing when one is not, or the result does not lie by rows.
std::optional<MatmulViews> usable_views(const MatmulSpec& spec);

}    // namespace slipway::onednn
