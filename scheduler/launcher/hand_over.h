#pragma once

#include <sys/types.h>

#include <filesystem>

namespace slipway {

/// Gives `path` and all below it to the user, links themselves and not what they name. Does nothing
/// when the path is the user's already. What is in the tree is only ever reached from the folder
/// that holds it, so it may be moved or replaced meanwhile: nothing outside of the tree is given.
/// The folders above `path` are trusted.
/// errors  throws unavailable for a file that has other names, too, which may be outside of the
/// tree,
///         for a device, and for folders nested deeper than 128
void hand_over(const std::filesystem::path& path, uid_t user);

}    // namespace slipway
