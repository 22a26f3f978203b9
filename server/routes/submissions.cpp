#include "server/routes/submissions.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/host_pools.h"
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
    const std::string pool = store::resolve_pool(context.services.store, spec.queue.pool);
    return {
        {"position", store::next_queue_position(context.services.store, spec.project, rank, pool)},
        {"eta_s", nullptr}};
}

class SubmissionGathering : public Gathering {
public:
    explicit SubmissionGathering(Services& services)
        : services_(services), submissions_(services.store) {}

    submission::GatheredSubmissions& submissions() { return submissions_; }

    void join(Gathering& other) override {
        submissions_.join(dynamic_cast<SubmissionGathering&>(other).submissions_);
    }

    void run() noexcept override {
        if (submissions_.empty()) return;
        submissions_.run();
        services_.on_queued();
    }

private:
    Services& services_;
    submission::GatheredSubmissions submissions_;
};

store::StoredResponse render_first(std::string_view collection, const store::Job& job) {
    return to_stored(job_response(job, std::nullopt, 201)
                         .with("Location", fmt::format("/v1/{}/{}", collection, job.id)));
}

Response created(const store::StoredResponse& stored, const store::Job& job) {
    Response response = from_stored(stored, false).with("ETag", version_etag(job.version));
    response.audited = true;
    return response;
}

/// What stays to be done once the job is stored.
Response submit_gathered(Gathering& gathering, const submission::QueueLimit& limit,
                         submission::Submission wanted, std::string_view collection) {
    auto& submissions = dynamic_cast<SubmissionGathering&>(gathering).submissions();
    const store::GatheredJob* job = submissions.add(limit, std::move(wanted));
    if (job == nullptr) return {.alone = true};
    return {.rest = [job, collection] {
        if (job->error) std::rethrow_exception(job->error);
        return created(render_first(collection, *job->stored), *job->stored);
    }};
}

}    // namespace

std::unique_ptr<Gathering> gather_submissions(Services& services) {
    return std::make_unique<SubmissionGathering>(services);
}

bool may_gather_submission(const Request& request) {
    return !request.header("idempotency-key") && request.query_pairs.empty();
}

submission::CheckedJob read_job(const Context& context, JobKind kind) {
    const submission::JobKindRow& row = submission::row_of(kind);
    Decoded<submission::JobRequest> request = row.decode(parse_body(context.request));
    if (request.ok())
        require_project(context.who, context.endpoint.access,
                        submission::project_of(request.value));
    submission::Submitter submitter = submitter_of(context.who);
    submitter.asked_at = context.request.asked_at;
    Decoded<submission::CheckedJob> checked =
        row.check(std::move(request), submitter, context.services.store);
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

Response submit(const Context& context, submission::CheckedJob job,
                std::function<void(store::Transaction&)> also) {
    const std::string_view collection = traits(job.kind).collection;
    submission::Submission wanted{.jobs = {},
                                  .token_id = context.who.token_id,
                                  .traceparent = context.request.traceparent,
                                  .request = idempotent_request(context.request, context.who),
                                  .audit = audit_entry(context),
                                  .also = std::move(also)};
    wanted.jobs.push_back(std::move(job));
    const submission::QueueLimit limit{.queued = *context.services.queued_jobs,
                                       .jobs_max = context.services.limits.queued_jobs};
    if (context.request.gathering != nullptr)
        return submit_gathered(*context.request.gathering, limit, std::move(wanted), collection);
    const store::Submitted submitted =
        submission::submit(context.services.store, limit, std::move(wanted),
                           [collection](std::span<const store::Job> made) {
                               return render_first(collection, made.front());
                           });
    if (submitted.replayed) return from_stored(submitted.response, true);
    context.services.on_queued();
    return created(submitted.response, submitted.jobs.front());
}

}    // namespace slipway::routes
