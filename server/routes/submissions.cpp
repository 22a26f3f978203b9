#include "server/routes/submissions.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/projects.h"
#include "scheduler/store/queue.h"
#include "scheduler/submission/job_kinds.h"
#include "scheduler/submission/submit.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/idempotency.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/render.h"

namespace slipway::routes {

namespace {

/// {"position", "eta_s"} of the job, were it submitted now.
Json queue_place(const Context& context, const JobSpec& spec) {
    const int rank = static_cast<int>(spec.queue.job_class);
    return {{"position", store::next_queue_position(context.services.store, spec.project, rank)},
            {"eta_s", nullptr}};
}

}    // namespace

submission::CheckedJob read_job(const Context& context, JobKind kind) {
    const submission::JobKindRow& row = submission::row_of(kind);
    Decoded<submission::JobRequest> request = row.decode(parse_body(context.request));
    if (request.ok()) require_project(context.who, submission::project_of(request.value));
    Decoded<submission::CheckedJob> checked =
        row.check(std::move(request), submitter_of(context.who), context.services.store);
    return require_job(std::move(checked), fmt::format("the {}", traits(kind).request_name));
}

submission::CheckedJob require_job(Decoded<submission::CheckedJob> checked, std::string_view what) {
    throw_problems(checked.problems, "invalid_spec", what);
    return std::move(checked.value);
}

Json preview(const Context& context, const submission::CheckedJob& job) {
    store::require_class(context.services.store, job.spec.project,
                         to_string(job.spec.queue.job_class));
    Json answer{{"spec", encode(job.spec)},
                {"effective", job.effective},
                {"dataset_id", job.dataset_id()},
                {"queue", queue_place(context, job.spec)}};
    if (has_payload(job.kind)) answer[std::string(traits(job.kind).payload_member)] = job.payload;
    return answer;
}

Response submit(const Context& context, submission::CheckedJob job) {
    const std::string_view collection = traits(job.kind).collection;
    const auto render_first = [collection](std::span<const store::Job> made) {
        const store::Job& first = made.front();
        return to_stored(job_response(first, std::nullopt, 201)
                             .with("Location", fmt::format("/v1/{}/{}", collection, first.id)));
    };
    submission::Submission wanted{.jobs = {},
                                  .token_id = context.who.token_id,
                                  .traceparent = context.request.traceparent,
                                  .request = idempotent_request(context.request, context.who),
                                  .audit = audit_entry(context)};
    wanted.jobs.push_back(std::move(job));
    const store::Submitted submitted = submission::submit(
        context.services.store,
        {.queued = *context.services.queued_jobs, .jobs_max = context.services.limits.queued_jobs},
        std::move(wanted), render_first);
    if (submitted.replayed) return from_stored(submitted.response, true);
    context.services.on_queued();
    Response response = from_stored(submitted.response, false)
                            .with("ETag", version_etag(submitted.jobs.front().version));
    response.audited = true;
    return response;
}

}    // namespace slipway::routes
