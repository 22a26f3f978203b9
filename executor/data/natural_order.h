#pragma once

#include <string_view>

namespace slipway {

/// Whether `a` comes before `b` when runs of digits count as numbers: "day_2" before "day_10".
/// Names of one value ("7", "007") are ordered by their bytes.
bool comes_before(std::string_view a, std::string_view b);

}    // namespace slipway
