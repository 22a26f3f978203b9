#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// `text` with its ASCII letters in lower case: endings of file names, words.
std::string in_lower_case(std::string_view text);

}    // namespace slipway
