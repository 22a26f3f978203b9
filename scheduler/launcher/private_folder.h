#pragma once

#include <filesystem>

namespace slipway {

/// Makes the folder (mode 0700) when absent; its parents are open to pass through, not to be
/// listed.
/// errors  throws exhausted, unavailable
void make_private_folder(const std::filesystem::path& folder);

}    // namespace slipway
