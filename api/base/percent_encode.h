#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// For a part of a URL's path or query (RFC 3986): all but letters, digits and -._~ as %XX.
std::string percent_encode(std::string_view text);

}    // namespace slipway
