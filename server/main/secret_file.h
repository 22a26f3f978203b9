#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/base/posix.h"

namespace slipway {

/// Opens a file that holds a secret. What is checked is what is read: the open file, whatever its
/// name means later.
/// errors  throws invalid_argument naming `option` and what to do: it cannot be read, is no file,
/// is
///         not ours or root's, or is open to other users
UniqueFd open_secret_file(std::string_view option, const std::string& path);

/// Its text without the blanks around it; empty when there is none, or more than `bytes_max`.
/// errors  as open_secret_file
std::string read_secret_file(std::string_view option, const std::string& path,
                             std::size_t bytes_max);

}    // namespace slipway
