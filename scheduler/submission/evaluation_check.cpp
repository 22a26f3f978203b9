#include "scheduler/submission/evaluation_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/dataset_facts.h"
#include "scheduler/submission/prediction_check.h"

// A dataset's check lists its labels: names of classes, or of columns that are numbers. A job may
// take other columns than the dataset's own (data.columns), of which the check says nothing; then,
// and before the check has ended, the evaluation itself finds what does not fit.
namespace slipway::submission {

namespace {

Problem evaluation_problem(const char* pointer, std::string message) {
    return {.pointer = pointer, .code = "inconsistent", .message = std::move(message)};
}

std::vector<Problem> check_classes(const store::Dataset& dataset, const store::Dataset& own) {
    if (number_names(dataset) && !class_names(dataset))
        return {evaluation_problem(
            "/data/dataset",
            fmt::format("the labels of the dataset {} are numbers ({}), and the checkpoint's task "
                        "is classification; name a dataset with classes",
                        dataset.name, shown_names(*number_names(dataset))))};
    const auto here = class_names(dataset);
    const auto known = class_names(own);
    if (!here || !known) return {};
    const std::set<std::string> trained(known->begin(), known->end());
    std::vector<std::string> strange;
    std::ranges::copy_if(*here, std::back_inserter(strange),
                         [&](const std::string& name) { return !trained.contains(name); });
    if (strange.empty()) return {};
    // Folders without classes have one, of some name.
    const std::string cause =
        here->size() == 1
            ? fmt::format("has no labels that the network knows: its only class is {}",
                          here->front())
            : fmt::format("has classes that the network does not know: {}", shown_names(strange));
    return {evaluation_problem("/data/dataset",
                               fmt::format("the dataset {} {}; those of the training are {}",
                                           dataset.name, cause, shown_names(*known)))};
}

std::vector<Problem> check_numbers(const store::Dataset& dataset, const store::Dataset& own) {
    const auto here = number_names(dataset), known = number_names(own);
    if (!here || !known || *here == *known) return {};
    return {evaluation_problem(
        "/data/dataset",
        fmt::format("the labels of the dataset {} are {}, and those of the training are {}; name "
                    "the same columns in label_columns of the dataset",
                    dataset.name, shown_names(*here), shown_names(*known)))};
}

bool chooses_columns(const JobSpec& spec) {
    return spec.data.columns &&
           (!spec.data.columns->label.empty() || !spec.data.columns->labels.empty());
}

std::vector<Problem> check_labels(store::Store& store, const JobSpec& spec,
                                  const store::Dataset& dataset, const store::Job& trained) {
    if (dataset.id == trained.dataset_id || language_task(spec.model.arch) || chooses_columns(spec))
        return {};
    const auto own = store::find_dataset(store, trained.dataset_id);
    if (!own) return {};
    return spec.task.type == TaskType::classification ? check_classes(dataset, *own)
                                                      : check_numbers(dataset, *own);
}

bool has_validation(const SplitSpec& split) {
    if (!split.id.empty()) return true;
    return split.train_part.empty() ? split.val_fraction > 0 : !split.val_part.empty();
}

}    // namespace

std::vector<Problem> check_evaluated_data(store::Store& store, const PredictionDataSpec& data,
                                          const store::Dataset& dataset,
                                          const store::Job& trained) {
    std::vector<Problem> problems = check_predicted_data(store, data, dataset, trained);
    if (!problems.empty()) return problems;
    const JobSpec spec = decode_job_spec(store::stored_json(trained.spec)).value;
    if (data.split == PredictedSplit::val && !has_validation(spec.data.split))
        problems.push_back(evaluation_problem(
            "/data/split",
            fmt::format("job {} trained on all samples of its dataset and has no validation "
                        "samples; set data.split to train, or name another dataset",
                        trained.id)));
    std::ranges::move(check_labels(store, spec, dataset, trained), std::back_inserter(problems));
    return problems;
}

std::vector<Problem> check_evaluating_cores(const JobSpec& trained,
                                            const AcceleratorSpec& accelerator) {
    const std::int64_t global = trained.train.batch_size_per_core * trained.accelerator.cores;
    if (global % accelerator.cores == 0) return {};
    return {evaluation_problem(
        "/accelerator/cores",
        fmt::format("an evaluation has the global batch of the training, and {} cores do not "
                    "divide its {} samples; use 1 core",
                    accelerator.cores, global))};
}

}    // namespace slipway::submission
