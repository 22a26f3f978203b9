#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "api/base/clock.h"
#include "api/spec/intent.h"

namespace slipway {

/// How long each stage of an attempt may last.
struct WatchLimits {
    std::chrono::milliseconds start_max{20000};       ///< from its begin until its first word
    std::chrono::milliseconds silence_max{10000};     ///< between two words
    std::chrono::milliseconds cut_off_max{130000};    ///< likewise, without a connection to it
    std::chrono::milliseconds stop_save{60000};       ///< from a request to SIGTERM: it saves first
    std::chrono::milliseconds exit_max{10000};        ///< from its last frame to SIGTERM
    std::chrono::milliseconds stop_term{5000};        ///< from SIGTERM to SIGKILL
    std::chrono::milliseconds kill_again{1000};       ///< SIGKILL is repeated until it is gone
};

/// Why we ended a process, when we did.
enum class EndCause {
    none,
    cancel,
    kill,
    pause,
    preempt,
    timeout,
    silent,
    not_started,
    fenced,
    lingering,
    memory,        ///< it used more than its limit
    member_lost    ///< another member of its attempt has ended
};

EndCause cause_of(Intent intent) noexcept;

std::string_view to_string(EndCause cause) noexcept;

/// One process as its watcher sees it. A value: see step().
struct Watch {
    enum class Phase { waiting, starting, talking, asked, terminating, killing, gone };
    Phase phase = Phase::starting;
    EndCause cause = EndCause::none;    ///< the first that applied
    Tick since{};                       ///< when the phase began
    Tick heard{};                       ///< its last word, or its start
    Tick cut_off{};                     ///< when it was last seen without a connection
};

/// What happened to it.
struct WatchEvent {
    enum class Kind {
        tick,             ///< only time has passed
        cut_off,          ///< likewise, and there is no connection to where it runs
        waits,            ///< it is launched, and waits for a place to run
        heard,            ///< it said something
        stop,             ///< end it as `intent` says
        kill,             ///< end it now, for `cause`
        done_received,    ///< its last frame has come: it should be gone soon
        exited
    };
    Kind kind = Kind::tick;
    Intent intent = Intent::cancel;
    EndCause cause = EndCause::none;
};

/// What to do about it.
struct WatchActions {
    std::optional<Intent> request = {};    ///< send `stop` with this reason
    bool terminate = false;                ///< SIGTERM to the group
    bool kill = false;                     ///< SIGKILL to the group
    bool gone = false;                     ///< it has ended: clean up and tell
};

/// The stop ladder and the silence rule: request, SIGTERM, SIGKILL, each after its time; a process
/// that says nothing for too long is killed at once. One that waits for a place may wait for ever,
/// and is killed when it is to be stopped: there is nobody to ask yet. Pure.
WatchActions step(Watch& watch, const WatchEvent& event, Tick now, const WatchLimits& limits);

}    // namespace slipway
