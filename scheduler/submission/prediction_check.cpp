#include "scheduler/submission/prediction_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "api/base/plural.h"
#include "api/spec/documents.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/dataset_facts.h"
#include "scheduler/submission/ensemble_check.h"

namespace slipway::submission {

namespace {

FoundCheckpoints refuse(const char* pointer, std::string code, std::string message,
                        std::vector<std::string> allowed = {}) {
    return {.ids = {},
            .jobs = {},
            .problems = {{.pointer = pointer,
                          .code = std::move(code),
                          .message = std::move(message),
                          .allowed = std::move(allowed)}}};
}

FoundCheckpoints unknown_job(const std::string& id) {
    return refuse("/from/job", "not_found",
                  fmt::format("there is no job {}; GET /v1/jobs lists them", id));
}

FoundCheckpoints take(const store::Checkpoint& checkpoint, store::Job job) {
    if (std::string why = store::incompatibility(checkpoint); !why.empty())
        return refuse("/from/checkpoint", "incompatible", std::move(why));
    return {.ids = {checkpoint.id}, .jobs = {std::move(job)}};
}

std::vector<store::Checkpoint> kept_checkpoints(store::Store& store, const std::string& job_id) {
    return store::list_checkpoints(store, {.job_id = job_id, .projects = {}, .deleted_too = false},
                                   {.limit = 200, .cursor = {}})
        .items;
}

/// The checkpoint that the job calls its best; empty when it has none.
std::string best_of(const store::Job& job) {
    const Json best = store::stored_json(job.best);
    return best.is_object() ? best.value("checkpoint", "") : std::string();
}

/// "best" and "last" are kinds: the best one and the newest are meant. Anything else is a name.
FoundCheckpoints choose(store::Store& store, const store::Job& job, const std::string& wanted) {
    const auto kept = kept_checkpoints(store, job.id);
    if (kept.empty())
        return refuse("/from/job", "no_checkpoint",
                      fmt::format("job {} is {} and has no checkpoint; name a job that has saved "
                                  "one",
                                  job.id, to_string(job.state)));
    // With best.keep above 1 several are among the best.
    const std::string best = wanted == "best" ? best_of(job) : std::string();
    const bool there = std::ranges::find(kept, best, &store::Checkpoint::id) != kept.end();
    const auto is_wanted = [&](const store::Checkpoint& one) {
        if (one.name == wanted) return true;
        if (there) return one.id == best;
        return std::ranges::find(one.kinds, wanted) != one.kinds.end();
    };
    const auto found = std::ranges::find_if(kept, is_wanted);
    if (found != kept.end()) return take(*found, job);
    // Without evaluations none was ever the best; the last one always is there.
    std::vector<std::string> names{"last"};
    for (const store::Checkpoint& one : kept)
        names.push_back(one.name);
    return refuse("/from/checkpoint", "not_found",
                  fmt::format("job {} has no checkpoint `{}`; it has {}", job.id, wanted,
                              fmt::join(names, ", ")),
                  names);
}

/// A job whose checkpoints stay as they are.
std::vector<Problem> check_job(const store::Job& job, const char* pointer) {
    if (job.kind != JobKind::train)
        return refuse(pointer, "inconsistent",
                      fmt::format("job {} is of the kind {} and has no checkpoints of its own; "
                                  "name the training job",
                                  job.id, to_string(job.kind)))
            .problems;
    if (is_final(job.state)) return {};
    return refuse(pointer, "not_finished",
                  fmt::format("job {} is {}, and only the checkpoints of a job that has ended can "
                              "be used; wait for it, or cancel it",
                              job.id, to_string(job.state)))
        .problems;
}

FoundCheckpoints find_by_id(store::Store& store, const Submitter& submitter,
                            const PredictionSource& from) {
    const auto checkpoint = store::find_checkpoint(store, from.checkpoint);
    if (!checkpoint || !submitter.sees(checkpoint->project))
        return refuse("/from/checkpoint", "not_found",
                      fmt::format("there is no checkpoint {}; GET /v1/checkpoints lists them",
                                  from.checkpoint));
    if (checkpoint->deleted_at)
        return refuse("/from/checkpoint", "not_found",
                      fmt::format("the checkpoint {} is no longer kept; GET "
                                  "/v1/checkpoints lists those that are",
                                  from.checkpoint));
    if (!from.job.empty() && from.job != checkpoint->job_id)
        return refuse("/from/job", "inconsistent",
                      fmt::format("the checkpoint {} is of job {}, not of {}; leave from.job out",
                                  from.checkpoint, checkpoint->job_id, from.job));
    auto job = store::find_job(store, checkpoint->job_id);
    if (!job) return unknown_job(checkpoint->job_id);
    return take(*checkpoint, std::move(*job));
}

FoundCheckpoints find_of_job(store::Store& store, const Submitter& submitter,
                             const PredictionSource& from) {
    auto job = store::find_job(store, from.job);
    if (!job || !submitter.sees(job->project)) return unknown_job(from.job);
    if (auto problems = check_job(*job, "/from/job"); !problems.empty())
        return {.ids = {}, .jobs = {std::move(*job)}, .problems = std::move(problems)};
    return choose(store, *job, from.checkpoint);
}

Problem data_problem(const char* pointer, std::string message) {
    return {.pointer = pointer, .code = "inconsistent", .message = std::move(message)};
}

/// How many classes a dataset's check has counted; none before, or where labels are numbers.
std::optional<std::size_t> class_count(const store::Dataset& dataset) {
    const auto report = report_of(dataset);
    if (!report->is_object()) return std::nullopt;
    const auto classes = report->find("classes");
    if (classes == report->end() || !classes->is_structured() || classes->empty())
        return std::nullopt;
    // The list is cut off after a thousand names; reports of the first version have no count.
    return std::max(classes->size(), report->value("class_count", std::size_t{0}));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    return shape.size() == 1 ? fmt::format("rows of {}", counted(shape[0], "number"))
                             : fmt::format("images of {}", fmt::join(shape, " x "));
}

/// Samples that the network was not trained on: a table for images, or the reverse, and rows of
/// another length. Images of files are brought to the size of the training.
std::vector<Problem> check_predicted_shape(const store::Dataset& dataset, const store::Dataset& own,
                                           const store::Job& trained) {
    const auto here = sample_shape(dataset), there = sample_shape(own);
    if (!here || !there || *here == *there) return {};
    const bool are_images = here->size() == 3 && there->size() == 3;
    // Columns are taken by name: those of the training may be some of them.
    const bool by_name = column_names(dataset) && column_names(own);
    if (are_images || (by_name && here->size() == there->size())) return {};
    return {
        data_problem("/data/dataset",
                     fmt::format("the samples of the dataset {} are {}, and job {} trained on "
                                 "{}; name a dataset of such samples",
                                 dataset.name, shape_text(*here), trained.id, shape_text(*there)))};
}

/// A part that the dataset's check has not found; before it has ended nobody can say.
std::vector<Problem> check_part(const store::Dataset& dataset, const std::string& part) {
    const Json report = store::stored_json(dataset.report);
    if (part.empty() || !report.is_object()) return {};
    const auto parts = report.find("parts");
    if (parts == report.end() || !parts->is_array()) return {};
    if (parts->size() < report.value("part_count", std::size_t{0})) return {};    // not all listed
    std::vector<std::string> names;
    for (const Json& one : *parts)
        if (one.is_object()) names.push_back(one.value("name", ""));
    if (std::ranges::find(names, part) != names.end()) return {};
    const std::string there = names.empty() ? "it has a single one; leave data.part out"
                                            : fmt::format("it has {}", fmt::join(names, ", "));
    return refuse("/data/part", "not_found",
                  fmt::format("the dataset {} has no part `{}`; {}", dataset.name, part, there),
                  names)
        .problems;
}

}    // namespace

FoundCheckpoints find_predicting_checkpoints(store::Store& store, const Submitter& submitter,
                                             const PredictionSource& from) {
    if (from.is_ensemble()) return find_ensemble(store, submitter, from);
    if (!is_id("ckp", from.checkpoint)) return find_of_job(store, submitter, from);
    FoundCheckpoints found = find_by_id(store, submitter, from);
    if (!found.problems.empty()) return found;
    found.problems = check_job(found.jobs.front(), "/from/checkpoint");
    if (!found.problems.empty()) found.ids.clear();
    return found;
}

PredictionSource named_by_id(const FoundCheckpoints& found) {
    if (found.ids.size() == 1)
        return {.job = found.jobs.front().id, .checkpoint = found.ids.front()};
    return {.job = {}, .checkpoint = {}, .checkpoints = found.ids};
}

JobSpec trained_spec(const store::Job& trained) {
    auto spec = decode_job_spec(store::stored_json(trained.spec));
    if (spec.ok()) return std::move(spec.value);
    throw OldJobSpec(fmt::format("the spec of job {} is of another version: {}", trained.id,
                                 joined_messages(spec.problems)));
}

bool has_problem_at(const std::vector<Problem>& problems, std::string_view prefix) {
    return std::ranges::any_of(problems,
                               [&](const Problem& one) { return one.pointer.starts_with(prefix); });
}

std::vector<Problem> check_predicted_data(store::Store& store, const PredictionDataSpec& data,
                                          const store::Dataset& dataset,
                                          const store::Job& trained) {
    std::vector<Problem> problems;
    if (data.split != PredictedSplit::all && dataset.id != trained.dataset_id) {
        problems.push_back(data_problem(
            "/data/split",
            fmt::format("data.split {} is a side of the split of the dataset {}, that job {} "
                        "trained on, and data.dataset is another one; leave data.split out, or "
                        "name that dataset",
                        to_string(data.split), trained.dataset_id, trained.id)));
    }
    std::ranges::copy(check_part(dataset, data.part), std::back_inserter(problems));
    const auto spec = decode_job_spec(store::stored_json(trained.spec));
    const bool reads_text = language_task(spec.value.model.arch).has_value();
    if (reads_text != (dataset.format == "text")) {
        problems.push_back(data_problem(
            "/data/dataset",
            fmt::format("the dataset {} is of the format {}, and job {} trained {}, which reads "
                        "{}; name a dataset of that kind",
                        dataset.name, dataset.format, trained.id, to_string(spec.value.model.arch),
                        reads_text ? "text" : "images or tables")));
        return problems;
    }
    const auto own = store::find_dataset(store, trained.dataset_id);
    if (own)
        std::ranges::move(check_predicted_shape(dataset, *own, trained),
                          std::back_inserter(problems));
    const auto here = class_count(dataset);
    const auto there = own ? class_count(*own) : std::nullopt;
    if (spec.value.task.type == TaskType::classification && here && there && *here > *there &&
        *here > 1) {
        problems.push_back(
            data_problem("/data/dataset",
                         fmt::format("the dataset {} has {}, and job {} trained on the {} of the "
                                     "dataset {}; name one whose classes are among them",
                                     dataset.name, counted(*here, "class", "classes"), trained.id,
                                     *there, own->name)));
    }
    return problems;
}

}    // namespace slipway::submission
