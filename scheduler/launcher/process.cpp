#include "scheduler/launcher/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include "api/protocol/slice_memory.h"
#include "scheduler/launcher/confine/cgroup.h"
#include "scheduler/launcher/forget_signals.h"
#include "scheduler/launcher/niceness.h"
#include "scheduler/launcher/output_file.h"

// fork, not posix_spawn: the child waits until whoever starts it has written down which process it
// is, so that a service that is killed at any moment leaves no program running that the next one
// does not know. posix_spawn returns only when the program runs already.
namespace slipway {

namespace fs = std::filesystem;

namespace {

// What the child holds where; what it inherits otherwise is closed.
constexpr int lock_place = 3;
constexpr int refusal_place = 4;
constexpr int gate_place = 5;
constexpr int slice_memory_place = 6;
constexpr int first_free_place = 7;

/// What an executor may know of our environment: nothing that could hold a secret.
constexpr std::array passed_on{
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "ONEDNN_MAX_CPU_ISA"};

/// Ours, not the process's, to have too few of: what is asked is not answered.
bool is_exhausted(int reason) {
    return reason == EMFILE || reason == ENFILE || reason == ENOMEM;
}

[[noreturn]] void fail_exhausted(const std::string& doing, int reason) {
    throw Error{ErrorCode::exhausted,
                fmt::format("cannot {}: {}; raise the service's limit of open files (LimitNOFILE)",
                            doing, std::strerror(reason))};
}

UniqueFd open_pidfd(pid_t pid) {
    return UniqueFd(int(syscall(SYS_pidfd_open, pid, 0)));
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    for (std::string& word : words)
        result.push_back(word.data());
    result.push_back(nullptr);
    return result;
}

/// Everything that a child needs, made before the fork: between fork and exec nothing may allocate.
struct ChildPlan {
    const char* program;
    char* const* arguments;
    char* const* environment;
    const char* folder;
    const char* output;
    const char* result;    // nullptr: as `output`
    int lock;              // or -1
    int slice_memory;      // or -1
    int gate;              // one byte: begin; its end: do not
    int refusal;           // gets errno when the program cannot be run
    int niceness;
    const char* niceness_text;
};

int above_places(int file) {
    return file < 0 ? -1 : fcntl(file, F_DUPFD, first_free_place);
}

bool take_places(const ChildPlan& plan) {
    // Above all places first, so that none is overwritten before it is taken.
    const int gate = above_places(plan.gate);
    const int refusal = above_places(plan.refusal);
    const int lock = above_places(plan.lock);
    const int slice_memory = above_places(plan.slice_memory);
    if (dup3(refusal, refusal_place, O_CLOEXEC) < 0 || dup3(gate, gate_place, O_CLOEXEC) < 0)
        return false;
    const int nothing = above_places(open("/dev/null", O_RDONLY));
    const int output = above_places(open_output(plan.output, O_APPEND));
    const int result =
        plan.result == nullptr ? output : above_places(open_output(plan.result, O_TRUNC));
    if (nothing < 0 || output < 0 || result < 0) return false;
    dup2(nothing, 0);
    dup2(result, 1);
    dup2(output, 2);
    close(lock_place);
    if (lock >= 0) dup2(lock, lock_place);
    close(slice_memory_place);
    if (slice_memory >= 0) dup2(slice_memory, slice_memory_place);
    return close_range(first_free_place, ~0U, 0) == 0 && chdir(plan.folder) == 0;
}

/// Behind others when CPUs are scarce. Where the kernel groups sessions, the group's value counts
/// and not the process's; without such groups there is no file.
void stand_back(const ChildPlan& plan) {
    if (plan.niceness == getpriority(PRIO_PROCESS, 0)) return;
    setpriority(PRIO_PROCESS, 0, plan.niceness);
    const int group = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (group < 0) return;
    [[maybe_unused]] const ssize_t told =
        write(group, plan.niceness_text, std::strlen(plan.niceness_text));
    close(group);
}

/// The child until it is another program. Only calls that are safe in a signal handler.
[[noreturn]] void become_program(const ChildPlan& plan) {
    // A session of its own: neither our terminal's signals nor our group's reach it.
    setsid();
    stand_back(plan);
    forget_signals();
    char begin = 0;
    if (take_places(plan)) {
        if (read(gate_place, &begin, 1) != 1) _exit(127);
        execve(plan.program, plan.arguments, plan.environment);
    }
    const int reason = errno == 0 ? EINVAL : errno;
    [[maybe_unused]] const ssize_t told = write(refusal_place, &reason, sizeof(reason));
    _exit(127);
}

/// As fork, into the cgroup; -1 where the kernel cannot: before Linux 5.7, where a filter forbids
/// it, and in version 1 of cgroups.
pid_t fork_into(const fs::path& cgroup) {
    const UniqueFd group(open(cgroup.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!group) return -1;
    clone_args wanted{};
    wanted.flags = CLONE_INTO_CGROUP;
    wanted.exit_signal = SIGCHLD;
    wanted.cgroup = std::uint64_t(group.get());
    return pid_t(syscall(SYS_clone3, &wanted, sizeof wanted));
}

struct Child {
    pid_t pid = -1;
    bool placed = false;    // in its cgroup already
};

/// Forks with every signal blocked, so that no handler of ours runs in the child.
Child fork_child(const ChildPlan& plan, const fs::path& cgroup) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // A move costs milliseconds, since the kernel waits for all CPUs; being born there costs none.
    Child child{.pid = cgroup.empty() ? -1 : fork_into(cgroup)};
    child.placed = child.pid >= 0;
    if (child.pid < 0) child.pid = fork();
    if (child.pid == 0) become_program(plan);
    const int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = reason;
    return child;
}

struct Pipe {
    UniqueFd read_end;
    UniqueFd write_end;
};

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail_exhausted("make a pipe", errno);
    return {.read_end = UniqueFd(ends[0]), .write_end = UniqueFd(ends[1])};
}

void end_child(const RunningProcess& child) {
    kill(child.id.pid, SIGKILL);
    siginfo_t info{};
    while (waitid(P_PID, id_t(child.id.pid), &info, WEXITED) != 0 && errno == EINTR) {
    }
}

[[noreturn]] void fail_to_start(const fs::path& program, int reason) {
    throw Error{ErrorCode::unavailable,
                fmt::format("cannot start {}: {}", program.string(), std::strerror(reason))};
}

/// 0 once the program runs, else why it does not.
int read_refusal(const UniqueFd& from) {
    int reason = 0;
    ssize_t got = 0;
    do {
        got = read(from.get(), &reason, sizeof(reason));
    } while (got < 0 && errno == EINTR);
    return got == sizeof(reason) ? reason : 0;
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
    errno = 0;
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    if (!file && is_exhausted(errno)) fail_exhausted("look at processes", errno);
    std::string line;
    if (!std::getline(file, line)) return false;
    const std::string_view state = field_after_name(line, 3);
    return state != "Z" && state != "X" && field_after_name(line, 6) == session;
}

}    // namespace

