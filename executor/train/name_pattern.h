#pragma once

#include <string_view>

namespace slipway {

/// Whether a name, such as "layer1.0.conv1.weight", is one that `pattern` means: letter by letter,
/// where * stands for any text, dots and nothing included.
bool matches(std::string_view pattern, std::string_view name);

}    // namespace slipway
