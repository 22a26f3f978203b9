#pragma once

#include <cstdint>
#include <string>

#include "api/base/log.h"

namespace slipway {

/// A log file of bounded size. When a line would make it larger than `bytes_max`, it is renamed to
/// `path`.1, the file of that name to `path`.2 and so on; `old_files_max` of them are kept.
struct LogFileOptions {
    std::string path;    ///< made with mode 0640; an older one is given that mode
    std::uint64_t bytes_max = std::uint64_t{64} << 20;
    int old_files_max = 4;
};

/// As start_logging of log.h, into such a file, and to stderr where somebody reads it: a terminal,
/// a pipe, a service manager's socket. Not when stderr is a file, which nobody rotates. Called
/// once, by a main.
/// errors  throws unavailable when the file cannot be opened
void start_logging(LogLevel least, const LogFileOptions& file);

/// Opens the log file again by its name: a program that rotates logs has renamed it. When that
/// fails, lines go on into the renamed file, and a line says so. Does nothing without a file.
/// From any thread, not from a signal's handler.
void reopen_log();

}    // namespace slipway
