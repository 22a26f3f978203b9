#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/base/posix.h"
#include "api/protocol/frames.h"
#include "scheduler/store/relay.h"

namespace slipway {

/// One line of frames.ndjson, understood.
struct ReadFrame {
    store::RelayedFrame frame;
    std::optional<DoneFrame> done;
};

/// Translates one line; none when it is no numbered frame. Whatever is wrong inside a numbered
/// frame leaves a warning event instead of its content: the number always counts on. Pure, except
/// that a checkpoint gets a new id.
std::optional<ReadFrame> read_frame(std::string_view line);

/// Follows frames.ndjson of one attempt from the frame after `after` on. One thread.
class FrameTail {
public:
    FrameTail(std::filesystem::path file, std::int64_t after);

    /// The next whole lines, at most `frames_max`; the same ones again until advance() is called.
    /// Empty: nothing new, unless has_more(). A torn last line is left for later. Reads at most
    /// peek_bytes_max, so that a file without new frames, of whatever size, takes several turns.
    const std::vector<ReadFrame>& peek(std::size_t frames_max = 500);
    /// The last peek() ended before the file did.
    bool has_more() const { return has_more_; }
    /// Bytes read so far.
    std::int64_t offset() const { return offset_; }
    /// The peeked frames are stored.
    void advance();
    std::int64_t last_number() const { return last_number_; }
    /// What a frame said that was stored before, as far as peek() has read: whoever stored it may
    /// have ended before it acted on it.
    const std::optional<DoneFrame>& done_before() const { return done_before_; }

    static constexpr std::int64_t peek_bytes_max = 4 << 20;

private:
    std::int64_t find_end();
    std::string read_lines();
    void take_line(std::string_view line);

    std::filesystem::path path_;
    UniqueFd file_;
    std::int64_t offset_ = 0;         // behind the last peeked line
    std::int64_t last_number_ = 0;    // of the last peeked frame
    std::vector<ReadFrame> peeked_;
    bool has_more_ = false;
    std::optional<DoneFrame> done_before_;
};

}    // namespace slipway
