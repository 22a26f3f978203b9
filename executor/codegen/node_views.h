#pragma once

#include <optional>

#include "executor/codegen/kernels/view.h"
#include "executor/graph/tensor.h"

namespace slipway {

/// An op that only looks at its operand in another way.
bool is_view(const Node& node);

/// The result of a view op, given how its operand lies; nothing when no strides can say it.
std::optional<View> view_of(const Node& node, const View& operand);

/// The node below all views.
const Tensor& source_of(const Tensor& tensor);

/// How `tensor` lies in a source that lies dense; nothing when no strides can say it.
std::optional<View> view_of_source(const Tensor& tensor);

/// Whether the operand is all of its source, element by element in row-major order.
bool is_element_itself(const Tensor& operand);

/// The elements in each row, when the operand repeats each element of its source along a row;
/// 0 otherwise.
std::int64_t row_elements_of(const Tensor& operand);

/// Whether the operand repeats a vector, one number for each channel, over one image. It looks as
/// if each channel were a row. But images are channels-last wherever convolutions are, so such a
/// row would be walked across all other channels.
bool is_by_channel_of_one(const Tensor& operand);

}    // namespace slipway
