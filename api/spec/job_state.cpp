#include "api/spec/job_state.h"

#include <algorithm>

namespace slipway {

namespace {

using enum JobState;

// From the left column's point of view: what can happen to a job in this state.
constexpr auto transition_rows = std::to_array<Transition>({
    {queued, starting, "the scheduler assigned cores"},
    {queued, cancelled, "user request"},
    {queued, paused, "user request"},
    {queued, stopped, "stopped by its sweep"},
    {queued, failed, "the dataset failed its check or was deleted"},
    {queued, expired, "limits.valid_until passed"},

    {starting, compiling, "the executor started"},
    {starting, queued, "the executor was lost; the job runs again"},
    {starting, preempting, "a more urgent job needs the cores"},
    {starting, pausing, "user request"},
    {starting, cancelling, "user request"},
    {starting, failed, "the executor could not use the spec or the data"},
    {starting, stopped, "stopped by its sweep"},
    {starting, timed_out, "limits.max_wall_s or max_core_s exceeded"},

    {compiling, running, "the programs were compiled"},
    {compiling, finishing, "no steps were left after a resume"},
    {compiling, queued, "the executor was lost; the job runs again"},
    {compiling, preempting, "a more urgent job needs the cores"},
    {compiling, pausing, "user request"},
    {compiling, cancelling, "user request"},
    {compiling, failed, "the executor could not use the spec or the data"},
    {compiling, stopped, "stopped by its sweep"},
    {compiling, timed_out, "limits.max_wall_s or max_core_s exceeded"},

    {running, finishing, "the last step was completed"},
    {running, queued, "the executor was lost or released; the job runs again"},
    {running, preempting, "a more urgent job needs the cores"},
    {running, pausing, "user request"},
    {running, cancelling, "user request"},
    {running, failed, "the training could not continue"},
    {running, stopped, "stopped by its sweep"},
    {running, timed_out, "limits.max_wall_s or max_core_s exceeded"},

    {finishing, succeeded, "the executor finished"},
    {finishing, queued, "the executor was lost; the job runs again"},
    {finishing, cancelling, "user request"},
    {finishing, failed, "the last evaluation or checkpoint failed"},
    {finishing, stopped, "stopped by its sweep"},
    {finishing, timed_out, "limits.max_wall_s or max_core_s exceeded"},

    {preempting, queued, "a checkpoint was saved; the job is queued again"},
    {preempting, cancelling, "user request"},
    {preempting, succeeded, "the job finished before it was preempted"},
    {preempting, failed, "the job failed before it was preempted"},
    {preempting, timed_out, "limits.max_wall_s or max_core_s exceeded"},

    {pausing, paused, "a checkpoint was saved"},
    {pausing, cancelling, "user request"},
    {pausing, succeeded, "the job finished before it was paused"},
    {pausing, failed, "the job failed before it was paused"},
    {pausing, timed_out, "limits.max_wall_s or max_core_s exceeded"},

    {paused, queued, "user request"},
    {paused, cancelled, "user request"},
    {paused, stopped, "stopped by its sweep"},

    {cancelling, cancelled, "all processes of the job have ended"},
    {cancelling, succeeded, "the job finished before the request took effect"},
    {cancelling, failed, "the job failed before the request took effect"},
    {cancelling, timed_out,
     "limits.max_wall_s or max_core_s exceeded before the request took effect"},
});

}    // namespace

std::span<const Transition> transitions() noexcept {
    return transition_rows;
}

bool allowed(JobState from, JobState to) noexcept {
    return std::any_of(transition_rows.begin(), transition_rows.end(),
                       [&](const Transition& row) { return row.from == from && row.to == to; });
}

bool is_final(JobState state) noexcept {
    return std::none_of(transition_rows.begin(), transition_rows.end(),
                        [&](const Transition& row) { return row.from == state; });
}

bool is_active(JobState state) noexcept {
    return !is_final(state) && state != queued && state != paused;
}

}    // namespace slipway
