#pragma once

#include <string>
#include <string_view>

namespace slipway {

/// The release, as CMakeLists.txt has it: "0.1.0".
std::string_view release_version();

/// The commit that the program was built from, in 12 digits; "unknown" outside a clone. It has an
/// object file of its own: a program that does not name its commit, as the executor, keeps its
/// build id while its sources stay the same.
std::string_view source_commit();

/// What a program prints for --version: "slipwayd 0.1.0 (0123456789ab)".
std::string version_text(std::string_view program);

}    // namespace slipway
