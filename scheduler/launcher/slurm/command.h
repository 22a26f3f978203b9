#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace slipway {

/// What a short program said and how it ended.
struct CommandResult {
    int status = 0;    ///< its exit code, or 128 + the signal
    std::string output;
    std::string error;         ///< its stderr
    bool timed_out = false;    ///< it was ended, since it took longer than it may
    bool good() const { return status == 0 && !timed_out; }
};

struct CommandOptions {
    std::string input = {};                                 ///< its stdin
    std::chrono::milliseconds limit{5000};                  ///< then it is killed
    std::size_t output_bytes_max = std::size_t{8} << 20;    ///< more is read and dropped
};

/// Runs a program found on PATH with few of our environment variables, and waits for it. Messages
/// are in English and times in UTC. Safe from every thread. errors  throws unavailable when it
/// cannot be started
CommandResult run_command(const std::vector<std::string>& words,
                          const CommandOptions& options = {});

}    // namespace slipway
