// What a job of Slurm becomes on its node: reads its order, opens what the program writes, takes
// the lock of its run folder and becomes the program, so that its exit code and what kills it are
// the job's. A program of its own, because a shell opens whatever a link names, and because what is
// to run is not for others to read.

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "api/base/error.h"
#include "scheduler/launcher/forget_signals.h"
#include "scheduler/launcher/output_file.h"
#include "scheduler/launcher/slurm/start_order.h"

namespace {

using namespace slipway;

/// As shells say that a program was not found.
constexpr int exit_not_started = 127;
constexpr int lock_place = 3;
constexpr int first_free_place = 4;

[[noreturn]] void fail_start(const std::string& doing) {
    throw Error{ErrorCode::unavailable, fmt::format("cannot {}: {}", doing, std::strerror(errno))};
}

StartOrder take_order(const char* path) {
    std::ifstream file(path);
    if (!file) fail_start(fmt::format("read {}", path));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    auto order = read_start_order(text);
    if (!order) throw Error{ErrorCode::unavailable, fmt::format("{} is no order of a start", path)};
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

}    // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr,
                   "usage: slipway-slurm-start ORDER_FILE\nJobs of Slurm run it; it is of no use "
                   "by itself.\n");
        return exit_not_started;
    }
    try {
        become(take_order(argv[1]));
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipway-slurm-start: {}\n", error.what());
        return exit_not_started;
    }
}
