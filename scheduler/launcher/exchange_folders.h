#pragma once

#include <filesystem>

namespace slipway {

/// Of a folder that is to be replaced, with all below it. An executor could make any number.
inline constexpr int exchanged_entries_max = 4096;

/// Puts the folder `fresh`, which is empty, in the place of the folder `target` with all that
/// `target` holds, and leaves the folder that was there, empty, in the place of `fresh`. Whoever
/// reads below `target` finds each file at each moment. What may be done below `fresh` (the rules
/// of Landlock go with a folder, not with its name) may be done below `target` from then on, and
/// what was allowed there before is no longer. Both are of one file system.
/// errors  throws unavailable with the path and the system's reason, also when `target` holds too
///         much; what had begun is undone, or both folders are to be given up
void exchange_folders(const std::filesystem::path& fresh, const std::filesystem::path& target);

}    // namespace slipway
