#include "scheduler/cross_validation/checked_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/id.h"
#include "scheduler/submission/training_job.h"

namespace slipway {

namespace {

/// The checks of a job say where in a job; here it is one within the request.
std::vector<Problem> below_job(std::vector<Problem> problems) {
    for (Problem& one : problems)
        one.pointer = "/job" + one.pointer;
    return problems;
}

std::vector<Problem> check_stored_split(store::Store& store, CheckedCrossValidation& checked) {
    const std::string& id = checked.spec.split_id;
    if (id.empty() || !checked.job.dataset) return {};
    auto split = store::find_split(store, id);
    const auto refuse = [](std::string code, std::string message) {
        return std::vector<Problem>{
            {.pointer = "/split_id", .code = std::move(code), .message = std::move(message)}};
    };
    if (!split || split->dataset_id != checked.job.dataset_id()) {
        return refuse("not_found",
                      fmt::format("the dataset {} has no split `{}`; GET "
                                  "/v1/datasets/{}/splits lists them",
                                  checked.job.dataset->name, id, checked.job.dataset_id()));
    }
    if (split->state == store::SplitState::failed)
        return refuse("inconsistent",
                      fmt::format("the split {} could not be made: see its problems", id));
    if (split->state == store::SplitState::ready && split->folds < 2) {
        return refuse("inconsistent",
                      fmt::format("the split {} has a single fold; a cross-validation needs at "
                                  "least 2",
                                  id));
    }
    checked.stored_split = std::move(split);
    return {};
}

}    // namespace

Decoded<CheckedCrossValidation> check_cross_validation(Decoded<CrossValidationSpec> request,
                                                       const submission::Submitter& submitter,
                                                       store::Store& store) {
    Decoded<CheckedCrossValidation> checked{.value = {}, .problems = std::move(request.problems)};
    checked.value.spec = std::move(request.value);
    if (!checked.ok()) return checked;
    Decoded<submission::CheckedJob> job = submission::check_training(
        {.value = checked.value.spec.job, .problems = {}}, submitter, store);
    checked.value.job = std::move(job.value);
    checked.problems = below_job(std::move(job.problems));
    submission::add_problems(checked.problems, check_stored_split(store, checked.value));
    return checked;
}

std::optional<std::int64_t> folds_of(const CheckedCrossValidation& checked) {
    if (checked.stored_split && checked.stored_split->state == store::SplitState::ready)
        return checked.stored_split->folds;
    if (!checked.spec.split) return std::nullopt;
    const SplitCreate& split = *checked.spec.split;
    if (split.method == SplitMethod::leave_one_group_out) return std::nullopt;
    return split.method == SplitMethod::repeated_kfold ? split.folds * split.repeats : split.folds;
}

StorableCrossValidation storable(CheckedCrossValidation checked, const std::string& token_id) {
    StorableCrossValidation made;
    CrossValidationSpec& spec = checked.spec;
    store::CrossValidation& wanted = made.wanted;
    wanted.id = new_id("cv");
    if (spec.name.empty()) {
        spec.name = fmt::format("cv-{}-{}", to_string(spec.job.model.arch),
                                wanted.id.substr(wanted.id.size() - 6));
    }
    wanted.name = spec.name;
    wanted.project = spec.project;
    wanted.labels = spec.labels;
    wanted.spec = encode(spec).dump();
    wanted.dataset_id = checked.job.dataset_id();
    wanted.split_id = spec.split_id;
    wanted.created_by = token_id;
    if (spec.split) {
        made.split = store::StoredSplit{.id = new_id("spl"),
                                        .dataset_id = wanted.dataset_id,
                                        .request = encode(*spec.split).dump(),
                                        .created_by = token_id};
    }
    return made;
}

}    // namespace slipway
