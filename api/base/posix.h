#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace slipway {

/// Owns one file descriptor and closes it.
class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept;
    ~UniqueFd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset();

private:
    int fd_ = -1;
};

/// A listening Unix stream socket `folder/name` for its owner alone, non-blocking; an old one is
/// replaced. The process's umask is another one for a moment. The path may be longer than the 108
/// bytes that an address holds. errors  throws unavailable with the path and the system's reason
UniqueFd listen_unix(const std::filesystem::path& folder, const std::string& name);

/// A non-blocking connection to `folder/name`; none when nobody listens there. Paths of any length.
std::optional<UniqueFd> connect_unix(const std::filesystem::path& folder, const std::string& name);

/// Sends the beginning of `text` that the socket takes without blocking, and erases it. False:
/// nothing more can be sent, since the other end is gone.
bool send_available(const UniqueFd& socket, std::string& text);

/// A non-blocking event that wakes a poll.
/// errors  throws unavailable when the process has no descriptor left
UniqueFd make_event();

/// When the process started, in clock ticks since boot (field 22 of /proc/PID/stat); none when it
/// does not exist or has ended. With the pid it names one process for as long as the machine runs.
std::optional<std::int64_t> process_start_ticks(pid_t pid);

/// Writes all of `text` to `path` beside it, then renames: a reader sees the old file or the new.
/// errors  throws exhausted when the disk is full, else unavailable
void write_file_aside(const std::filesystem::path& path, const std::string& text);

}    // namespace slipway
