#pragma once

#include <cstdint>
#include <filesystem>

namespace slipway::store {

/// How large the log of the private cluster gets, and what is kept of it then.
struct LogLimit {
    std::uint64_t bytes_max = std::uint64_t{16} << 20;
    std::uint64_t bytes_kept = std::uint64_t{1} << 20;
};

/// Cuts a log above `bytes_max` down to the last whole lines of `bytes_kept`. The file stays the
/// same one, so whoever appends to it goes on; lines written meanwhile may be lost. Nothing but a
/// regular file of one name is touched: as root, the folder is another user's. No file is fine.
/// errors  throws Error{unavailable} when it can be neither read nor cut
void limit_log(const std::filesystem::path& path, const LogLimit& limit = {});

}    // namespace slipway::store
