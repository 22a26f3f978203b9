#pragma once

#include <optional>
#include <vector>

#include "bench/simulator/store_model.h"
#include "scheduler/agent/attempt_end.h"

namespace slipway::simulator {

/// One executor: a job's steps, what it writes into its run folder, and how it goes wrong. Its run
/// folder outlives it.
class ProcessModel {
public:
    ProcessModel(Key key, const JobShape& shape, int resumed_from, Tick now)
        : key_(key), shape_(shape), step_(resumed_from), agent_heard_(now) {}

    /// What it does next; when it goes on after that. Nothing once it has ended.
    std::optional<Millis> advance(Tick now);
    /// A stop frame or SIGTERM has come: it saves and ends, unless it is deaf. True: advance it
    /// soon.
    bool ask(std::optional<Intent> intent);
    void hear_agent(Tick now) { agent_heard_ = now; }
    void kill() { end(137, true); }
    void crash() { end(139, true); }
    /// SIGSTOP and SIGCONT, or it hangs by itself.
    void freeze(bool frozen) { frozen_ = frozen; }

    const Key& key() const { return key_; }
    bool is_alive() const { return !exit_status_; }
    bool speaks() const { return is_alive() && !frozen_ && !hangs_; }
    bool vanished() const { return vanished_; }
    std::optional<int> exit_status() const { return exit_status_; }
    RunPosition position() const;
    const std::vector<Frame>& frames() const { return frames_; }

    static constexpr std::chrono::seconds grace{60};    ///< without an agent it ends itself

private:
    enum class Phase { begin, compile, train, finish, leave };

    void write(Frame frame);
    Millis say_done(AttemptOutcome outcome, const char* code = "");
    void end(int status, bool vanished);
    void save();
    bool crashes_here();
    bool stops(Tick now) const;
    Millis stop();

    Key key_;
    JobShape shape_;
    int step_;
    int saved_ = -1;
    Tick agent_heard_;
    Phase phase_ = Phase::begin;
    int last_status_ = 0;    // when it leaves by itself
    std::optional<Intent> asked_;
    bool frozen_ = false;
    bool hangs_ = false;
    bool vanished_ = false;
    std::optional<int> exit_status_;
    std::vector<Frame> frames_;
};

}    // namespace slipway::simulator
