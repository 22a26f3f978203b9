// What a job of Slurm becomes on its node: reads its order, opens what the program writes, takes
// the lock of its run folder and becomes the program, so that its exit code and what kills it are
// the job's. A program of its own, because a shell opens whatever a link names, and because what is
// to run is not for others to read.
//
// Where the service is on another machine (StartOrder::link) it stays, runs the program beside
// itself and carries what program and service say to each other. So the program needs no network.
//
// As a task of a slice it stays and runs the program beside itself, since Slurm tells the exit of a
// whole job alone: it writes down how its member has ended, which says later who was the cause. One
// that ended badly lets the others notice by themselves for a while, and then ends with a code at
// which srun ends them.

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/error.h"
#include "api/base/posix.h"
#include "scheduler/launcher/forget_signals.h"
#include "scheduler/launcher/node_link/announcement.h"
#include "scheduler/launcher/node_link/node_relay.h"
#include "scheduler/launcher/node_link/tcp.h"
#include "scheduler/launcher/output_file.h"
#include "scheduler/launcher/private_folder.h"
#include "scheduler/launcher/slurm/slice_folder.h"
#include "scheduler/launcher/slurm/start_order.h"

namespace {

using namespace slipway;

constexpr int lock_place = 3;
constexpr int first_free_place = 4;
/// For the others to notice that a member has failed, and to save what they can.
constexpr std::chrono::seconds notice_max{5};
constexpr std::chrono::milliseconds look_again{50};

/// The node cannot read what it is to do.
struct NoOrder {
    std::string why;
};

[[noreturn]] void fail_start(const std::string& doing) {
    throw Error{ErrorCode::unavailable, fmt::format("cannot {}: {}", doing, std::strerror(errno))};
}

StartOrder take_order(const char* path) {
    std::ifstream file(path);
    if (!file) throw NoOrder{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    auto order = read_start_order(text);
    if (!order) throw NoOrder{fmt::format("{} is no order of a start", path)};
    return *std::move(order);
}

void place(int file, int where, const std::string& path) {
    if (file < 0 || dup2(file, where) < 0) fail_start(fmt::format("open {}", path));
}

void open_files(const StartOrder& order) {
    const int output = open_output(order.output.c_str(), O_APPEND);
    place(output, 2, order.output.string());
    if (order.result.empty())
        place(output, 1, order.output.string());
    else
        place(open_output(order.result.c_str(), O_TRUNC), 1, order.result.string());
    place(open("/dev/null", O_RDONLY), 0, "/dev/null");
}

/// Whoever started us still has it for a moment. An executor of an earlier attempt would have it
/// for long: then the job ends when its time does, or when it is cancelled.
void take_lock(const StartOrder& order) {
    close(lock_place);
    if (order.lock.empty()) return;
    const int file = open(order.lock.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CREAT, 0600);
    if (file < 0) fail_start(fmt::format("open {}", order.lock.string()));
    while (flock(file, LOCK_EX) != 0)
        if (errno != EINTR) fail_start(fmt::format("lock {}", order.lock.string()));
    if (file != lock_place) place(file, lock_place, order.lock.string());
}

void forget_what_was_inherited() {
    forget_signals();
    close_range(first_free_place, ~0U, 0);
}

std::vector<char*> as_pointers(std::vector<std::string>& words) {
    std::vector<char*> made;
    for (std::string& word : words)
        made.push_back(word.data());
    made.push_back(nullptr);
    return made;
}

[[noreturn]] void become(StartOrder order) {
    open_files(order);
    take_lock(order);
    if (chdir(order.folder.c_str()) != 0)
        fail_start(fmt::format("go to {}", order.folder.string()));
    forget_what_was_inherited();
    std::vector<std::string> words{order.program.string()};
    words.insert(words.end(), order.arguments.begin(), order.arguments.end());
    execve(order.program.c_str(), as_pointers(words).data(), as_pointers(order.environment).data());
    fail_start(fmt::format("run {}", order.program.string()));
}

std::string of_task(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

int rank_of_task() {
    const std::string text = of_task("SLURM_PROCID");
    int rank = -1;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (parsed.ec != std::errc{} || rank < 0)
        throw Error{ErrorCode::unavailable, "it is no task of Slurm: SLURM_PROCID is not set"};
    return rank;
}

/// As waitpid gives it. Ends what the program has left in its session.
int wait_for_end(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) fail_start("wait for the program");
    ::kill(-child, SIGKILL);
    return status;
}

/// Its exit code, or 128 + the signal.
int exit_code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

pid_t start_beside(const StartOrder& order) {
    const pid_t child = fork();
    if (child < 0) fail_start("make a process");
    if (child != 0) return child;
    setsid();
    try {
        become(order);
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipway-slurm-start: {}\n", error.what());
        _exit(exit_not_started);
    }
}

void wait_until_others_have_ended(const SliceFolder& slice, int members) {
    const Tick end = system_clock().tick() + notice_max;
    while (slice.count_exits() < members && system_clock().tick() < end)
        poll(nullptr, 0, int(look_again.count()));
}

/// Lines for a person, where the program's are.
std::function<void(const std::string&)> writer_to(const std::filesystem::path& output) {
    auto file = std::make_shared<UniqueFd>(open_output(output.c_str(), O_APPEND));
    return [file](const std::string& line) {
        const std::string text = fmt::format("slipway-slurm-start: {}\n", line);
        [[maybe_unused]] const ssize_t wrote = write(file->get(), text.data(), text.size());
    };
}

/// Members of a slice connect to each other at the address from which this node reaches the
/// service.
void tell_address(StartOrder& order) {
    const auto service = read_announcement(order.link->announcement);
    const std::string address = service ? address_towards(service->address) : std::string();
    if (address.empty()) {
        const std::string why = fmt::format(
            "cannot find the address of this node: there is no way to the service of {}",
            order.link->announcement.string());
        writer_to(order.output)(why);
        throw Error{ErrorCode::unavailable, why};
    }
    order.arguments.insert(order.arguments.end(), {"--slice-address", address});
}

/// Runs the program beside us; its status as waitpid gives it. Slurm's signals go to the program,
/// too: this ends with it, and not before.
int run_beside(StartOrder order) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (order.link && order.members > 1) tell_address(order);
    const pid_t child = start_beside(order);
    std::optional<NodeRelay> relay;
    if (order.link)
        relay.emplace(NodeRelayOptions{.key = {.identity = order.link->identity,
                                               .secret = order.link->secret},
                                       .announcement = order.link->announcement,
                                       .folder = order.folder},
                      writer_to(order.output), system_clock());
    return wait_for_end(child);
}

/// As the program did, so that its exit code and what killed it are the job's.
int end_like(int status) {
    if (WIFSIGNALED(status)) {
        prctl(PR_SET_DUMPABLE, 0);
        forget_signals();
        ::kill(getpid(), WTERMSIG(status));
    }
    return exit_code_of(status);
}

int run_member(const char* folder) {
    const SliceFolder slice{folder};
    const int rank = rank_of_task();
    const StartOrder order = take_order(slice.order_of(rank).c_str());
    slice.keep_begin(rank, of_task("SLURMD_NODENAME"));
    const int status = exit_code_of(run_beside(order));
    slice.keep_exit(
        rank, {.status = status,
               .ended_ns = system_clock().now().time_since_epoch() / std::chrono::nanoseconds(1),
               .node = of_task("SLURMD_NODENAME")});
    if (status != 0) wait_until_others_have_ended(slice, order.members);
    return status;
}

}    // namespace

int main(int argc, char** argv) {
    const bool is_member = argc == 3 && std::string_view(argv[1]) == "--member";
    if (argc != 2 && !is_member) {
        fmt::print(stderr,
                   "usage: slipway-slurm-start ORDER_FILE\n"
                   "       slipway-slurm-start --member FOLDER\n"
                   "Jobs of Slurm run it; it is of no use by itself.\n");
        return exit_not_started;
    }
    try {
        if (is_member) return run_member(argv[2]);
        StartOrder order = take_order(argv[1]);
        write_file_aside(begun_file(argv[1]), of_task("SLURMD_NODENAME"));
        if (order.link) return end_like(run_beside(std::move(order)));
        become(std::move(order));
    } catch (const NoOrder& error) {
        fmt::print(stderr, "slipway-slurm-start: {}\n", error.why);
        return exit_no_order;
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipway-slurm-start: {}\n", error.what());
        return exit_not_started;
    }
}
