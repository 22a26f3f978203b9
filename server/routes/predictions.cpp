#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/kind_routes.h"
#include "server/routes/problems.h"

namespace slipway::routes {

Response create_prediction(const Context& context) {
    return create_of_kind(context, JobKind::predict);
}

Response list_predictions(const Context& context) {
    return list_of_kind(context, JobKind::predict);
}

Response get_prediction(const Context& context) {
    return watched_job(context, job_of_kind(context, JobKind::predict));
}

Response get_prediction_result(const Context& context) {
    const store::Job job = job_of_kind(context, JobKind::predict);
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
