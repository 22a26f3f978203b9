#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/submission/forked_job.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/submissions.h"

namespace slipway::routes {
namespace {

Response submit_or_preview(const Context& context, submission::CheckedJob job) {
    if (!query_flag(context.request, "dry_run")) return submit(context, std::move(job));
    return json_response(preview(context, job));
}

// Who has succeeded has nothing to try again, and who has not ended is still trying.
void require_retriable(const store::Job& job) {
    if (is_final(job.state) && job.state != JobState::succeeded) return;
    throw Error{ErrorCode::conflict,
                fmt::format("job {} is {}; only a job that has ended without success can be "
                            "retried{}",
                            job.id, to_string(job.state),
                            job.state == JobState::succeeded ? "; fork it to train further" : "")};
}

// The project that the fork would be in; a wrong one is found by the decoder.
std::string project_of(const store::Job& origin, const JobForkBody& body) {
    const auto changed = body.changes.find("project");
    const bool named = changed != body.changes.end() && changed->is_string();
    return named ? changed->get<std::string>() : origin.project;
}

}    // namespace

Response retry_job(const Context& context) {
    const store::Job origin = the_job(context);
    require_retriable(origin);
    return submit_or_preview(context,
                             require_job(submission::check_retry(origin, submitter_of(context.who),
                                                                 context.services.store),
                                         "the job to retry"));
}

Response fork_job(const Context& context) {
    const store::Job origin = the_job(context);
    const JobForkBody body = read_body(context.request, decode_job_fork, "the fork");
    if (origin.kind != JobKind::train)
        throw Error{ErrorCode::conflict, "only a training job can be forked"};
    require_project(context.who, context.endpoint.access, project_of(origin, body));
    return submit_or_preview(
        context, require_job(submission::check_fork(origin, body, submitter_of(context.who),
                                                    context.services.store),
                             "the fork"));
}

}    // namespace slipway::routes
