// Goal: a crash says what its thread was computing, and still ends the process by its signal.
// Method: a child process that shares the position's memory.
#include "executor/main/crash_handler.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "executor/runtime/step_at_work.h"

namespace slipway {
namespace {

class CrashHandler : public testing::Test {
protected:
    CrashHandler()
        : position(new (mmap(nullptr, sizeof(RunPosition), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0)) RunPosition{}) {}
    ~CrashHandler() override { munmap(position, sizeof(RunPosition)); }

    /// The signal that ended a child which crashes on a thread at work on `step`.
    int crash(int signal, StepAtWork step) {
        const pid_t child = fork();
        if (child == 0) {
            note_crashes_in(position);
            std::thread([&] {
                step_at_work = step;
                raise(signal);
            }).join();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }

    RunPosition* const position;
};

TEST_F(CrashHandler, leaves_the_operation_and_the_replica) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
        *position = {};
        EXPECT_EQ(crash(signal, {.name = "matmul 32x10x64", .replica = 3}), signal);
        EXPECT_EQ(operation_of(*position), "matmul 32x10x64");
        EXPECT_EQ(position->replica, 3);
    }
}

TEST_F(CrashHandler, leaves_nothing_where_nothing_was_computed) {
    EXPECT_EQ(crash(SIGSEGV, {}), SIGSEGV);
    EXPECT_EQ(operation_of(*position), "");
    EXPECT_EQ(position->replica, -1);
}

}    // namespace
}    // namespace slipway
