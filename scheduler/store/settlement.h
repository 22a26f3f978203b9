#pragma once

#include "scheduler/store/attempts.h"

namespace slipway::store {

/// A job whose live attempt ends, as it was before.
struct EndingJob {
    JobState state{};
    int restarts = 0;
    int restarts_max = 0;
    std::optional<Reason> reason{};
    std::string crash_key{};    ///< of the last crash
    int crashes = 0;            ///< in a row with this key
};

/// Where the job goes, and what is written with it.
struct Settlement {
    JobState state{};
    int restarts_added = 0;
    std::chrono::milliseconds retry_after{0};
    std::optional<Reason> reason{};
    int crashes = 0;    ///< in a row with the key of the end
};

/// The retry policy. An end state is taken as it is. A job that is to run again or to be paused
/// goes where a user or the leader has sent it meanwhile (cancelled, paused, queued); else it is
/// queued again, and fails when its restarts are used up (executor_lost) or when it ended with the
/// same crash_key AttemptEnd::repeats_max times in a row (repeated_crash, or the reason's code).
/// The message of a job that is queued again says how often in a row its reason was one. Pure.
Settlement settle(const EndingJob& job, const AttemptEnd& end);

/// States between the two that an executor may have passed without a frame before it ended: they
/// are written too, so that the history stays a path of the state machine. Pure.
std::vector<JobState> states_between(JobState from, JobState to);

}    // namespace slipway::store
