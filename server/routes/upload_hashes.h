#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/base/sha256.h"

namespace slipway {

/// The SHA-256 of uploads, computed from the bytes as they arrive, so that `complete` has it at
/// once: computed there, 24 wrong checksums of 600 MB kept every worker busy for 13 s. What has
/// arrived before this process started is not known: its hash is read from the file once, one file
/// at a time. Safe from every thread; the parts of one upload come one after the other.
class UploadHashes {
public:
    /// A part was written from `offset` on. Anything but the next bytes makes the hash unknown.
    void add(const std::string& upload_id, std::uint64_t offset, std::string_view bytes);

    /// The digest of the first `size` bytes, in lower-case hexadecimal; none when not all of them
    /// have passed here.
    std::optional<std::string> digest(const std::string& upload_id, std::uint64_t size);

    /// Remembers what was read from the file.
    void keep(const std::string& upload_id, std::uint64_t size, std::string digest);

    void forget(const std::string& upload_id);

    /// The right to read a whole file for its hash; none while another request has it.
    std::unique_lock<std::mutex> try_reading();

private:
    struct Entry {
        Sha256 hash;
        std::atomic<std::uint64_t> bytes{0};
        std::string digest;    // not empty: of `bytes` bytes, and `hash` is used up
    };

    std::mutex reading_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Entry>> entries_;    // guarded by mutex_
};

}    // namespace slipway
