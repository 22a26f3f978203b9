#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/spec/job_spec.h"

namespace slipway {

// What a user may ask of a prediction: a job that runs a trained network over a dataset. The
// values here are the defaults; bounds and documentation are in prediction_tables.cpp.

/// Which samples of the dataset. `train` and `val`: the sides of the split that the network was
/// trained by, on its own dataset.
enum class PredictedSplit { all, train, val };

/// The checkpoints that one prediction or evaluation may have.
constexpr std::size_t ensemble_members_min = 2;
constexpr std::size_t ensemble_members_max = 64;

/// `from`: a checkpoint, or those of an ensemble: listed, or one of each fold of a
/// cross-validation. One of `job` with `checkpoint`, `checkpoints` and `cross_validation`.
struct PredictionSource {
    std::string job;    ///< whose `checkpoint` is; empty: that is an id
    /// "best", "last", its name in that job, or its id; of a cross-validation one of the first two.
    /// Empty: there are `checkpoints`.
    std::string checkpoint = "best";
    std::vector<std::string> checkpoints = {};    ///< ids; empty: no ensemble is listed
    std::string cross_validation = {};            ///< its id; empty: none
    bool is_ensemble() const { return !checkpoints.empty() || !cross_validation.empty(); }
    bool operator==(const PredictionSource&) const = default;
};

/// `data`.
struct PredictionDataSpec {
    std::string dataset;    ///< id or name
    std::string part;       ///< only this part of the dataset; empty: all of them
    PredictedSplit split = PredictedSplit::all;
    bool operator==(const PredictionDataSpec&) const = default;
};

/// POST /v1/predictions.
struct PredictionSpec {
    std::string name;    ///< empty: the service makes one
    std::string project = "default";
    std::map<std::string, std::string> labels;
    PredictionSource from;
    PredictionDataSpec data;
    std::int64_t batch_size_per_core = 32;
    std::optional<Precision> precision;    ///< absent: as it was trained in
    AcceleratorSpec accelerator;
    LimitsSpec limits;
    QueueSpec queue;
    bool operator==(const PredictionSpec&) const = default;
};

/// The job that a prediction is: the network, task and reading of data of the job that trained it,
/// and of the prediction everything that it says itself. Its precision is filled in.
JobSpec predicting_job(const JobSpec& trained, const PredictionSpec& prediction);

/// The samples that all cores compute at once.
std::int64_t global_batch(const PredictionSpec& prediction);

template <>
struct Spelling<PredictedSplit> {
    static constexpr std::array<std::string_view, 3> words{"all", "train", "val"};
};

}    // namespace slipway
