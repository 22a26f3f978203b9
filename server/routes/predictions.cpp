#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/submissions.h"

namespace slipway::routes {
namespace {

store::Job the_prediction(const Context& context) {
    store::Job job = the_job(context);
    if (job.kind != JobKind::predict) throw_not_found("prediction", job.id);
    return job;
}

}    // namespace

Response create_prediction(const Context& context) {
    submission::CheckedJob job = read_job(context, JobKind::predict);
    if (!query_flag(context.request, "dry_run")) return submit(context, std::move(job));
    return json_response(preview(context, job));
}

Response list_predictions(const Context& context) {
    store::JobFilter filter;
    filter.states = query_enumerators<JobState>(context.request, "state");
    filter.projects = projects_asked(context);
    filter.dataset_id = query_text(context.request, "dataset");
    filter.kind = JobKind::predict;
    return job_list(store::list_jobs(context.services.store, filter, query_page(context.request)));
}

Response get_prediction(const Context& context) {
    return watched_job(context, the_prediction(context));
}

Response get_prediction_result(const Context& context) {
    const store::Job job = the_prediction(context);
    const auto missing = [&](int status, const char* code, std::string detail) {
        throw ProblemError({.status = status, .code = code, .detail = std::move(detail)});
    };
    if (job.state != JobState::succeeded)
        missing(404, "no_result",
                fmt::format("prediction {} is {}; the result is there when it has succeeded",
                            job.id, to_string(job.state)));
    const auto file = open_below(context.services.artifacts.folder(Artifact::report),
                                 fmt::format("{}/predictions.csv", job.id));
    if (!file)
        missing(410, "gone",
                fmt::format("the result of prediction {} is not on this machine's disk", job.id));
    return file_response(context.request, *file,
                         {.media_type = "text/csv; charset=utf-8",
                          .download_name = job.name + ".csv",
                          .etag = {},
                          .cache_control = "private, no-cache"});
}

}    // namespace slipway::routes
