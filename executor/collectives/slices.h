#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/runtime/element_range.h"

namespace slipway {

/// The slice of `values`, of `size` bytes an element, that rank `rank` of `ranks` adds up: each is
/// at most line_alignment elements longer than its equal part.
inline std::span<std::byte> slice_of(std::span<std::byte> values, std::size_t size,
                                     std::size_t rank, std::size_t ranks) {
    const ElementRange slice =
        part_of({0, std::int64_t(values.size() / size)}, int(rank), int(ranks));
    return values.subspan(std::size_t(slice.begin) * size, std::size_t(slice.count()) * size);
}

}    // namespace slipway
