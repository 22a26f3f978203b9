#include "scheduler/submission/ensemble_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/store/cross_validations.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/dataset_facts.h"

namespace slipway::submission {

namespace {

/// A checkpoint that is asked for, and how the request names it.
struct WantedMember {
    PredictionSource from;
    std::string pointer;
    std::string name;    ///< in messages
};

FoundCheckpoints refused_ensemble(std::string pointer, std::string code, std::string message,
                                  std::vector<std::string> allowed = {}) {
    return {.ids = {},
            .jobs = {},
            .problems = {{.pointer = std::move(pointer),
                          .code = std::move(code),
                          .message = std::move(message),
                          .allowed = std::move(allowed)}}};
}

constexpr const char* folds_pointer = "/from/cross_validation";

/// One for each fold of one that can be used.
FoundCheckpoints judge_cross_validation(store::Store& store, const Submitter& submitter,
                                        const PredictionSource& from,
                                        std::vector<WantedMember>& wanted) {
    const auto found = store::find_cross_validation(store, from.cross_validation);
    if (!found || !submitter.sees(found->project))
        return refused_ensemble(
            folds_pointer, "not_found",
            fmt::format("there is no cross-validation {}; GET /v1/cross-validations lists them",
                        from.cross_validation));
    if (!store::has_ended(found->state))
        return refused_ensemble(
            folds_pointer, "not_finished",
            fmt::format("the cross-validation {} is {}; wait until it has succeeded", found->id,
                        store::to_string(found->state)));
    for (const store::StoredFold& fold : store::list_folds(store, found->id)) {
        if (fold.fold == store::StoredFold::refit) continue;
        if (fold.state != "succeeded")
            return refused_ensemble(
                folds_pointer, "no_checkpoint",
                fmt::format("fold {} of the cross-validation {} is {}; retry it, or list the "
                            "checkpoints of the other folds in from.checkpoints",
                            fold.fold, found->id, fold.state));
        wanted.push_back({.from = {.job = fold.job_id, .checkpoint = from.checkpoint},
                          .pointer = folds_pointer,
                          .name = fmt::format("fold {}", fold.fold)});
    }
    if (wanted.size() >= ensemble_members_min && wanted.size() <= ensemble_members_max) return {};
    return refused_ensemble(
        folds_pointer, "out_of_bounds",
        fmt::format("the cross-validation {} has {} folds, and an ensemble is of {} to {} "
                    "checkpoints; list some in from.checkpoints",
                    found->id, wanted.size(), ensemble_members_min, ensemble_members_max));
}

std::vector<WantedMember> listed_members(const PredictionSource& from) {
    std::vector<WantedMember> wanted;
    for (const std::string& id : from.checkpoints)
        wanted.push_back({.from = {.job = {}, .checkpoint = id},
                          .pointer = fmt::format("/from/checkpoints/{}", wanted.size()),
                          .name = fmt::format("checkpoint {}", id)});
    return wanted;
}

bool has_mean(TaskType task) {
    return task != TaskType::masked_lm && task != TaskType::causal_lm;
}

std::vector<std::string> tasks_with_mean() {
    std::vector<std::string> words;
    for (const std::string_view word : all_words<TaskType>())
        if (has_mean(*parse_word<TaskType>(word))) words.emplace_back(word);
    return words;
}

/// What the jobs of an ensemble have alike, since their networks read the same samples and their
/// outputs are averaged one by one.
struct Agreement {
    const char* field;
    bool (*differs)(const JobSpec& one, const JobSpec& other);
};

constexpr auto agreements = std::to_array<Agreement>({
    {"task.type", [](const JobSpec& a, const JobSpec& b) { return a.task.type != b.task.type; }},
    {"model.num_classes",
     [](const JobSpec& a, const JobSpec& b) { return a.model.num_classes != b.model.num_classes; }},
    {"data.image_size",
     [](const JobSpec& a, const JobSpec& b) { return a.data.image_size != b.data.image_size; }},
    {"data.normalize",
     [](const JobSpec& a, const JobSpec& b) { return a.data.normalize != b.data.normalize; }},
    {"data.augment",
     [](const JobSpec& a, const JobSpec& b) { return a.data.augment != b.data.augment; }},
    {"data.columns",
     [](const JobSpec& a, const JobSpec& b) { return a.data.columns != b.data.columns; }},
});

/// Another dataset may have the same labels; what its check has not told, the run finds.
std::string different_labels(store::Store& store, const store::Job& one, const store::Job& other) {
    if (one.dataset_id == other.dataset_id) return {};
    const auto first = store::find_dataset(store, one.dataset_id);
    const auto second = store::find_dataset(store, other.dataset_id);
    if (!first || !second) return {};
    const auto here = label_names(*first), there = label_names(*second);
    if (!here || !there || *here == *there) return {};
    return fmt::format("was trained on the labels {}, and job {} on {}", shown_names(*there),
                       one.id, shown_names(*here));
}

/// Why the job of a member cannot be beside the first one; empty: it can.
std::string disagreement(store::Store& store, const store::Job& first, const store::Job& job) {
    if (job.project != first.project)
        return fmt::format(
            "is of the project {}, and job {} of {}; the checkpoints of an ensemble "
            "are of one project",
            job.project, first.id, first.project);
    const JobSpec one = trained_spec(first), other = trained_spec(job);
    for (const Agreement& agreement : agreements)
        if (agreement.differs(one, other))
            return fmt::format("has another {} than job {}", agreement.field, first.id);
    return different_labels(store, first, job);
}

std::vector<Problem> check_agreement(store::Store& store, const std::vector<WantedMember>& wanted,
                                     const std::vector<store::Job>& jobs) {
    const TaskType task = trained_spec(jobs.front()).task.type;
    if (!has_mean(task))
        return refused_ensemble(
                   wanted.front().pointer, "not_allowed",
                   fmt::format("job {} trained {}: a text has losses of tokens, which have no mean "
                               "over networks; an ensemble is of one of {}",
                               jobs.front().id, to_string(task),
                               fmt::join(tasks_with_mean(), ", ")),
                   tasks_with_mean())
            .problems;
    std::vector<Problem> problems;
    for (std::size_t i = 1; i < jobs.size(); ++i) {
        const std::string why = disagreement(store, jobs.front(), jobs[i]);
        if (why.empty()) continue;
        problems.push_back({.pointer = wanted[i].pointer,
                            .code = "inconsistent",
                            .message = fmt::format("{}: its job {} {}; leave it out",
                                                   wanted[i].name, jobs[i].id, why)});
    }
    return problems;
}

FoundCheckpoints find_members(store::Store& store, const Submitter& submitter,
                              const std::vector<WantedMember>& wanted) {
    FoundCheckpoints members;
    for (const WantedMember& member : wanted) {
        FoundCheckpoints one = find_predicting_checkpoints(store, submitter, member.from);
        for (Problem& problem : one.problems) {
            problem.pointer = member.pointer;
            problem.message = fmt::format("{}: {}", member.name, problem.message);
        }
        std::ranges::move(one.ids, std::back_inserter(members.ids));
        std::ranges::move(one.jobs, std::back_inserter(members.jobs));
        std::ranges::move(one.problems, std::back_inserter(members.problems));
    }
    if (!members.problems.empty()) return {.ids = {}, .jobs = {}, .problems = members.problems};
    return members;
}

}    // namespace

FoundCheckpoints find_ensemble(store::Store& store, const Submitter& submitter,
                               const PredictionSource& from) {
    std::vector<WantedMember> wanted;
    if (from.cross_validation.empty()) {
        wanted = listed_members(from);
    } else if (auto refused = judge_cross_validation(store, submitter, from, wanted);
               !refused.problems.empty()) {
        return refused;
    }
    FoundCheckpoints members = find_members(store, submitter, wanted);
    if (!members.problems.empty()) return members;
    members.problems = check_agreement(store, wanted, members.jobs);
    if (!members.problems.empty()) members.ids.clear();
    return members;
}

bool share_split(const std::vector<store::Job>& jobs) {
    const SplitSpec split = trained_spec(jobs.front()).data.split;
    return std::ranges::all_of(jobs, [&](const store::Job& job) {
        return job.dataset_id == jobs.front().dataset_id && trained_spec(job).data.split == split;
    });
}

std::vector<Problem> check_ensemble_split(const PredictionDataSpec& data,
                                          const std::vector<store::Job>& jobs) {
    if (jobs.size() < 2 || data.split == PredictedSplit::all || share_split(jobs)) return {};
    return {
        {.pointer = "/data/split",
         .code = "inconsistent",
         .message = fmt::format(
             "data.split {} is a side of the split of a training, and the checkpoints of this "
             "ensemble were trained by different ones; name another dataset or a part of it, or "
             "set data.split to all",
             to_string(data.split))}};
}

}    // namespace slipway::submission
