#include "scheduler/store/cluster/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "api/base/error.h"
#include "api/base/posix.h"

// As root, PostgreSQL's programs run as its own user. Everything that the child needs is made
// before fork, since after it only async-signal-safe calls are allowed; the child gives up root,
// closes what is ours and becomes the program. When it cannot, it writes errno into a pipe, so the
// caller's error has the system's reason.
namespace slipway::store {

namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr int cannot_start = 127;

/// What the child needs, made before fork: after it only async-signal-safe calls are allowed.
struct Plan {
    std::vector<char*> words;
    std::vector<char*> environment;
    const Account* account;
    int input;
    int output;
    int report;    ///< errno goes here when the program cannot be started
    bool dies_with_us;
    pid_t parent;
};

bool become(const Account& account) {
    return setgroups(account.groups.size(), account.groups.data()) == 0 &&
           setgid(account.gid) == 0 && setuid(account.uid) == 0;
}

[[noreturn]] void give_up(const Plan& plan) {
    const int reason = errno;
    // Nobody is left to tell when even this fails.
    if (::write(plan.report, &reason, sizeof reason) < 0) _exit(cannot_start);
    _exit(cannot_start);
}

[[noreturn]] void become_program(const Plan& plan) {
    for (int signal = 1; signal < NSIG; ++signal)
        ::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setsid();
    umask(077);
    if (chdir("/") != 0 || dup2(plan.input, 0) < 0 || dup2(plan.output, 1) < 0 ||
        dup2(plan.output, 2) < 0) {
        give_up(plan);
    }
    // Linux 5.11. Before it what is open has been opened so that it ends here.
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (plan.account && !become(*plan.account)) give_up(plan);
    // After the change of user, which would clear it.
    if (plan.dies_with_us) {
        prctl(PR_SET_PDEATHSIG, SIGQUIT);
        if (getppid() != plan.parent) _exit(cannot_start);
    }
    execve(plan.words[0], plan.words.data(), plan.environment.data());
    give_up(plan);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

[[noreturn]] void fail_to_start(const std::string& what, int reason) {
    throw Error{ErrorCode::exhausted,
                fmt::format("cannot start {}: {}", what, std::strerror(reason))};
}

UniqueFd open_input(const Command& command) {
    const fs::path path = command.input.empty() ? fs::path("/dev/null") : command.input;
    UniqueFd input(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!input) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot read {}: {}", path.string(), std::strerror(errno))};
    }
    return input;
}

UniqueFd open_output(const Command& command) {
    const fs::path path = command.output.empty() ? fs::path("/dev/null") : command.output;
    UniqueFd output(
        open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!output) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
    }
    return output;
}

int exit_code(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Without a handle, for want of descriptors: asks again and again.
bool look_until_end(pid_t pid, milliseconds timeout) {
    constexpr milliseconds pause{20};
    for (milliseconds waited{0};; waited += pause) {
        waitpid(pid, nullptr, WNOHANG);    // fails for a process that is not our child: fine
        if (kill(pid, 0) != 0 && errno == ESRCH) return true;
        if (waited >= timeout) return false;
        poll(nullptr, 0, int(pause.count()));
    }
}

int wait_for_child(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return exit_code(status);
}

}    // namespace

std::optional<Account> postgres_account() {
    if (geteuid() != 0) return std::nullopt;
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 4096> buffer{};
    getpwnam_r("postgres", &entry, buffer.data(), buffer.size(), &found);
    if (!found) {
        throw Error{ErrorCode::invalid_argument,
                    "started as root, the private PostgreSQL runs as the user postgres, who does "
                    "not exist: install the package postgresql, or start slipwayd as another user, "
                    "or use --database"};
    }
    Account account{"postgres", entry.pw_uid, entry.pw_gid, {}};
    int count = 64;
    account.groups.resize(std::size_t(count));
    getgrouplist("postgres", account.gid, account.groups.data(), &count);
    account.groups.resize(std::size_t(std::clamp(count, 0, 64)));
    return account;
}

pid_t start_process(const Command& command) {
    std::vector<std::string> words = command.words;
    std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"};
    environment.insert(environment.end(), command.environment.begin(), command.environment.end());
    const UniqueFd input = open_input(command);
    const UniqueFd output = open_output(command);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_to_start(words[0], errno);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    const Plan plan{.words = pointers(words),
                    .environment = pointers(environment),
                    .account = command.account ? &*command.account : nullptr,
                    .input = input.get(),
                    .output = output.get(),
                    .report = writer.get(),
                    .dies_with_us = command.dies_with_us,
                    .parent = getpid()};
    const pid_t pid = fork();
    if (pid == 0) become_program(plan);
    if (pid < 0) fail_to_start(words[0], errno);
    writer.reset();
    int reason = 0;
    ssize_t got = 0;
    do {
        got = ::read(reader.get(), &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    if (got == ssize_t(sizeof reason)) {
        wait_for_child(pid);
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot start {}: {}", words[0], std::strerror(reason))};
    }
    return pid;
}

int run_process(const Command& command) {
    return wait_for_child(start_process(command));
}

std::optional<int> open_process(pid_t pid) {
    const long fd = syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) return std::nullopt;
    return int(fd);
}

bool wait_for_end(pid_t pid, milliseconds timeout) {
    const std::optional<int> handle = open_process(pid);
    if (!handle) return errno == ESRCH || look_until_end(pid, timeout);
    const UniqueFd owner(*handle);
    pollfd entry{*handle, POLLIN, 0};
    int ready = 0;
    do {
        ready = poll(&entry, 1, int(timeout.count()));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) return false;
    waitpid(pid, nullptr, WNOHANG);    // fails for a process that is not our child: fine
    return true;
}

std::optional<fs::path> first_closed_folder(const fs::path& path, const Account& account) {
    std::vector<fs::path> folders;
    for (fs::path folder = fs::absolute(path); folder != folder.parent_path();
         folder = folder.parent_path()) {
        folders.insert(folders.begin(), folder);
    }
    // Asked in a child that is the account: groups, access lists and mounts are the kernel's to
    // judge, not ours.
    const pid_t pid = fork();
    if (pid == 0) {
        if (!become(account)) _exit(cannot_start);
        for (std::size_t i = 0; i < folders.size(); ++i) {
            if (access(folders[i].c_str(), X_OK) != 0 && errno == EACCES) _exit(int(i) + 1);
        }
        _exit(0);
    }
    if (pid < 0) fail_to_start("a process that looks at folders", errno);
    const int code = wait_for_child(pid);
    if (code <= 0 || std::size_t(code) > folders.size()) return std::nullopt;
    return folders[std::size_t(code) - 1];
}

}    // namespace slipway::store
