#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// ASCII letters only, whatever the locale: words of protocols, options and file names.
std::string lower_case(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

}    // namespace slipway
