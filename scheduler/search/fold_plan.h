#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/cross_validation_spec.h"

namespace slipway::search {

/// Where a fold of a cross-validation stands.
enum class FoldState {
    waiting,       ///< has no job yet
    training,      ///< its job has not ended
    predicting,    ///< trained; its out-of-fold predictions are being made
    succeeded,
    failed,
    cancelled
};

struct FoldProgress {
    std::int64_t fold = 0;
    FoldState state = FoldState::waiting;
    /// Trained; predictions of it are wanted and are not asked for yet.
    bool awaits_prediction = false;
    std::string reason{};    ///< why it failed or was cancelled: "nan_loss: …"
};

struct FoldPlanInputs {
    std::vector<FoldProgress> folds{};    ///< ascending; the refit is not among them
    std::int64_t parallel = 1;            ///< jobs at a time
    FoldFailure on_failure = FoldFailure::keep_going;
    bool cancelling = false;
    bool oof_wanted = false;    ///< predictions are to be collected, and are not yet
    bool refit_wanted = false;
    std::optional<FoldProgress> refit{};    ///< none: it has no job yet
};

enum class FoldsEnd { none, succeeded, failed, cancelled };

/// What is to be done now.
struct FoldPlan {
    std::vector<std::int64_t> train{};      ///< folds that get a training job
    std::vector<std::int64_t> predict{};    ///< trained folds that get a job of predictions
    bool refit = false;                     ///< the training on all samples gets its job
    bool collect_oof = false;               ///< every fold has its predictions: collect them
    bool cancel_jobs = false;               ///< everything that runs or waits is to be cancelled
    FoldsEnd end = FoldsEnd::none;          ///< nothing is left to do
    std::string reason{};                   ///< of an end that is no success, for people
};

/// The next step of a cross-validation whose split is ready. Level-triggered: the same progress
/// gives the same plan, whatever was done before; a plan whose steps were done changes the
/// progress.
///   predictions go before trainings, folds in order, at most `parallel` jobs at a time
///   a fold that fails ends nothing by itself: with `keep_going` the others train, with `cancel`
///   they are cancelled; either way the end is `failed` and names every fold that failed
///   predictions are collected when every fold has succeeded, and then the refit begins
/// Pure.
FoldPlan plan_folds(const FoldPlanInputs& inputs);

}    // namespace slipway::search
