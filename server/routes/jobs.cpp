#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/data_fit_check.h"
#include "server/routes/dataset_check.h"
#include "server/routes/handlers.h"
#include "server/routes/job_answer.h"
#include "server/routes/lookup.h"
#include "server/routes/memory_check.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/schedule_preview.h"
#include "server/routes/split_check.h"
#include "server/routes/version_check.h"
#include "server/routes/weights_check.h"

namespace slipway::routes {
namespace {

// A spec that the service can take as it is.
struct CheckedSpec {
    JobSpec spec;
    std::optional<store::Dataset> dataset;

    std::string dataset_id() const { return dataset ? dataset->id : std::string(); }
};

CheckedSpec read_spec(const Context& context) {
    Decoded<JobSpec> decoded = decode_job_spec(parse_body(context.request));
    JobSpec& spec = decoded.value;
    if (decoded.ok()) require_project(context.who, spec.project);
    CheckedSpec checked;
    // Also with other problems, so that all are told at once.
    if (!spec.data.dataset.empty() && context.who.sees(spec.project)) {
        NamedDataset named =
            find_named_dataset(context.services.store, spec.project, spec.data.dataset);
        checked.dataset = std::move(named.dataset);
        for (Problem& problem : named.problems) {
            const bool told = std::ranges::any_of(decoded.problems, [&](const Problem& one) {
                return one.pointer == problem.pointer;
            });
            if (!told) decoded.problems.push_back(std::move(problem));
        }
    }
    for (Problem& problem : check_split(context, spec, checked.dataset_id()))
        decoded.problems.push_back(std::move(problem));
    for (Problem& problem : check_version(spec, checked.dataset))
        decoded.problems.push_back(std::move(problem));
    for (Problem& problem : check_data_fit(spec, checked.dataset))
        decoded.problems.push_back(std::move(problem));
    for (Problem& problem : check_memory(context, spec))
        decoded.problems.push_back(std::move(problem));
    for (Problem& problem : check_weights(context, spec))
        decoded.problems.push_back(std::move(problem));
    throw_problems(decoded.problems, "invalid_spec", "the job spec");
    checked.spec = std::move(spec);
    return checked;
}

store::NewJob new_job(const Context& context, CheckedSpec checked) {
    JobSpec& spec = checked.spec;
    store::NewJob job;
    job.id = new_id("job");
    if (spec.name.empty()) spec.name = made_name(to_string(spec.model.arch), job.id);
    job.name = spec.name;
    job.project = spec.project;
    job.labels = spec.labels;
    job.spec = encode(spec).dump();
    job.effective = encode(effective(spec)).dump();
    job.dataset_id = checked.dataset_id();
    job.queue_class = to_string(spec.queue.job_class);
    job.cores = static_cast<int>(spec.accelerator.cores);
    if (spec.accelerator.core_id) job.core_id = static_cast<int>(*spec.accelerator.core_id);
    job.restarts_max = static_cast<int>(spec.limits.max_restarts);
    job.start_after = spec.limits.start_after;
    job.valid_until = spec.limits.valid_until;
    job.created_by = context.who.token_id;
    if (spec.model.init && is_id("ckp", spec.model.init->from))
        job.checkpoint_id = spec.model.init->from;
    if (spec.model.init && is_id("upl", spec.model.init->from))
        job.upload_id = spec.model.init->from;
    return job;
}

std::optional<std::int64_t> samples_of(const CheckedSpec& checked) {
    const auto& dataset = checked.dataset;
    if (!dataset || dataset->state != store::DatasetState::ready) return std::nullopt;
    return training_samples(checked.spec, stored_json(dataset->report));
}

Response preview(const Context& context, const CheckedSpec& checked) {
    return json_response({{"spec", encode(checked.spec)},
                          {"effective", encode(effective(checked.spec))},
                          {"schedule", schedule_preview(checked.spec, samples_of(checked))},
                          {"dataset_id", checked.dataset_id()},
                          {"queue", queue_place(context, checked.spec.queue.job_class)}});
}

store::JobOrder order_of(std::string_view word) {
    if (word == "name") return store::JobOrder::name;
    return word == "finished_at" ? store::JobOrder::finished_at : store::JobOrder::created_at;
}

// The version that If-Match names: of the ETags that `version_etag` makes.
std::optional<std::int64_t> expected_version(const Request& request, const store::Job& job) {
    if (!request.header("if-match")) return std::nullopt;
    require_if_match(request, version_etag(job.version));
    return job.version;
}

}    // namespace

Response create_job(const Context& context) {
    CheckedSpec checked = read_spec(context);
    if (query_flag(context.request, "dry_run")) return preview(context, checked);
    const store::NewJob job = new_job(context, std::move(checked));
    return submit(context, job, "/v1/jobs/");
}

Response list_jobs(const Context& context) {
    const Request& request = context.request;
    store::JobFilter filter;
    filter.states = query_enumerators<JobState>(request, "state");
    filter.projects = projects_asked(context);
    filter.name_contains = query_text(request, "name");
    filter.labels = query_pairs(request, "label");
    filter.dataset_id = query_text(request, "dataset");
    filter.kind = parse_word<JobKind>(query_text(request, "kind"));
    std::string order = query_text(request, "order_by");
    if (order.empty()) order = "-created_at";
    const bool descending = order.starts_with('-');
    return job_list(context, filter, order_of(std::string_view(order).substr(descending ? 1 : 0)),
                    descending);
}

Response get_job(const Context& context) {
    return watched_job(context, the_job(context));
}

Response patch_job(const Context& context) {
    const store::Job before = the_job(context);
    const JobPatchBody body = read_body(context.request, decode_job_patch, "the change");
    store::JobPatch patch{.name = body.name, .labels = body.labels, .queue_class = {}};
    if (body.queue.job_class) patch.queue_class = to_string(*body.queue.job_class);
    const auto job = store::patch_job(context.services.store, before.id, patch,
                                      expected_version(context.request, before));
    if (!job) throw_not_found("job", before.id);
    if (patch.queue_class) context.services.on_queued();
    return job_response(*job, position_of(context, *job));
}

Response delete_job(const Context& context) {
    const store::Job job = the_job(context);
    require_if_match(context.request, version_etag(job.version));
    if (!store::delete_job(context.services.store, job.id)) throw_not_found("job", job.id);
    return no_content();
}

}    // namespace slipway::routes
