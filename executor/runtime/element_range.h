#pragma once

#include <cstdint>

namespace slipway {

struct ElementRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const { return end - begin; }
    bool operator==(const ElementRange&) const = default;
};

/// Bounds on multiples of so many elements: no cache line has two writers.
inline constexpr std::int64_t line_alignment = 64;

/// Part `part` of `parts` of a range, each about as large, between bounds on multiples of
/// `alignment` from its begin.
inline ElementRange part_of(const ElementRange& range, int part, int parts,
                            std::int64_t alignment = line_alignment) {
    const auto bound = [&](int number) {
        return number == parts
                   ? range.end
                   : range.begin + range.count() * number / parts / alignment * alignment;
    };
    return {bound(part), bound(part + 1)};
}

}    // namespace slipway
