// An attempt that ends well leaves its process as it found it, and the next one may have it. So
// does one that failed for a reason of its job (leaves_process_clean). What ends in any other way
// ends the process, so that nothing has to be mended: a crash, a limit of memory, a request to
// stop, a failure that may have other reasons. What an attempt could leave behind is either the
// thread's (rounding modes, the stack), which ends with it, or is set here again: the log, the
// working folder, the trace context. Memory that the allocator keeps counts against the next
// attempt's limit, so a process that keeps much ends, too.
#include "executor/main/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "executor/main/attempt.h"
#include "executor/main/private_memory.h"
#include "executor/main/stop_signal.h"
#include "executor/runtime/arena.h"

namespace slipway {

namespace {

constexpr std::int64_t kept_bytes_max = std::int64_t{512} << 20;

/// Those of a small model, whose page faults are a part of its first step that can be felt.
constexpr std::int64_t kept_arena_bytes_max = std::int64_t{16} << 20;

const std::string idle_text = "idle";

/// Half of what the process may have, where that is less.
std::int64_t may_keep_bytes() {
    rlimit limit{};
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return kept_bytes_max;
    return std::min(kept_bytes_max, std::int64_t(limit.rlim_cur / 2));
}

bool keeps_little() {
    if (private_memory_bytes() <= may_keep_bytes()) return true;
    keep_released_arenas(0);
    malloc_trim(0);
    keep_released_arenas(kept_arena_bytes_max);
    return private_memory_bytes() <= may_keep_bytes();
}

/// Whether what we write to lies there: an empty log comes along from run to run, and the first one
/// is not ours to open.
bool is_log(const std::filesystem::path& file) {
    struct stat there {
    }, ours{};
    return lstat(file.c_str(), &there) == 0 && fstat(2, &ours) == 0 &&
           there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/// An earlier process may have left something else in its place.
void write_log_to(const std::filesystem::path& run_folder) {
    std::fflush(stdout);
    std::fflush(stderr);
    const std::filesystem::path file = run_folder / "output.log";
    if (is_log(file)) return;
    const UniqueFd log(open(
        file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!log) return;
    dup2(log.get(), 1);
    dup2(log.get(), 2);
}

void show(std::span<char> shown, const std::string& text) {
    if (text.size() >= shown.size()) return;
    std::ranges::fill(shown, '\0');
    std::ranges::copy(text, shown.begin());
}

Ending run_ordered(const WorkerOrder& order, const Trainer& trainer, const Clock& clock,
                   FrameListener& listener) {
    write_log_to(order.run_folder);
    unsetenv("TRACEPARENT");
    if (chdir(order.run_folder.c_str()) != 0) std::perror("the run folder cannot be entered");
    // A thread of its own: the next attempt finds no rounding mode or other state of this one.
    std::packaged_task<Ending()> run(
        [&] { return run_to_ending(order.run_folder, trainer, clock, &listener); });
    std::future<Ending> ending = run.get_future();
    std::thread(std::move(run)).join();
    std::fflush(stdout);
    return ending.get();
}

}    // namespace

int run_worker(OrderSocket& orders, const Trainer& trainer, const Clock& clock,
               std::span<char> shown) {
    // One heap for all threads: what one of them has freed, another takes, and what no attempt
    // needs can be given back. Else each thread keeps a heap of its own of which most is free.
    mallopt(M_ARENA_MAX, 1);
    catch_stop_signals();
    FrameListener listener;
    keep_released_arenas(kept_arena_bytes_max);
    int exit_code = exit_done;
    while (auto received = orders.next(stop_signalled)) {
        show(shown, received->order.run_folder);
        const Ending ending = run_ordered(received->order, trainer, clock, listener);
        exit_code = ending.exit_code;
        if (!leaves_process_clean(ending) || stop_signalled() || !keeps_little()) break;
        received->lock.reset();
        show(shown, idle_text);
        if (!orders.answer({.exit_code = exit_code})) break;
    }
    return exit_code;
}

}    // namespace slipway
