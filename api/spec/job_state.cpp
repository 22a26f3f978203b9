#include "api/spec/job_state.h"

#include <algorithm>

namespace slipway {

namespace {

using enum JobState;

// From the left column's point of view: what can happen to a job in this state.
constexpr auto transition_rows = std::to_array<Transition>({
    {queued, starting, "the scheduler found room"},
    {queued, cancelled, "the user asked"},
    {queued, paused, "the user asked"},
    {queued, stopped, "a search rule ended it"},
    {queued, failed, "its dataset failed its check or was removed"},
    {queued, expired, "limits.valid_until passed"},

    {starting, compiling, "the executor began"},
    {starting, queued, "the executor was lost; it runs again"},
    {starting, preempting, "a more urgent job needs the cores"},
    {starting, pausing, "the user asked"},
    {starting, cancelling, "the user asked"},
    {starting, failed, "the executor could not use the spec or the data"},
    {starting, stopped, "a search rule or a target ended it"},
    {starting, timed_out, "limits.max_wall_s or max_core_s passed"},

    {compiling, running, "the programs are compiled"},
    {compiling, finishing, "nothing was left to train after a resume"},
    {compiling, queued, "the executor was lost; it runs again"},
    {compiling, preempting, "a more urgent job needs the cores"},
    {compiling, pausing, "the user asked"},
    {compiling, cancelling, "the user asked"},
    {compiling, failed, "the executor could not use the spec or the data"},
    {compiling, stopped, "a search rule or a target ended it"},
    {compiling, timed_out, "limits.max_wall_s or max_core_s passed"},

    {running, finishing, "the last step is done"},
    {running, queued, "the executor was lost or let go; it runs again"},
    {running, preempting, "a more urgent job needs the cores"},
    {running, pausing, "the user asked"},
    {running, cancelling, "the user asked"},
    {running, failed, "the training cannot go on"},
    {running, stopped, "a search rule or a target ended it"},
    {running, timed_out, "limits.max_wall_s or max_core_s passed"},

    {finishing, succeeded, "the executor is done"},
    {finishing, queued, "the executor was lost; it runs again"},
    {finishing, cancelling, "the user asked"},
    {finishing, failed, "the last evaluation or checkpoint failed"},
    {finishing, stopped, "a search rule or a target ended it"},
    {finishing, timed_out, "limits.max_wall_s or max_core_s passed"},

    {preempting, queued, "it saved and waits again"},
    {preempting, cancelling, "the user asked"},
    {preempting, succeeded, "it was done before it could be preempted"},
    {preempting, failed, "it failed before it could be preempted"},
    {preempting, timed_out, "limits.max_wall_s or max_core_s passed"},

    {pausing, paused, "it saved"},
    {pausing, cancelling, "the user asked"},
    {pausing, succeeded, "it was done before it could be paused"},
    {pausing, failed, "it failed before it could be paused"},
    {pausing, timed_out, "limits.max_wall_s or max_core_s passed"},

    {paused, queued, "the user asked"},
    {paused, cancelled, "the user asked"},
    {paused, stopped, "a search rule ended it"},

    {cancelling, cancelled, "its processes are gone"},
    {cancelling, succeeded, "it was done before the request reached it"},
    {cancelling, failed, "it failed before the request reached it"},
    {cancelling, timed_out, "limits.max_wall_s or max_core_s passed before the request reached it"},
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
