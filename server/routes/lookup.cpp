#include "server/routes/lookup.h"

#include <fmt/format.h>

#include "api/base/id.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"

namespace slipway::routes {

bool reaches(const Context& context, std::string_view project) {
    if (!context.who.sees(project)) return false;
    require_project(context.who, context.endpoint.access, project);
    return true;
}

store::Job the_job(const Context& context) {
    const std::string& id = context.request.parameter("id");
    if (!is_id("job", id)) throw_not_found("job", id);
    auto job = store::find_job(context.services.store, id);
    if (!job || !reaches(context, job->project)) throw_not_found("job", id);
    return *std::move(job);
}

store::Checkpoint the_checkpoint(const Context& context) {
    const std::string& id = context.request.parameter("id");
    if (!is_id("ckp", id)) throw_not_found("checkpoint", id);
    auto checkpoint = store::find_checkpoint(context.services.store, id);
    if (!checkpoint || !reaches(context, checkpoint->project)) throw_not_found("checkpoint", id);
    return *std::move(checkpoint);
}

store::CrossValidation the_cross_validation(const Context& context) {
    return the_cross_validation(context, context.request.parameter("id"));
}

store::CrossValidation the_cross_validation(const Context& context, const std::string& id) {
    if (!is_id("cv", id)) throw_not_found("cross-validation", id);
    auto found = store::find_cross_validation(context.services.store, id);
    if (!found || !reaches(context, found->project)) throw_not_found("cross-validation", id);
    return *std::move(found);
}

store::Dataset the_dataset(const Context& context) {
    const std::string& id = context.request.parameter("id");
    std::string project = query_text(context.request, "project");
    if (project.empty()) project = "default";
    auto dataset = is_id("ds", id) ? store::find_dataset(context.services.store, id)
                                   : store::find_dataset(context.services.store, project, id);
    if (!dataset || !reaches(context, dataset->project)) throw_not_found("dataset", id);
    return *std::move(dataset);
}

store::StoredSplit the_split(const Context& context) {
    const std::string& id = context.request.parameter("sid");
    const store::Dataset dataset = the_dataset(context);
    auto split = is_id("spl", id) ? store::find_split(context.services.store, id) : std::nullopt;
    if (!split || split->dataset_id != dataset.id) throw_not_found("split", id);
    return *std::move(split);
}

void require_not_failed(const store::Dataset& dataset) {
    if (dataset.state != store::DatasetState::failed) return;
    throw Error{ErrorCode::conflict,
                fmt::format("dataset {} cannot be used: its check failed", dataset.name)};
}

void require_ready(const store::Dataset& dataset) {
    require_not_failed(dataset);
    if (dataset.state == store::DatasetState::ready) return;
    throw Error{ErrorCode::conflict,
                fmt::format("dataset {} is still being checked: wait with GET and Prefer: wait=30",
                            dataset.name)};
}

store::Upload the_upload(const Request& request, Services& services, const Identity& who) {
    const std::string& id = request.parameter("id");
    auto upload = find_own_upload(services.store, who, id);
    if (!upload) throw_not_found("upload", id);
    return *std::move(upload);
}

std::optional<store::Upload> find_own_upload(store::Store& store, const Identity& who,
                                             const std::string& id) {
    return submission::find_own_upload(store, submitter_of(who), id);
}

submission::Submitter submitter_of(const Identity& who) {
    return submission::submitter_of(who.token_id, who.grants);
}

std::vector<std::string> projects_asked(const Context& context) {
    const std::string project = query_text(context.request, "project");
    if (project.empty()) return context.who.projects(context.endpoint.access);
    if (!reaches(context, project)) throw_not_found("project", project);
    return {project};
}

void hide_foreign_job(const Context& context, WaitExplanation& waits) {
    if (waits.blocking_job.empty() || !context.who.is_bound()) return;
    const auto blocking = store::find_job(context.services.store, waits.blocking_job);
    if (blocking && context.who.sees(blocking->project)) return;
    const std::string named = "job " + waits.blocking_job;
    for (std::size_t at = 0; (at = waits.message.find(named)) != std::string::npos;)
        waits.message.replace(at, named.size(), "a job of another project");
    waits.blocking_job.clear();
}

std::map<std::string, StartEstimate> start_estimates(const Context& context,
                                                     const std::vector<std::string>& job_ids) {
    if (!context.services.estimate_starts || job_ids.empty()) return {};
    return context.services.estimate_starts(job_ids);
}

}    // namespace slipway::routes