std::vector<std::string> program_environment() {
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

RunningProcess spawn(const ProgramStart& start, const SpawnLimits& limits) {
    const fs::path& program = limits.confinement ? limits.confinement->confiner : start.program;
    const std::vector<std::string> rest =
        limits.confinement ? confine_arguments(*limits.confinement, start.program, start.arguments)
                           : start.arguments;
    std::vector<std::string> arguments{program.string()};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    std::vector<std::string> environment = program_environment();
    if (start.slice_memory_fd >= 0)
        environment.push_back(fmt::format("{}={}", slice_memory_variable, slice_memory_place));
    const std::vector<char*> argument_list = pointers(arguments);
    const std::vector<char*> environment_list = pointers(environment);
    const int niceness = niceness_behind_us(limits.niceness);
    const std::string niceness_text = fmt::to_string(niceness);
    Pipe gate = make_pipe();
    Pipe refusal = make_pipe();
    const Child child = fork_child({.program = program.c_str(),
                                    .arguments = argument_list.data(),
                                    .environment = environment_list.data(),
                                    .folder = start.folder.c_str(),
                                    .output = start.output.c_str(),
                                    .result = start.result.empty() ? nullptr : start.result.c_str(),
                                    .lock = start.lock_fd,
                                    .slice_memory = start.slice_memory_fd,
                                    .gate = gate.read_end.get(),
                                    .refusal = refusal.write_end.get(),
                                    .niceness = niceness,
                                    .niceness_text = niceness_text.c_str()},
                                   limits.cgroup);
    const pid_t pid = child.pid;
    if (pid < 0) fail_to_start(program, errno);
    refusal.write_end.reset();
    // Not reaped yet, so its pid is still its own, even if it has ended already.
    RunningProcess process{.id = {.pid = pid}, .pidfd = open_pidfd(pid), .child = true};
    if (!process.pidfd) {
        const int reason = errno;
        end_child(process);
        fail_exhausted(fmt::format("watch {}", program.string()), reason);
    }
    process.id.start_ticks = process_start_ticks(pid).value_or(0);
    try {
        if (start.before_start) start.before_start(process.id);
        if (!limits.cgroup.empty() && !child.placed) enter_cgroup(limits.cgroup, pid);
    } catch (const std::exception&) {
        end_child(process);
        throw;
    }
    [[maybe_unused]] const ssize_t opened = write(gate.write_end.get(), "b", 1);
    if (const int reason = read_refusal(refusal.read_end); reason != 0) {
        end_child(process);
        fail_to_start(program, reason);
    }
    return process;
}

std::optional<RunningProcess> open_process(ProcessId id) {
    if (id.pid <= 0) return std::nullopt;
    RunningProcess process{.id = id, .pidfd = open_pidfd(id.pid), .child = false};
    if (!process.pidfd && is_exhausted(errno)) fail_exhausted("watch a process", errno);
    if (!process.pidfd) return std::nullopt;
    // The pidfd first, then the look: what it holds cannot change any more.
    errno = 0;
    const auto ticks = process_start_ticks(id.pid);
    if (!ticks && is_exhausted(errno)) fail_exhausted("look at a process", errno);
    if (ticks != id.start_ticks) return std::nullopt;
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
    const std::filesystem::directory_iterator all("/proc", unreadable);
    // To see none is not that there is none: the cores of what lives would be given away.
    if (unreadable) fail_exhausted("list processes", unreadable.value());
    for (const auto& entry : all) {
        const std::string name = entry.path().filename().string();
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec != std::errc{} || parsed.ptr != name.data() + name.size()) continue;
        if (lives_in_session(pid, session)) members.push_back(pid);
    }
    return members;
}

}    // namespace slipway
