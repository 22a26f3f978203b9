#include "scheduler/launcher/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "api/base/check.h"
#include "api/base/error.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr int lock_place = 3;

/// What an executor may know of our environment: nothing that could hold a secret.
constexpr std::array passed_on{"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH"};

UniqueFd open_pidfd(pid_t pid) {
    return UniqueFd(int(syscall(SYS_pidfd_open, pid, 0)));
}

std::vector<std::string> small_environment() {
    std::vector<std::string> environment;
    for (const char* name : passed_on) {
        const char* value = std::getenv(name);
        if (value != nullptr) environment.push_back(fmt::format("{}={}", name, value));
    }
    // Settings of the sanitizers belong to test runs, and only they have them.
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
        const char* value = std::getenv(name);
        if (value != nullptr) environment.push_back(fmt::format("{}={}", name, value));
    }
    return environment;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words)
        result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

/// posix_spawn's two lists, freed with the scope.
struct SpawnSettings {
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};

    SpawnSettings() {
        check(posix_spawn_file_actions_init(&actions) == 0, "spawn actions can be made");
        check(posix_spawnattr_init(&attributes) == 0, "spawn attributes can be made");
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
};

void add_files(SpawnSettings& settings, const SpawnRequest& request) {
    auto* actions = &settings.actions;
    constexpr int append = O_WRONLY | O_CREAT | O_APPEND;
    posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions, 2, request.output.c_str(), append, 0600);
    if (request.result.empty()) {
        posix_spawn_file_actions_adddup2(actions, 2, 1);
    } else {
        posix_spawn_file_actions_addopen(actions, 1, request.result.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }
    const bool locked = request.lock_fd >= 0;
    if (locked) posix_spawn_file_actions_adddup2(actions, request.lock_fd, lock_place);
    posix_spawn_file_actions_addclosefrom_np(actions, locked ? lock_place + 1 : lock_place);
    posix_spawn_file_actions_addchdir_np(actions, request.folder.c_str());
}

void add_signals(SpawnSettings& settings) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&settings.attributes, &none);
    posix_spawnattr_setsigdefault(&settings.attributes, &all);
    // A session of its own: neither our terminal's signals nor our group's reach it.
    posix_spawnattr_setflags(
        &settings.attributes,
        short(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

/// Field `number` (from 4 on, as in proc(5)) of a stat line after its command's name.
std::string_view field_after_name(std::string_view line, int number) {
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string_view::npos) return {};
    std::string_view rest = line.substr(bracket + 1);
    for (int field = 2; field < number; ++field) {
        const std::size_t space = rest.find(' ');
        if (space == std::string_view::npos) return {};
        rest.remove_prefix(space + 1);
    }
    return rest.substr(0, rest.find(' '));
}

bool lives_in_session(pid_t pid, std::string_view session) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    if (!std::getline(file, line)) return false;
    const std::string_view state = field_after_name(line, 3);
    return state != "Z" && state != "X" && field_after_name(line, 6) == session;
}

}    // namespace

RunningProcess spawn(const SpawnRequest& request) {
    SpawnSettings settings;
    add_files(settings, request);
    add_signals(settings);
    const fs::path& program = request.confinement ? request.confinement->confiner : request.program;
    const std::vector<std::string> rest =
        request.confinement
            ? confine_arguments(*request.confinement, request.program, request.arguments)
            : request.arguments;
    std::vector<std::string> arguments{program.string()};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    std::vector<std::string> environment = small_environment();
    pid_t pid = 0;
    const int problem = posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes,
                                    pointers(arguments).data(), pointers(environment).data());
    if (problem != 0) {
        throw Error{ErrorCode::unavailable,
                    fmt::format("cannot start {}: {}", program.string(), std::strerror(problem))};
    }
    // Not reaped yet, so its pid is still its own, even if it has ended already.
    RunningProcess process{.id = {.pid = pid}, .pidfd = open_pidfd(pid), .child = true};
    check(bool(process.pidfd), "a child has a pidfd");
    process.id.start_ticks = process_start_ticks(pid).value_or(0);
    return process;
}

std::optional<RunningProcess> open_process(ProcessId id) {
    if (id.pid <= 0) return std::nullopt;
    RunningProcess process{.id = id, .pidfd = open_pidfd(id.pid), .child = false};
    // The pidfd first, then the look: what it holds cannot change any more.
    if (!process.pidfd || process_start_ticks(id.pid) != id.start_ticks) return std::nullopt;
    return process;
}

std::optional<int> reap(const RunningProcess& process) {
    if (!process.child) return std::nullopt;
    siginfo_t info{};
    if (waitid(P_PIDFD, id_t(process.pidfd.get()), &info, WEXITED | WNOHANG) != 0) {
        return std::nullopt;
    }
    if (info.si_pid == 0) return std::nullopt;
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

void signal_group(const RunningProcess& leader, int signal) {
    check(leader.id.pid > 1, "a group has a leader");
    kill(-leader.id.pid, signal);
}

std::vector<pid_t> session_members(pid_t leader) {
    const std::string session = fmt::to_string(leader);
    std::vector<pid_t> members;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", unreadable)) {
        const std::string name = entry.path().filename().string();
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) continue;
        if (lives_in_session(pid, session)) members.push_back(pid);
    }
    return members;
}

}    // namespace slipway
