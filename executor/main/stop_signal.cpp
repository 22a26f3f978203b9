#include "executor/main/stop_signal.h"

#include <csignal>

namespace slipway {

namespace {

// The only thing that a signal handler and the rest may share.
volatile std::sig_atomic_t signalled = 0;

void remember(int) {
    signalled = 1;
}

}    // namespace

void catch_stop_signals() {
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = int(SA_RESETHAND) | SA_RESTART;
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGINT, &action, nullptr);
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, nullptr);
}

bool stop_signalled() {
    return signalled != 0;
}

}    // namespace slipway
