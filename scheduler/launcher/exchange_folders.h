#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

namespace slipway {

/// A folder, whatever name it has at the moment.
struct FolderId {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const FolderId&) const = default;
};

/// errors  throws unavailable when there is no folder of that name
FolderId folder_id(const std::filesystem::path& path);

/// A file that goes with its folder instead of staying where it is.
struct KeptFile {
    std::string_view name;
    bool when_empty = false;    ///< only while it has no bytes
};

/// Of a folder that is to be replaced, with all below it. An executor could make any number.
inline constexpr int exchanged_entries_max = 4096;

/// Puts the folder `fresh`, which is empty, in the place of the folder `target` with all that
/// `target` holds, and leaves the folder that was there, empty, in the place of `fresh`. Each file
/// has its path at each moment; only a walk along the path that was in the old folder when they
/// changed places, and goes on after the old names went, finds nothing: who reads or removes below
/// `target` believes "no such file" after a second walk. What may be done below `fresh`
/// (the rules of Landlock go with a folder, not with its name) may be done below `target` from then
/// on, and what was allowed there before is no longer. Both are of one file system.
/// `expected`: the folder that must stand at `target`.
/// `kept`: regular files and sockets directly in `target` that leave with the folder that was
/// there.
/// errors  throws unavailable with the path and the system's reason, also when `target` holds too
///         much, and when somebody has put another folder there; what had begun is undone, or both
///         folders are to be given up
void exchange_folders(const std::filesystem::path& fresh, const std::filesystem::path& target,
                      const std::optional<FolderId>& expected = std::nullopt,
                      std::span<const KeptFile> kept = {});

/// Gives a folder another name. False when something has that name; then nothing has changed.
/// errors  throws unavailable
bool move_folder(const std::filesystem::path& from, const std::filesystem::path& to);

/// As move_folder, of the folder `expected` and only while it is empty: false when it is not, or is
/// another one.
/// errors  throws unavailable, also when somebody writes to it at this moment: both folders are to
///         be given up
bool move_empty_folder(const std::filesystem::path& from, const std::filesystem::path& to,
                       const FolderId& expected);

}    // namespace slipway
