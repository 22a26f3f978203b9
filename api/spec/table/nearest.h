#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace slipway {

/// The candidate that whoever wrote `word` most likely meant: few typing errors away (letters
/// swapped, missing, extra or wrong), a longer or shorter form of the same word, or its initials
/// ("learning_rate" for "lr"). None when nothing is near.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}    // namespace slipway
