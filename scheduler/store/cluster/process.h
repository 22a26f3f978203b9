#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace slipway::store {

/// Whom a process runs as.
struct Account {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

/// The user that PostgreSQL runs as: `postgres` when we are root, ourselves (nothing) otherwise.
/// Throws Error{invalid_argument} with the way out when root finds no such user.
std::optional<Account> postgres_account();

struct Command {
    std::vector<std::string> words{};          ///< program with full path, then its arguments
    std::optional<Account> account{};          ///< nothing: as we are
    std::vector<std::string> environment{};    ///< NAME=value, beside PATH, LC_ALL and TZ
    std::filesystem::path input{};             ///< of stdin; empty: /dev/null
    std::filesystem::path output{};    ///< stdout and stderr are appended to it; empty: /dev/null
    bool dies_with_us = false;         ///< SIGQUIT when the calling thread ends: for tests only
};

/// Starts it in a session of its own, in the folder /, with a clean environment and signal mask,
/// and with no descriptor of ours but these.
/// Throws Error{unavailable} naming the program when it cannot be started, exhausted when we have
/// no descriptor or process left for it.
pid_t start_process(const Command& command);

/// Starts it and waits. Returns the exit code, or 128 + the signal.
int run_process(const Command& command);

/// A handle that becomes readable when the process ends; nothing when there is no such process, or
/// (errno says so) no descriptor for it.
std::optional<int> open_process(pid_t pid);

/// True when the process has ended (and, being our child, is reaped) within the time.
bool wait_for_end(pid_t pid, std::chrono::milliseconds timeout);

/// The first folder on the way to `path` (itself included) that the account cannot enter; nothing
/// when it can enter all. Folders that do not exist are passed.
std::optional<std::filesystem::path> first_closed_folder(const std::filesystem::path& path,
                                                         const Account& account);

}    // namespace slipway::store
