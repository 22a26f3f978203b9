#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// Where a host keeps the content hashes of files that it has read, so that it reads them once as
/// long as they stay as they are.
struct ContentMemory {
    std::filesystem::path folder = {};        ///< made when absent; empty: nothing is kept
    std::chrono::seconds settled_after{2};    ///< as in SharingOptions
};

/// The hash of hash_content() for files that were opened at `opened_since` or later. Files are not
/// read when their names, sizes, inodes and times are those of an earlier call on this host.
/// errors  not_found, unavailable
std::string find_content_hash(const std::filesystem::path& path,
                              const std::vector<std::string>& files, int threads,
                              const ContentMemory& memory, Instant opened_since);

/// Keeps the hash of files that were all read at `opened_since` or later, unless one of them was
/// changed since. What cannot be kept is read again.
void keep_content_hash(const std::filesystem::path& path, const std::vector<std::string>& files,
                       const std::string& hash, const ContentMemory& memory, Instant opened_since);

}    // namespace slipway
