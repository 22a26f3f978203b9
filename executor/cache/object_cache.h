#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/posix.h"

namespace slipway {

/// 128 bits that name what was compiled: a hash of its source and of every option.
struct CacheKey {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    bool operator==(const CacheKey&) const = default;
};

struct ObjectCacheOptions {
    std::filesystem::path folder;    ///< made when absent, mode 0700; its parent exists
    std::string environment;         ///< cache_environment(): part of every key
    std::int64_t bytes_max = std::int64_t(512) << 20;    ///< of all entries together
};

struct ObjectCacheCounts {
    std::int64_t hits = 0;
    std::int64_t misses = 0;
    std::int64_t damaged = 0;    ///< of the misses: an entry that was not whole; it was removed
    std::int64_t stored = 0;
    std::int64_t failed = 0;     ///< entries that could not be written: full disk, too large
    std::int64_t evicted = 0;    ///< removed to stay below bytes_max
};

/// The right to make an entry, for as long as it lives.
struct MakingTurn {
    UniqueFd lock;
    bool waited = false;    ///< for another process, which may have made the entry
};

/// Compiled code on disk, shared by all processes of one user on one machine: a file per key. An
/// entry is used only when its checksum holds and it was made by this build, compiler and kind of
/// CPU; a torn or changed file, or no room, means compiling again, never an error. Entries are
/// written aside and renamed; when there are too many, those unused for longest go.
/// The folder belongs to this user alone, because what lies in it is run.
/// Safe from every thread, and for any number of processes on the same folder.
class ObjectCache {
public:
    /// errors  throws permission_denied when the folder is a link, or not this user's own;
    ///         unavailable when it cannot be made, read or written
    explicit ObjectCache(ObjectCacheOptions options);

    /// The bytes stored under this key; none when there are none that are whole. Using an entry
    /// keeps it.
    std::optional<std::string> find(const CacheKey& key);
    /// Keeps the bytes for later finds, of this process and others. An entry of the same key is
    /// replaced. What goes wrong is counted and otherwise nobody's business.
    void store(const CacheKey& key, std::string_view bytes);

    /// For who makes an entry that was not found: processes that begin together compile a kernel
    /// once. Waits while another one makes it, but no longer than two seconds; then, or where no
    /// lock can be had, none is held.
    MakingTurn take_turn(const CacheKey& key) const;

    ObjectCacheCounts counts() const;
    const std::filesystem::path& folder() const { return options_.folder; }

private:
    std::filesystem::path path_of(const CacheKey& key) const;
    std::string header(const CacheKey& key, std::string_view bytes) const;
    bool write_entry(const std::filesystem::path& path, std::string_view head,
                     std::string_view bytes);
    void make_room();

    const ObjectCacheOptions options_;
    const std::string environment_hash_;
    // Synchronise themselves.
    std::atomic<std::int64_t> bytes_{0};    // about: other processes' entries show at a sweep
    std::atomic<std::int64_t> stores_{0};
    std::atomic<std::int64_t> hits_{0}, misses_{0}, damaged_{0}, stored_{0}, failed_{0},
        evicted_{0};
};

}    // namespace slipway
