#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/spec/job_actions.h"
#include "api/spec/requests.h"
#include "api/spec/search_algorithm.h"
#include "api/spec/search_space.h"
#include "api/spec/train_spec.h"

namespace slipway {

// The body of POST /v1/sweeps as plain data. Bounds, defaults and documentation are in the field
// tables (sweep_tables.cpp).

/// Which of a trial's values it is judged by.
enum class ObjectiveValue { best, last };

/// Which checkpoints of trials that have ended are kept.
enum class KeptCheckpoints {
    best,    ///< those of the best trial
    all
};

/// `objective.fold_pruning`: when a trial that is a cross-validation trains no more folds.
struct FoldPruningSpec {
    std::int64_t min_folds = 2;    ///< that every trial trains
    double confidence = 0.95;      ///< that a trial which is ended would not have been the best
    std::int64_t wave = 16;        ///< trials that are compared with one another
    bool operator==(const FoldPruningSpec&) const = default;
};

/// `objective`. The default of `mode` follows from the metric.
struct ObjectiveSpec {
    std::string metric = "val_loss";
    MetricMode mode = MetricMode::min;
    ObjectiveValue value = ObjectiveValue::best;
    std::optional<FoldPruningSpec> fold_pruning;
    bool operator==(const ObjectiveSpec&) const = default;
};

/// The objective of trials that are cross-validations: "cv.val_loss.mean".
struct FoldMetric {
    std::string metric;          ///< of one fold: val_loss
    bool is_weighted = false;    ///< weighted_mean: by validation samples
};
/// None when `objective` is not of that form.
std::optional<FoldMetric> fold_metric(std::string_view objective);

/// `cross_validation`: each trial is one. Either `split` or `split_id`.
struct SweepFoldsSpec {
    std::optional<SplitCreate> split;
    std::string split_id;
    Json job;    ///< as SweepSpec::job, of each fold
    bool operator==(const SweepFoldsSpec&) const = default;
};

/// `limits` of a sweep. Whichever is reached first ends it.
struct SweepLimitsSpec {
    std::optional<std::int64_t> max_trials;    ///< set by the decoder where the algorithm says it
    std::int64_t max_concurrent = 8;
    std::optional<std::int64_t> max_failures;
    std::optional<double> max_core_s;
    std::optional<double> max_wall_s;
    std::optional<double> target;         ///< of the objective
    std::optional<std::int64_t> stall;    ///< trials in a row without a new best
    bool operator==(const SweepLimitsSpec&) const = default;
};

/// `warm_start`.
struct WarmStartSpec {
    std::vector<Json> points;           ///< objects, by path
    std::vector<std::string> sweeps;    ///< ids: their results are known to tpe
    bool operator==(const WarmStartSpec&) const = default;
};

/// POST /v1/sweeps.
struct SweepSpec {
    std::string name;    ///< may be empty: one is made
    std::string project = "default";
    std::map<std::string, std::string> labels;
    ObjectiveSpec objective;
    std::map<std::string, ParameterSpec> space;
    std::vector<std::string> constraints;
    AlgorithmSpec algorithm;
    SweepLimitsSpec limits;
    std::int64_t seed = 0;
    std::optional<WarmStartSpec> warm_start;
    KeptCheckpoints keep_checkpoints = KeptCheckpoints::best;
    KeptCheckpoints keep_reports = KeptCheckpoints::best;
    /// The job spec that the values of a trial are put into; null: trials are run by others, who
    /// ask for them and report their values.
    Json job;
    /// In place of `job`: each trial trains it on every fold.
    std::optional<SweepFoldsSpec> cross_validation;
    bool operator==(const SweepSpec&) const = default;

    bool is_external() const { return job.is_null() && !cross_validation; }
    const Json& job_template() const { return cross_validation ? cross_validation->job : job; }
    SearchSpace search_space() const { return {.space = space, .constraints = constraints}; }
};

/// PATCH /v1/sweeps/{id}: what is absent stays.
struct SweepPatchBody {
    std::optional<std::string> name;
    std::optional<std::map<std::string, std::string>> labels;
    std::optional<std::int64_t> max_concurrent;
    bool operator==(const SweepPatchBody&) const = default;
};

/// POST /v1/sweeps/{id}/extend.
struct SweepExtendBody {
    std::int64_t max_trials = 0;    ///< from now on
    bool operator==(const SweepExtendBody&) const = default;
};

/// POST /v1/sweeps/{id}/promote.
struct SweepPromoteBody {
    std::optional<std::int64_t> trial;    ///< none: the best
    Json changes = Json::object();        ///< a merge patch of the trial's job spec
    std::optional<ForkStart> start;       ///< none: continue; of a cross-validation scratch
    bool pin = true;                      ///< the checkpoint that the job begins with
    bool operator==(const SweepPromoteBody&) const = default;
};

/// POST /v1/sweeps/{id}/suggest: for how many trials.
struct SweepSuggestBody {
    std::int64_t count = 1;
    std::optional<double> lease_s;    ///< none: the trials are handed out for good
    bool operator==(const SweepSuggestBody&) const = default;
};

/// POST /v1/sweeps/{id}/trials/{tid}/observe.
struct SweepObserveBody {
    std::optional<std::int64_t> time;    ///< epochs or steps; with a value
    std::optional<double> value;
    std::string nonfinite;            ///< nan, inf or -inf instead of a value
    std::string end;                  ///< completed or failed; empty: it goes on
    std::optional<double> lease_s;    ///< from now on
    bool operator==(const SweepObserveBody&) const = default;
};

/// POST /v1/sweeps/{id}/simulate.
struct SweepSimulateBody {
    AlgorithmSpec algorithm;
    std::optional<std::int64_t> max_concurrent;
    bool operator==(const SweepSimulateBody&) const = default;
};

template <>
struct Spelling<KeptCheckpoints> {
    static constexpr std::array<std::string_view, 2> words{"best", "all"};
};
template <>
struct Spelling<ObjectiveValue> {
    static constexpr std::array<std::string_view, 2> words{"best", "last"};
};

}    // namespace slipway
