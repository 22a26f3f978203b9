#include "bench/simulator/process_model.h"

namespace slipway::simulator {

namespace {

using enum JobState;

constexpr Millis compile_time{3000};
constexpr Millis last_save_time{1000};
constexpr Millis leave_time{1500};
constexpr Millis linger_time{60000};

AttemptOutcome outcome_of(Intent intent) {
    if (intent == Intent::cancel) return AttemptOutcome::cancelled;
    return intent == Intent::timeout ? AttemptOutcome::timed_out : AttemptOutcome::orphaned;
}

}    // namespace

void ProcessModel::write(Frame frame) {
    frame.number = std::int64_t(frames_.size()) + 1;
    frames_.push_back(std::move(frame));
}

void ProcessModel::end(int status, bool vanished) {
    if (exit_status_) return;
    exit_status_ = status;
    vanished_ = vanished;
}

void ProcessModel::save() {
    if (saved_ != step_) write({.checkpoint = step_});
    saved_ = step_;
}

/// Its last frame; a moment later it is gone, or much later.
Millis ProcessModel::say_done(AttemptOutcome outcome, const char* code) {
    write({.done = DoneFrame{.outcome = outcome, .code = code}});
    last_status_ = outcome == AttemptOutcome::succeeded ? 0 : 1;
    phase_ = Phase::leave;
    return shape_.is_deaf ? linger_time : leave_time;
}

RunPosition ProcessModel::position() const {
    RunPosition position{.step = step_};
    set_phase(position, "execute");
    return position;
}

bool ProcessModel::ask(std::optional<Intent> intent) {
    if (shape_.is_deaf || !is_alive()) return false;
    // SIGTERM says not why: what was asked for before counts, else it makes room.
    asked_ = intent ? *intent : asked_.value_or(Intent::preempt);
    return true;
}

bool ProcessModel::crashes_here() {
    if (shape_.crash_at != step_ || (key_.attempt > 1 && !shape_.always_crashes)) return false;
    if (shape_.hangs) {
        hangs_ = true;
    } else {
        crash();
    }
    return true;
}

/// Whether somebody has asked for its end, or nobody is there to ask.
bool ProcessModel::stops(Tick now) const {
    return phase_ != Phase::leave && (asked_ || now - agent_heard_ >= grace);
}

Millis ProcessModel::stop() {
    if (phase_ == Phase::train || phase_ == Phase::finish) save();
    return say_done(asked_ ? outcome_of(*asked_) : AttemptOutcome::orphaned);
}

std::optional<Millis> ProcessModel::advance(Tick now) {
    if (!is_alive() || frozen_ || hangs_) return std::nullopt;
    if (stops(now)) return stop();
    const Millis step_time = std::chrono::seconds(shape_.step_s);
    switch (phase_) {
        case Phase::begin:
            write({.state = compiling});
            phase_ = Phase::compile;
            return compile_time;
        case Phase::compile:
            phase_ = step_ < shape_.steps ? Phase::train : Phase::finish;
            write({.state = phase_ == Phase::train ? running : finishing});
            return phase_ == Phase::train ? step_time : last_save_time;
        case Phase::train:
            ++step_;
            if (crashes_here()) return std::nullopt;
            write({.step = step_});
            if (step_ == shape_.steps && shape_.fails)
                return say_done(AttemptOutcome::failed, "data_error");
            if (step_ % shape_.save_every == 0) save();
            if (step_ < shape_.steps) return step_time;
            write({.state = finishing});
            save();
            phase_ = Phase::finish;
            return last_save_time;
        case Phase::finish:
            return say_done(AttemptOutcome::succeeded);
        case Phase::leave:
            end(last_status_, false);
            return std::nullopt;
    }
    return std::nullopt;
}

}    // namespace slipway::simulator
