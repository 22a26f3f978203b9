#include "executor/main/crash_handler.h"

#include <array>
#include <atomic>
#include <csignal>

#include "executor/runtime/step_at_work.h"

namespace slipway {

namespace {

std::atomic<RunPosition*> crash_position{nullptr};
static_assert(std::atomic<RunPosition*>::is_always_lock_free);

// On the thread that crashed. The action is the default one again (SA_RESETHAND): the signal that
// is raised comes when this returns, and ends the process with the status that the agent knows.
void leave_operation(int signal) {
    RunPosition* const position = crash_position.load(std::memory_order_relaxed);
    const StepAtWork at = step_at_work;
    if (position != nullptr && at.name != nullptr) set_operation(*position, at.name, at.replica);
    raise(signal);
}

}    // namespace

void note_crashes_in(RunPosition* position) {
    crash_position.store(position);
    if (position == nullptr) return;
    struct sigaction action = {};
    action.sa_handler = leave_operation;
    action.sa_flags = int(SA_RESETHAND);
    for (const int signal : std::array{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        sigaction(signal, &action, nullptr);
}

}    // namespace slipway
