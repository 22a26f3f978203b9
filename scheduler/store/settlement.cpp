#include "scheduler/store/settlement.h"
#include "api/base/plural.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::store {

namespace {

using enum JobState;

/// Enough for the longest wait, and no overflow.
constexpr int doublings_max = 20;

/// A cause that the agent knows, and how often it was one in a row.
std::optional<Reason> repeated_reason(std::optional<Reason> reason, int crashes) {
    if (reason && crashes > 1)
        reason->message = fmt::format("{} times in a row: {}", crashes, reason->message);
    return reason;
}

/// A cause that the agent knows keeps its code.
Reason repeated(const AttemptEnd& end, int crashes) {
    if (end.reason) return *repeated_reason(end.reason, crashes);
    return {"repeated_crash",
            fmt::format("the executor ended in the same way at the same step {} times in a row; "
                        "the last time: {}",
                        crashes, end.message)};
}

std::chrono::milliseconds back_off(const AttemptEnd& end, int crashes) {
    if (end.retry_after_max <= end.retry_after || crashes < 2) return end.retry_after;
    const int doublings = std::min(crashes - 1, doublings_max);
    return std::min(end.retry_after * (1 << doublings), end.retry_after_max);
}

Settlement settle_again(const EndingJob& job, const AttemptEnd& end) {
    if (job.state == cancelling) return {.state = cancelled, .reason = job.reason};
    if (job.state == pausing) return {.state = paused, .reason = job.reason};
    if (job.state == preempting) return {.state = queued, .reason = end.reason};
    const bool again = !end.crash_key.empty() && end.crash_key == job.crash_key;
    const int crashes = end.crash_key.empty() ? 0 : again ? job.crashes + 1 : 1;
    if (end.repeats_max > 0 && crashes >= end.repeats_max)
        return {.state = failed, .reason = repeated(end, crashes), .crashes = crashes};
    if (!end.counts_as_restart) {
        return {.state = queued,
                .retry_after = back_off(end, crashes),
                .reason = repeated_reason(end.reason, crashes),
                .crashes = crashes};
    }
    if (job.restarts >= job.restarts_max) {
        const std::string last = end.reason ? end.reason->message : end.message;
        return {.state = failed,
                .reason =
                    Reason{"executor_lost",
                           fmt::format("the executor was lost {}, more than "
                                       "limits.max_restarts = {}; the last time: {}",
                                       counted(job.restarts + 1, "time"), job.restarts_max, last)}};
    }
    return {.state = queued,
            .restarts_added = 1,
            .retry_after = end.retry_after,
            .reason = end.reason,
            .crashes = crashes};
}

/// What an executor may have passed without a frame.
struct Passage {
    JobState from;
    JobState to;
    JobState via;
};
constexpr auto passages = std::to_array<Passage>({
    {starting, succeeded, compiling},
    {compiling, succeeded, finishing},
    {running, succeeded, finishing},
    {starting, cancelled, cancelling},
    {compiling, cancelled, cancelling},
    {running, cancelled, cancelling},
    {finishing, cancelled, cancelling},
    {preempting, cancelled, cancelling},
    {pausing, cancelled, cancelling},
    {starting, paused, pausing},
    {compiling, paused, pausing},
    {running, paused, pausing},
});

/// Where it may be when it is to be paused. An agent may not know yet that a user who had paused it
/// has cancelled it since.
bool is_pausable(JobState state) {
    return state == pausing || allowed(state, pausing);
}

}    // namespace

Settlement settle(const EndingJob& job, const AttemptEnd& end) {
    if (end.job_state == queued) return settle_again(job, end);
    if (end.job_state == paused && !is_pausable(job.state)) return settle_again(job, end);
    Settlement settlement{.state = end.job_state, .reason = end.reason};
    // The user's reason for cancelling or pausing outlives the agent's silence about it.
    if (!settlement.reason && (end.job_state == cancelled || end.job_state == paused)) {
        settlement.reason = job.reason;
    }
    return settlement;
}

std::vector<JobState> states_between(JobState from, JobState to) {
    std::vector<JobState> between;
    for (const Passage& passage : passages) {
        const JobState here = between.empty() ? from : between.back();
        if (passage.from == here && passage.to == to) between.push_back(passage.via);
    }
    return between;
}

}    // namespace slipway::store
