#pragma once

#include <string_view>

namespace slipway::store {

/// True when an address of a database (a URL or key=value text, well-formed or not) may hold a
/// password: it is then neither a command line's nor a message's.
bool may_hold_password(std::string_view address);

}    // namespace slipway::store
