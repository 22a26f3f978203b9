#include "scheduler/search/fold_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace slipway::search {

namespace {

constexpr std::size_t reasons_told_max = 3;

bool is_active(FoldState state) {
    return state == FoldState::training || state == FoldState::predicting;
}

bool has_failed(FoldState state) {
    return state == FoldState::failed || state == FoldState::cancelled;
}

/// "folds 1 and 3 of 5 failed; fold 1: nan_loss: …"
std::string describe_failures(const std::vector<FoldProgress>& folds) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> reasons;
    for (const FoldProgress& fold : folds) {
        if (!has_failed(fold.state)) continue;
        numbers.push_back(fold.fold);
        if (reasons.size() < reasons_told_max)
            reasons.push_back(fmt::format("fold {}: {}", fold.fold, fold.reason));
    }
    return fmt::format("{} of {} folds did not succeed ({}); {}", numbers.size(), folds.size(),
                       fmt::join(numbers, ", "), fmt::join(reasons, "; "));
}

FoldPlan end_with(FoldsEnd end, std::string reason = {}) {
    return {.end = end, .reason = std::move(reason)};
}

/// Every fold has ended well; what remains is their predictions and the training on all samples.
FoldPlan plan_refit(const FoldPlanInputs& inputs) {
    if (inputs.oof_wanted) return {.collect_oof = true};
    if (!inputs.refit_wanted) return end_with(FoldsEnd::succeeded);
    if (!inputs.refit) return {.refit = true};
    if (has_failed(inputs.refit->state)) {
        return end_with(FoldsEnd::failed,
                        fmt::format("every fold succeeded, but the training on all samples did "
                                    "not: {}",
                                    inputs.refit->reason));
    }
    if (inputs.refit->state == FoldState::succeeded) return end_with(FoldsEnd::succeeded);
    return {};
}

FoldPlan start_more(const FoldPlanInputs& inputs) {
    FoldPlan plan;
    std::int64_t active = std::ranges::count_if(inputs.folds, [](const FoldProgress& fold) {
        return is_active(fold.state) && !fold.awaits_prediction;
    });
    const auto take = [&](std::vector<std::int64_t>& into, const FoldProgress& fold) {
        if (active >= inputs.parallel) return;
        into.push_back(fold.fold);
        ++active;
    };
    for (const FoldProgress& fold : inputs.folds)
        if (fold.awaits_prediction) take(plan.predict, fold);
    for (const FoldProgress& fold : inputs.folds)
        if (fold.state == FoldState::waiting) take(plan.train, fold);
    return plan;
}

}    // namespace

FoldPlan plan_folds(const FoldPlanInputs& inputs) {
    const auto any = [&](auto is_so) {
        return std::ranges::any_of(inputs.folds, is_so, &FoldProgress::state);
    };
    const bool refit_active = inputs.refit && is_active(inputs.refit->state);
    // A fold whose predictions nobody has asked for yet has no job that runs.
    const bool jobs_left = refit_active || std::ranges::any_of(inputs.folds, [](const auto& fold) {
                               return is_active(fold.state) && !fold.awaits_prediction;
                           });
    if (inputs.cancelling) {
        if (jobs_left) return {.cancel_jobs = true};
        return end_with(FoldsEnd::cancelled);
    }
    if (inputs.folds.empty()) return {};    // its split tells how many there are
    if (inputs.on_failure == FoldFailure::cancel && any(has_failed)) {
        if (jobs_left) return {.cancel_jobs = true};
        return end_with(FoldsEnd::failed, describe_failures(inputs.folds));
    }
    if (any([](FoldState state) { return state == FoldState::waiting || is_active(state); }))
        return start_more(inputs);
    if (any(has_failed)) return end_with(FoldsEnd::failed, describe_failures(inputs.folds));
    return plan_refit(inputs);
}

}    // namespace slipway::search
