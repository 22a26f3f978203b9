#include "server/routes/handlers.h"
#include "server/routes/job_action.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"

namespace slipway::routes {
namespace {

Response act(const Context& context, JobAction action) {
    const store::Job before = the_job(context);
    const auto job = act_on(context, before, action);
    if (!job) throw_not_found("job", before.id);
    return job_response(*job, position_of(context, *job));
}

}    // namespace

Response cancel_job(const Context& context) {
    return act(context, JobAction::cancel);
}

Response kill_job(const Context& context) {
    return act(context, JobAction::kill);
}

Response pause_job(const Context& context) {
    return act(context, JobAction::pause);
}

Response resume_job(const Context& context) {
    return act(context, JobAction::resume);
}

Response checkpoint_job(const Context& context) {
    const store::Job before = the_job(context);
    if (before.kind != JobKind::train)
        throw Error{ErrorCode::conflict, "only a training job saves checkpoints"};
    const auto job = store::request_save(context.services.store, before.id);
    if (!job) throw_not_found("job", before.id);
    context.services.on_changed();
    return job_response(*job, std::nullopt);
}

}    // namespace slipway::routes
