#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/dataset_check.h"
#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/prediction_check.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

// A prediction that the service can take as it is: its checkpoint by id, its precision filled in.
struct CheckedPrediction {
    PredictionSpec prediction;
    JobSpec job;
    std::optional<store::Dataset> dataset;

    std::string dataset_id() const { return dataset ? dataset->id : std::string(); }
};

void append(std::vector<Problem>& problems, std::vector<Problem> more) {
    for (Problem& problem : more) {
        const bool told = std::ranges::any_of(
            problems, [&](const Problem& one) { return one.pointer == problem.pointer; });
        if (!told) problems.push_back(std::move(problem));
    }
}

bool has_problem_at(const std::vector<Problem>& problems, std::string_view prefix) {
    return std::ranges::any_of(problems,
                               [&](const Problem& one) { return one.pointer.starts_with(prefix); });
}

CheckedPrediction read_prediction(const Context& context) {
    Decoded<PredictionSpec> decoded = decode_prediction(parse_body(context.request));
    CheckedPrediction checked{.prediction = std::move(decoded.value), .job = {}, .dataset = {}};
    PredictionSpec& prediction = checked.prediction;
    std::vector<Problem>& problems = decoded.problems;
    if (decoded.ok()) require_project(context.who, prediction.project);
    // Also with other problems, so that all are told at once.
    if (!prediction.data.dataset.empty() && context.who.sees(prediction.project)) {
        NamedDataset named =
            find_named_dataset(context.services.store, prediction.project, prediction.data.dataset);
        checked.dataset = std::move(named.dataset);
        append(problems, std::move(named.problems));
    }
    std::optional<store::Job> trained;
    if (!has_problem_at(problems, "/from")) {
        FoundCheckpoint found = find_predicting_checkpoint(context, prediction.from);
        trained = std::move(found.job);
        if (trained) prediction.from = {.job = trained->id, .checkpoint = std::move(found.id)};
        append(problems, std::move(found.problems));
    }
    if (trained && checked.dataset)
        append(problems,
               check_predicted_data(context, prediction.data, *checked.dataset, *trained));
    throw_problems(problems, "invalid_spec", "the prediction");
    const auto spec = decode_job_spec(stored_json(trained->spec));
    if (!spec.ok())
        throw ProblemError({.status = 409,
                            .code = "old_job",
                            .detail = fmt::format("the spec of job {} is of another version: {}",
                                                  trained->id, joined_messages(spec.problems))});
    if (!prediction.precision) prediction.precision = spec.value.train.precision;
    checked.job = predicting_job(spec.value, prediction);
    return checked;
}

store::NewJob new_job(const Context& context, CheckedPrediction checked) {
    PredictionSpec& prediction = checked.prediction;
    store::NewJob job;
    job.id = new_id("job");
    if (prediction.name.empty())
        prediction.name =
            made_name(fmt::format("predict-{}", to_string(checked.job.model.arch)), job.id);
    checked.job.name = prediction.name;
    job.name = prediction.name;
    job.project = prediction.project;
    job.labels = prediction.labels;
    job.spec = encode(checked.job).dump();
    job.effective = encode_effective(prediction).dump();
    job.dataset_id = checked.dataset_id();
    job.queue_class = to_string(prediction.queue.job_class);
    job.cores = static_cast<int>(prediction.accelerator.cores);
    if (prediction.accelerator.core_id)
        job.core_id = static_cast<int>(*prediction.accelerator.core_id);
    job.restarts_max = static_cast<int>(prediction.limits.max_restarts);
    job.start_after = prediction.limits.start_after;
    job.valid_until = prediction.limits.valid_until;
    job.created_by = context.who.token_id;
    job.kind = JobKind::predict;
    job.payload = encode(prediction).dump();
    job.checkpoint_id = prediction.from.checkpoint;
    return job;
}

Response preview(const Context& context, const CheckedPrediction& checked) {
    return json_response({{"prediction", encode(checked.prediction)},
                          {"spec", encode(checked.job)},
                          {"effective", encode_effective(checked.prediction)},
                          {"dataset_id", checked.dataset_id()},
                          {"queue", queue_place(context, checked.prediction.queue.job_class)}});
}

store::Job the_prediction(const Context& context) {
    store::Job job = the_job(context);
    if (job.kind != JobKind::predict) throw_not_found("prediction", job.id);
    return job;
}

}    // namespace

Response create_prediction(const Context& context) {
    CheckedPrediction checked = read_prediction(context);
    if (query_flag(context.request, "dry_run")) return preview(context, checked);
    return submit(context, new_job(context, std::move(checked)), "/v1/predictions/");
}

Response list_predictions(const Context& context) {
    store::JobFilter filter;
    filter.states = query_enumerators<JobState>(context.request, "state");
    filter.projects = projects_asked(context);
    filter.dataset_id = query_text(context.request, "dataset");
    filter.kind = JobKind::predict;
    return job_list(context, filter, store::JobOrder::created_at, true);
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
    const auto file = open_below(context.services.store_folder / "reports",
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
