#pragma once

namespace slipway {

/// What the calling thread computes now, for a signal handler: the name of the step (it lives as
/// long as the program) and the replica, -1 for work that is done once. Null: no step.
struct StepAtWork {
    const char* name = nullptr;
    int replica = -1;
};

inline thread_local constinit StepAtWork step_at_work{};

}    // namespace slipway
