// The log is the file and nothing else: one JSON object per line, numbered from 1 without gaps,
// appended by one write() each. A frame is on file before it is sent, so an agent that was away
// reads on from the number it had (frame_channel.h), and a frame that was sent twice is recognised
// by its number. The database's row of an attempt names the last number that was relayed. A queue
// in memory was no choice: a run may be alone for a minute, and a killed process would lose it.
// Frames are not synced to the disk: they survive the process, not a loss of power, which ends the
// attempt anyway.
//
// What the functions keep: behind the last whole line are no bytes when a new line is written. A
// write that fails half way is cut off at once, or before the next line where the disk does not let
// it; a torn line of a killed process is cut off when the file is opened again, and its number is
// given again.

#include "executor/main/frames/frame_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "api/base/check.h"
#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::string_view opening = "{\"n\":";
constexpr std::size_t read_chunk_bytes = 1 << 20;

std::string to_line(std::int64_t number, Instant time, const Json& frame) {
    check(frame.is_object() && !frame.empty(), "a frame is an object with a type");
    // Users' texts may hold any bytes; a frame must still be valid UTF-8.
    const std::string body = frame.dump(-1, ' ', false, Json::error_handler_t::replace);
    return fmt::format("{}{},\"time\":\"{}\",{}\n", opening, number, to_rfc3339(time),
                       std::string_view(body).substr(1));
}

}    // namespace

FrameLog::FrameLog(const std::filesystem::path& file, const Clock& clock)
    : path_(file),
      clock_(clock),
      file_(open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (!file_) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot open {}: {}", file.string(), std::strerror(errno))};
    }
    continue_older();
}

void FrameLog::continue_older() {
    struct stat found {};
    if (fstat(file_.get(), &found) == 0 && found.st_size == 0) return;
    for (std::string lines = read_lines(0, read_chunk_bytes); !lines.empty();
         lines = read_lines(bytes_, read_chunk_bytes)) {
        bytes_ += std::int64_t(lines.size());
        const std::size_t before_last = lines.rfind('\n', lines.size() - 2);
        const std::size_t start = before_last == std::string::npos ? 0 : before_last + 1;
        last_number_ = frame_number(std::string_view(lines).substr(start)).value_or(last_number_);
    }
    torn_ = fstat(file_.get(), &found) == 0 && found.st_size > bytes_;
    cut_torn_line();
}

/// Bytes behind the last whole line would make the next one unreadable: nothing is written before
/// they are gone. A disk that cannot cut them now may do so for the last frame.
void FrameLog::cut_torn_line() {
    if (!torn_) return;
    if (ftruncate(file_.get(), bytes_) != 0) {
        throw Error{ErrorCode::unavailable, fmt::format("cannot cut the torn last line of {}: {}",
                                                        path_.string(), std::strerror(errno))};
    }
    torn_ = false;
}

void FrameLog::emit(const Json& frame) {
    const std::scoped_lock lock(mutex_);
    cut_torn_line();
    const std::string line = to_line(last_number_ + 1, clock_.now(), frame);
    ssize_t wrote = 0;
    do {
        wrote = write(file_.get(), line.data(), line.size());
    } while (wrote < 0 && errno == EINTR);
    if (wrote != ssize_t(line.size())) {
        const int reason = wrote < 0 ? errno : ENOSPC;
        torn_ = wrote > 0;
        cut_torn_line();
        throw Error{ErrorCode::exhausted,
                    fmt::format("cannot write {}: {}", path_.string(), std::strerror(reason))};
    }
    bytes_ += wrote;
    ++last_number_;
}

std::string FrameLog::read_lines(std::int64_t offset, std::size_t bytes_max) const {
    std::string text(bytes_max, '\0');
    ssize_t got = 0;
    do {
        got = pread(file_.get(), text.data(), text.size(), offset);
    } while (got < 0 && errno == EINTR);
    text.resize(got < 0 ? 0 : std::size_t(got));
    const std::size_t last = text.rfind('\n');
    text.resize(last == std::string::npos ? 0 : last + 1);
    return text;
}

std::int64_t FrameLog::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

std::int64_t FrameLog::last_number() const {
    const std::scoped_lock lock(mutex_);
    return last_number_;
}

std::optional<std::int64_t> frame_number(std::string_view line) {
    if (!line.starts_with(opening)) return std::nullopt;
    const std::string_view digits = line.substr(opening.size());
    std::int64_t number = 0;
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc{} || end == digits.data() + digits.size() || *end != ',') {
        return std::nullopt;
    }
    return number;
}

}    // namespace slipway
