#include <nlohmann/json.hpp>

#include "scheduler/submission/pool_change.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/schedule_preview.h"
#include "server/routes/submissions.h"

namespace slipway::routes {
namespace {

// How the learning rate of a job will go, in its preview.
Json schedule_of(const submission::CheckedJob& job) {
    std::optional<std::int64_t> samples;
    if (job.dataset && job.dataset->state == store::DatasetState::ready)
        samples = training_samples(job.spec, stored_json(job.dataset->report));
    return schedule_preview(job.spec, samples);
}

// The version that If-Match names: of the ETags that `version_etag` makes.
std::optional<std::int64_t> expected_version(const Request& request, const store::Job& job) {
    if (!request.header("if-match")) return std::nullopt;
    require_if_match(request, version_etag(job.version));
    return job.version;
}

}    // namespace

Response create_job(const Context& context) {
    submission::CheckedJob job = read_job(context, JobKind::train);
    if (!query_flag(context.request, "dry_run")) return submit(context, std::move(job));
    Json answer = preview(context, job);
    answer["schedule"] = schedule_of(job);
    return json_response(answer);
}

Response get_job(const Context& context) {
    return watched_job(context, the_job(context));
}

Response patch_job(const Context& context) {
    const store::Job before = the_job(context);
    const JobPatchBody body = read_body(context.request, decode_job_patch, "the change");
    store::JobPatch patch{
        .name = body.name, .labels = body.labels, .queue_class = {}, .pool = body.queue.pool};
    if (body.queue.job_class) patch.queue_class = to_string(*body.queue.job_class);
    if (patch.pool && before.state == JobState::queued)
        throw_problems(submission::check_pool_change(context.services.store, before, *patch.pool),
                       "invalid_body", "the change");
    const auto job = store::patch_job(context.services.store, before.id, patch,
                                      expected_version(context.request, before));
    if (!job) throw_not_found("job", before.id);
    if (patch.queue_class || patch.pool) context.services.on_queued();
    return job_response(*job, position_of(context, *job));
}

Response delete_job(const Context& context) {
    const store::Job job = the_job(context);
    require_if_match(context.request, version_etag(job.version));
    if (!store::delete_job(context.services.store, job.id)) throw_not_found("job", job.id);
    return no_content();
}

}    // namespace slipway::routes
