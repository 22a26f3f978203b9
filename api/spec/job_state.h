#pragma once

#include <array>
#include <span>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway {

/// Where a job stands. Spelled as on the wire and in SQL.
enum class JobState {
    queued,        ///< waits for cores, for its dataset or for its time
    starting,      ///< has cores; its executor is being started
    compiling,     ///< the executor traces and compiles
    running,       ///< trains
    finishing,     ///< trained; last evaluation and checkpoint
    succeeded,     ///< end: the result is there
    preempting,    ///< saves and gives its cores to a more urgent job
    pausing,       ///< saves and gives its cores back
    paused,        ///< waits for `resume`
    cancelling,    ///< the executor is being ended
    cancelled,     ///< end: the user asked
    failed,        ///< end: see the reason
    stopped,       ///< end: its sweep ended it
    timed_out,     ///< end: limits.max_wall_s, max_core_s
    expired        ///< end: limits.valid_until passed in the queue
};

template <>
struct Spelling<JobState> {
    static constexpr std::array<std::string_view, 15> words{
        "queued",    "starting",   "compiling", "running",   "finishing",
        "succeeded", "preempting", "pausing",   "paused",    "cancelling",
        "cancelled", "failed",     "stopped",   "timed_out", "expired"};
};

/// One legal move.
struct Transition {
    JobState from;
    JobState to;
    std::string_view cause;    ///< who moves it and why, for the documentation
};

/// Every legal move; the database repeats them as constraints.
std::span<const Transition> transitions() noexcept;

/// True when the table has this move. Staying is no move.
bool allowed(JobState from, JobState to) noexcept;

/// The job has ended: no move leads out of this state.
bool is_final(JobState state) noexcept;

/// An attempt is live: starting, compiling, running, finishing, preempting, pausing, cancelling.
bool is_active(JobState state) noexcept;

}    // namespace slipway
