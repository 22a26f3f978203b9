#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>

#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "executor/checkpoint/safetensors.h"

namespace slipway {

/// A file that is complete on the disk, or not there: unless finish() has returned, it is removed.
class DurableFile {
public:
    /// Creates or empties `path`.
    /// errors  throws exhausted for a full disk, unavailable otherwise
    explicit DurableFile(std::filesystem::path path);
    ~DurableFile();
    DurableFile(const DurableFile&) = delete;
    DurableFile& operator=(const DurableFile&) = delete;

    void write(std::span<const std::byte> bytes);
    /// Brings everything to the disk and closes the file.
    WrittenFile finish();

private:
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };

    void put_out(std::span<const std::byte> bytes);

    std::filesystem::path path_;
    UniqueFd file_;
    Sha256 hash_;
    std::int64_t bytes_ = 0;
    std::unique_ptr<std::byte, Free> block_;    ///< what is not in the file yet
    std::size_t held_bytes_ = 0;
    bool is_direct_ = false;
    bool may_be_direct_ = true;
};

/// Brings the names in a folder to the disk: after a rename, before relying on it.
/// errors  throws as DurableFile
void sync_folder(const std::filesystem::path& folder);

}    // namespace slipway
