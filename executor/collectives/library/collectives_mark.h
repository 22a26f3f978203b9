#pragma once

#include <string_view>

namespace slipway {

/// The build id of the library of collectives that belongs to this program: written while it is
/// built.
std::string_view collectives_mark();

}    // namespace slipway
