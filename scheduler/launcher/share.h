#pragma once

#include <sys/types.h>

#include <filesystem>

namespace slipway {

/// Lets the group of its owner read `path` with all below it, and pass through the folder that
/// holds it. Nothing changes its owner or its group, so who writes there goes on. Reached as
/// hand_over() reaches: by descriptors, through no link. What the owner of `path` does not own is
/// left out. Returns the group: who is to read joins it. errors  throws unavailable, also when the
/// group of `path` is not the one of its owner alone, which
///         has the owner's number
gid_t share_with_group(const std::filesystem::path& path);

}    // namespace slipway
