#pragma once

#include <filesystem>
#include <optional>

#include "api/base/posix.h"

namespace slipway {

/// A file that is written under a name of its own, with a lock that ends with its process: two
/// processes never write one, and what a killed one left behind is known by its free lock. Each
/// name belongs to whoever has the lock of the file that it means.

/// The file, empty and locked; none while another process has the lock.
/// errors  throws exhausted when the disk is full, unavailable
std::optional<UniqueFd> lock_unfinished(const std::filesystem::path& path);

/// Whether the open file is still what the name means: it may have been renamed or removed.
bool is_named(const UniqueFd& file, const std::filesystem::path& path);

/// Removes it when its process has ended.
void remove_abandoned(const std::filesystem::path& path);

/// errors  throws exhausted when errno says that the disk is full, else unavailable
[[noreturn]] void fail_writing(const std::filesystem::path& path);

}    // namespace slipway
