#pragma once

#include <signal.h>

namespace slipway {

/// Gives every signal its usual effect and lets all through, as a program expects that begins. Safe
/// in a signal handler, and so between fork and exec.
inline void forget_signals() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal)
        sigaction(signal, &usual, nullptr);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

}    // namespace slipway
