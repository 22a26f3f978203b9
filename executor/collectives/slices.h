#pragma once

#include <cstddef>
#include <span>

namespace slipway {

/// Slices begin on multiples of so many elements: no cache line is of two ranks.
inline constexpr std::size_t slice_alignment = 64;

/// The slice of `values`, of `size` bytes an element, that rank `rank` of `ranks` adds up: each is
/// at most slice_alignment elements longer than its equal part.
template <class T>
std::span<T> slice_of(std::span<T> values, std::size_t size, std::size_t rank, std::size_t ranks) {
    const std::size_t elements = values.size() / size;
    const auto bound = [&](std::size_t part) {
        return part == ranks ? elements
                             : elements * part / ranks / slice_alignment * slice_alignment;
    };
    return values.subspan(bound(rank) * size, (bound(rank + 1) - bound(rank)) * size);
}

}    // namespace slipway
