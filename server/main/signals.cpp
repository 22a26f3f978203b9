#include "server/main/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "api/base/error.h"
#include "api/base/posix.h"

namespace slipway {
namespace {

// The only state that a signal handler may touch: the writing end of the pipe.
volatile sig_atomic_t pipe_end = -1;

void handle(int signal_number) {
    const int saved = errno;
    const char byte = static_cast<char>(signal_number);
    if (pipe_end >= 0) (void)!write(pipe_end, &byte, 1);
    errno = saved;
}

void handle_nothing(int) {}

void install(int signal_number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal_number, &action, nullptr);
}

// The next signal's number, or 0 when `stop` became readable.
int next_signal(int pipe, int stop) {
    for (;;) {
        std::array<pollfd, 2> waits{pollfd{pipe, POLLIN, 0}, pollfd{stop, POLLIN, 0}};
        if (poll(waits.data(), waits.size(), -1) < 0) continue;    // EINTR
        if (waits[1].revents != 0) return 0;
        char byte = 0;
        if (read(pipe, &byte, 1) == 1) return byte;
    }
}

void make_pipe(std::array<int, 2>& ends, int flags) {
    if (pipe2(ends.data(), flags) == 0) return;
    throw Error{ErrorCode::exhausted, fmt::format("cannot make a pipe: {}", std::strerror(errno))};
}

}    // namespace

struct StopSignals::State {
    UniqueFd read_end;
    UniqueFd write_end;
    UniqueFd stop_read;
    UniqueFd stop_write;
    std::function<void()> hangup = [] {};
    std::jthread watcher;    // joined by ~StopSignals
};

StopSignals::StopSignals() : state_(std::make_unique<State>()) {
    std::array<int, 2> ends{};
    make_pipe(ends, O_CLOEXEC | O_NONBLOCK);
    state_->read_end = UniqueFd(ends[0]);
    state_->write_end = UniqueFd(ends[1]);
    make_pipe(ends, O_CLOEXEC);
    state_->stop_read = UniqueFd(ends[0]);
    state_->stop_write = UniqueFd(ends[1]);
    pipe_end = state_->write_end.get();
    for (const int one : {SIGTERM, SIGINT, SIGUSR1, SIGHUP})
        install(one, handle);
    // Not SIG_IGN: children would inherit it.
    install(SIGPIPE, handle_nothing);
}

StopSignals::~StopSignals() {
    for (const int one : {SIGTERM, SIGINT, SIGUSR1})
        install(one, SIG_DFL);
    // A late SIGHUP ends nothing.
    install(SIGHUP, handle_nothing);
    pipe_end = -1;
    state_->stop_write.reset();    // wakes the watcher
}

void StopSignals::on_hangup(std::function<void()> act) {
    state_->hangup = std::move(act);
}

OperatorRequest StopSignals::wait() {
    for (;;) {
        const int signal_number = next_signal(state_->read_end.get(), -1);
        if (signal_number == SIGUSR1) return OperatorRequest::drain;
        if (signal_number != SIGHUP) return OperatorRequest::stop;
        state_->hangup();
    }
}

void StopSignals::on_second(std::function<void()> now) {
    state_->watcher = std::jthread([this, now = std::move(now)] {
        for (;;) {
            const int signal_number = next_signal(state_->read_end.get(), state_->stop_read.get());
            if (signal_number == 0) return;
            if (signal_number == SIGHUP)
                state_->hangup();
            else if (signal_number != SIGUSR1)
                return now();
        }
    });
}

}    // namespace slipway
