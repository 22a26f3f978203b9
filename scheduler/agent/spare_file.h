#pragma once

#include <filesystem>
#include <string>

namespace slipway {

/// Writes `text` over the beginning of the file `spare`, which exists, and gives it the name
/// `path`: a reader sees the old file of that name or the new one. To make a file costs many times
/// as much. False when there is no such regular file or it cannot be written; then it may be
/// damaged, and nothing has changed at `path`.
bool write_over_spare(const std::filesystem::path& spare, const std::filesystem::path& path,
                      const std::string& text);

}    // namespace slipway
