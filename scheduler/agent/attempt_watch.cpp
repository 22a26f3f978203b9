#include "scheduler/agent/attempt_watch.h"

#include <algorithm>
#include <array>

namespace slipway {

namespace {

using Phase = Watch::Phase;

constexpr std::array<std::string_view, 12> cause_words{
    "none",   "cancel",      "kill",   "pause",     "preempt", "timeout",
    "silent", "not_started", "fenced", "lingering", "memory",  "member_lost"};

/// In the order of Intent.
constexpr std::array<EndCause, 5> intent_causes{EndCause::cancel, EndCause::kill, EndCause::pause,
                                                EndCause::preempt, EndCause::timeout};

void enter(Watch& watch, Phase phase, Tick now) {
    watch.phase = phase;
    watch.since = now;
}

WatchActions kill_now(Watch& watch, EndCause cause, Tick now) {
    if (watch.cause == EndCause::none) watch.cause = cause;
    enter(watch, Phase::killing, now);
    return {.kill = true};
}

std::optional<Intent> intent_of(EndCause cause) {
    const auto found = std::ranges::find(intent_causes, cause);
    if (found == intent_causes.end()) return std::nullopt;
    return Intent(found - intent_causes.begin());
}

/// Asked for once; a request may become sharper (a pause a cancel, anything a kill), not milder.
WatchActions ask(Watch& watch, Intent intent, Tick now) {
    if (watch.phase == Phase::waiting) return kill_now(watch, cause_of(intent), now);
    const bool fresh = watch.phase == Phase::starting || watch.phase == Phase::talking;
    const std::optional<Intent> present = intent_of(watch.cause);
    const bool sharper = present && is_sharper(intent, *present);
    if (!fresh && !sharper) return {};
    const bool asked = fresh || watch.phase == Phase::asked;
    if (!meaning_of(intent).saves) {
        watch.cause = cause_of(intent);
        return kill_now(watch, watch.cause, now);
    }
    if (!asked) return {};
    watch.cause = cause_of(intent);
    enter(watch, Phase::asked, now);
    return {.request = intent};
}

/// Who has said its last word has nothing left to save.
std::chrono::milliseconds patience(const Watch& watch, const WatchLimits& limits) {
    return watch.cause == EndCause::lingering ? limits.exit_max : limits.stop_save;
}

/// Who has just been reached again has its time to speak.
bool is_silent(const Watch& watch, Tick now, const WatchLimits& limits) {
    if (watch.cut_off == now) return now - watch.heard >= limits.cut_off_max;
    return now - std::max(watch.heard, watch.cut_off) >= limits.silence_max;
}

WatchActions pass_time(Watch& watch, Tick now, const WatchLimits& limits) {
    const auto in_phase = now - watch.since;
    switch (watch.phase) {
        case Phase::waiting:
            enter(watch, Phase::starting, now);    // it has begun, or it would have said so
            return {};
        case Phase::starting:
            if (in_phase >= limits.start_max) return kill_now(watch, EndCause::not_started, now);
            return {};
        case Phase::talking:
            if (is_silent(watch, now, limits)) return kill_now(watch, EndCause::silent, now);
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

EndCause cause_of(Intent intent) noexcept {
    return intent_causes[std::size_t(intent)];
}

std::string_view to_string(EndCause cause) noexcept {
    return cause_words[std::size_t(cause)];
}

WatchActions step(Watch& watch, const WatchEvent& event, Tick now, const WatchLimits& limits) {
    if (watch.phase == Phase::gone) return {};
    switch (event.kind) {
        case WatchEvent::Kind::tick:
            return pass_time(watch, now, limits);
        case WatchEvent::Kind::cut_off:
            watch.cut_off = now;
            return pass_time(watch, now, limits);
        case WatchEvent::Kind::waits:
            if (watch.phase == Phase::starting) enter(watch, Phase::waiting, now);
            return {};
        case WatchEvent::Kind::heard:
            watch.heard = now;
            if (watch.phase == Phase::starting || watch.phase == Phase::waiting)
                enter(watch, Phase::talking, now);
            return {};
        case WatchEvent::Kind::stop:
            return ask(watch, event.intent, now);
        case WatchEvent::Kind::kill:
            return kill_now(watch, event.cause, now);
        case WatchEvent::Kind::done_received:
            if (watch.phase > Phase::talking) return {};
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
