#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace slipway {

/// What an operator asks a running slipwayd for.
enum class OperatorRequest {
    stop,    ///< SIGTERM, SIGINT: end; executors go on and are taken over at the next start
    drain    ///< SIGUSR1: first ask executors to save and end
};

/// Turns signals into an answer that a thread can wait for. One per process. Handlers instead of a
/// blocked mask, because children inherit the mask but not the handlers.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// Calls `act` for each SIGHUP, from the thread that waits or, after `on_second`, from the one
    /// of this object. Before `wait`.
    void on_hangup(std::function<void()> act);

    /// Waits for the first request. One thread.
    OperatorRequest wait();

    /// From now on a further SIGTERM or SIGINT calls `now` (from a thread of this object's own),
    /// which is expected to end the process.
    void on_second(std::function<void()> now);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway
