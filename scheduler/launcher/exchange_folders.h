#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace slipway {

/// A folder, whatever name it has at the moment.
struct FolderId {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FolderId&) const = default;
};

/// errors  throws unavailable when there is no folder of that name
FolderId folder_id(const std::filesystem::path& path);

/// Of a folder that is to be replaced, with all below it. An executor could make any number.
inline constexpr int exchanged_entries_max = 4096;

/// Puts the folder `fresh`, which is empty, in the place of the folder `target` with all that
/// `target` holds, and leaves the folder that was there, empty, in the place of `fresh`. Whoever
/// reads below `target` finds each file at each moment. What may be done below `fresh` (the rules
/// of Landlock go with a folder, not with its name) may be done below `target` from then on, and
/// what was allowed there before is no longer. Both are of one file system.
/// `expected`: the folder that must stand at `target`.
/// errors  throws unavailable with the path and the system's reason, also when `target` holds too
///         much, and when somebody has put another folder there; what had begun is undone, or both
///         folders are to be given up
void exchange_folders(const std::filesystem::path& fresh, const std::filesystem::path& target,
                      const std::optional<FolderId>& expected = std::nullopt);

}    // namespace slipway
