#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/json.h"
#include "api/base/posix.h"

namespace slipway {

/// The numbered frames of one attempt, one JSON object per line of frames.ndjson: what was said is
/// on file before anybody hears it. Safe from every thread.
class FrameLog {
public:
    /// Opens or makes the file. An older one is continued: its torn last line is cut off, its last
    /// number counts on.
    /// errors  throws unavailable when the file cannot be opened or its torn line not be cut off
    FrameLog(const std::filesystem::path& file, const Clock& clock);

    /// Numbers and stamps the frame ("n", "time") and appends it with one write.
    /// errors  throws exhausted when the disk is full, and unavailable when what was written of a
    ///         frame cannot be cut off again: then the next call tries that first
    void emit(const Json& frame);

    /// Reads from byte `offset` on: at most `bytes_max` bytes, cut to whole lines.
    std::string read_lines(std::int64_t offset, std::size_t bytes_max) const;

    std::int64_t bytes() const;          ///< the file's length
    std::int64_t last_number() const;    ///< 0 when nothing was said
    const std::filesystem::path& file() const { return path_; }

private:
    void continue_older();
    void cut_torn_line();

    const std::filesystem::path path_;
    const Clock& clock_;    // outlives us: the main's
    const UniqueFd file_;
    mutable std::mutex mutex_;
    std::int64_t bytes_ = 0;          // guarded by mutex_
    std::int64_t last_number_ = 0;    // guarded by mutex_
    bool torn_ = false;               // guarded by mutex_: bytes of a broken line are at the end
};

/// The number of a line that FrameLog wrote; none for anything else. The line need not be parsed:
/// it always begins with {"n":
std::optional<std::int64_t> frame_number(std::string_view line);

}    // namespace slipway
