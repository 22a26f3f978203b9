#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/graph/op.h"
#include "executor/tensor/bfloat16.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// Maxima over windows of channels-last images [batch, rows, columns, channels]: many channels at a
/// time, all of a window's elements in registers.
struct ChannelPool {
    std::int64_t batch = 1, rows = 1, columns = 1, channels = 1;
    WindowDimension row_window, column_window;
    std::int64_t row_positions = 1, column_positions = 1;
};

/// The pool of an operand [batch, rows, columns, channels]; nothing for other ranks, windows over
/// batch or channels, and gaps.
std::optional<ChannelPool> channel_pool_of(const Dims& operand,
                                           const std::vector<WindowDimension>& window,
                                           const Dims& result);

/// Whether windows lie side by side and every element is in one of them.
bool covers_once(const ChannelPool& pool);

/// to = the largest of each window; a NaN is the largest. Every window sees an element. T: float or
/// BFloat16.
template <class T>
void largest_of_windows(const ChannelPool& pool, const T* from, T* to);

/// to = each source element where its window has its first largest element, 0 elsewhere. For pools
/// that cover once. T: float or BFloat16.
template <class T>
void move_to_largest(const ChannelPool& pool, const T* input, const T* source, T* to);

/// to = each source element added where its window has its first largest element.
void add_to_largest(const ChannelPool& pool, const float* input, const float* source, float* to);

}    // namespace slipway
