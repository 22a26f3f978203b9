#include "scheduler/agent/attempt_watch.h"

#include <array>

namespace slipway {

namespace {

using Phase = Watch::Phase;

constexpr std::array<std::string_view, 8> cause_words{
    "none", "cancel", "timeout", "drain", "silent", "not_started", "fenced", "lingering"};

void enter(Watch& watch, Phase phase, Tick now) {
    watch.phase = phase;
    watch.since = now;
}

WatchActions kill_now(Watch& watch, EndCause cause, Tick now) {
    if (watch.cause == EndCause::none) watch.cause = cause;
    enter(watch, Phase::killing, now);
    return {.kill = true};
}

EndCause cause_of(StopRequest request) {
    switch (request) {
        case StopRequest::cancel:
            return EndCause::cancel;
        case StopRequest::timeout:
            return EndCause::timeout;
        case StopRequest::drain:
            return EndCause::drain;
    }
    return EndCause::cancel;
}

/// A drain may become a cancel, whose time is shorter; anything else is asked for once.
WatchActions ask(Watch& watch, StopRequest request, Tick now) {
    const bool fresh = watch.phase == Phase::starting || watch.phase == Phase::talking;
    const bool sharper = watch.phase == Phase::asked && watch.cause == EndCause::drain &&
                         request != StopRequest::drain;
    if (!fresh && !sharper) return {};
    watch.cause = cause_of(request);
    enter(watch, Phase::asked, now);
    return {.request = request};
}

std::chrono::milliseconds patience(const Watch& watch, const WatchLimits& limits) {
    return watch.cause == EndCause::drain ? limits.stop_drain : limits.stop_request;
}

WatchActions pass_time(Watch& watch, Tick now, const WatchLimits& limits) {
    const auto in_phase = now - watch.since;
    switch (watch.phase) {
        case Phase::starting:
            if (in_phase >= limits.start_max) return kill_now(watch, EndCause::not_started, now);
            return {};
        case Phase::talking:
            if (now - watch.heard >= limits.silence_max) {
                return kill_now(watch, EndCause::silent, now);
            }
            return {};
        case Phase::asked:
            if (in_phase < patience(watch, limits)) return {};
            enter(watch, Phase::terminating, now);
            return {.terminate = true};
        case Phase::terminating:
            if (in_phase < limits.stop_term) return {};
            return kill_now(watch, watch.cause, now);
        case Phase::killing:
            if (in_phase < limits.kill_again) return {};
            return kill_now(watch, watch.cause, now);
        case Phase::gone:
            return {};
    }
    return {};
}

}    // namespace

std::string_view to_string(EndCause cause) noexcept {
    return cause_words[std::size_t(cause)];
}

WatchActions step(Watch& watch, const WatchEvent& event, Tick now, const WatchLimits& limits) {
    if (watch.phase == Phase::gone) return {};
    switch (event.kind) {
        case WatchEvent::Kind::tick:
            return pass_time(watch, now, limits);
        case WatchEvent::Kind::heard:
            watch.heard = now;
            if (watch.phase == Phase::starting) enter(watch, Phase::talking, now);
            return {};
        case WatchEvent::Kind::stop:
            return ask(watch, event.request, now);
        case WatchEvent::Kind::kill:
            return kill_now(watch, event.cause, now);
        case WatchEvent::Kind::done_said:
            if (watch.phase != Phase::starting && watch.phase != Phase::talking) return {};
            watch.cause = EndCause::lingering;
            enter(watch, Phase::asked, now);
            return {};
        case WatchEvent::Kind::exited:
            enter(watch, Phase::gone, now);
            return {.gone = true};
    }
    return {};
}

}    // namespace slipway
