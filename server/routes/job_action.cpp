#include "server/routes/job_action.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/error.h"
#include "scheduler/store/checkpoints.h"

namespace slipway::routes {
namespace {

struct IntentRow {
    JobAction action;
    Intent intent;
    const char* code;
    const char* message;
};

constexpr auto intent_rows = std::to_array<IntentRow>({
    {JobAction::cancel, Intent::cancel, "cancelled", "cancelled by a user"},
    {JobAction::kill, Intent::kill, "killed", "killed by a user, without saving"},
    {JobAction::pause, Intent::pause, "paused", "paused by a user"},
});

const IntentRow& intent_of(JobAction action) {
    const auto* row = std::ranges::find(intent_rows, action, &IntentRow::action);
    check(row != intent_rows.end(), "every action that is not done here is an intent");
    return *row;
}

// Its attempt would end at once.
void require_compatible(store::Store& store, const std::string& job_id) {
    const auto newest = store::find_newest_checkpoint(store, job_id);
    const std::string why = newest ? store::incompatibility(*newest) : std::string();
    if (!why.empty())
        throw Error{ErrorCode::conflict, fmt::format("job {} cannot be resumed: {}", job_id, why)};
}

// A paused job takes no place in the queue: it needs one again.
std::optional<store::Job> resume(const Context& context, const store::Job& job) {
    Services& services = context.services;
    if (store::is_resumed(job.state)) {
        require_compatible(services.store, job.id);
        const std::int64_t jobs_max = services.limits.queued_jobs;
        services.queued_jobs->refresh(job.project, context.who.token_id, jobs_max);
        services.queued_jobs->add(job.project, context.who.token_id, 1, jobs_max);
    }
    auto resumed = store::resume_job(services.store, job.id);
    services.on_queued();
    return resumed;
}

}    // namespace

std::optional<store::Job> act_on(const Context& context, const store::Job& job, JobAction action) {
    store::Store& store = context.services.store;
    if (action == JobAction::resume) return resume(context, job);
    if (action == JobAction::remove) {
        store::delete_job(store, job.id);
        return std::nullopt;
    }
    const IntentRow& row = intent_of(action);
    auto asked = store::request_intent(store, job.id, row.intent,
                                       {.code = row.code, .message = row.message});
    context.services.on_changed();
    return asked;
}

std::optional<JobState> preview_action(const store::Job& job, JobAction action) {
    if (action == JobAction::resume)
        return store::is_resumed(job.state) ? JobState::queued : job.state;
    if (action == JobAction::remove) {
        if (is_final(job.state)) return std::nullopt;
        throw Error{ErrorCode::conflict,
                    fmt::format("a job that is {} cannot be deleted; cancel it first",
                                to_string(job.state))};
    }
    return store::state_after(intent_of(action).intent, job.state).value_or(job.state);
}

}    // namespace slipway::routes
