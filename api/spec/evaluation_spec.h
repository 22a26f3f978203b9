#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/spec/job_spec.h"
#include "api/spec/prediction_spec.h"

namespace slipway {

// What a user may ask of an evaluation: a job that measures a checkpoint on labelled samples. The
// values here are the defaults; bounds and documentation are in evaluation_tables.cpp.

/// `data`.
struct EvaluationDataSpec {
    std::string dataset;    ///< id or name; empty: the one that the checkpoint was trained on
    std::string part;       ///< only this part of the dataset; empty: all of them
    /// Absent: `val` on the dataset that the checkpoint was trained on, `all` on another one.
    std::optional<PredictedSplit> split;
    bool operator==(const EvaluationDataSpec&) const = default;
};

/// POST /v1/evaluations.
struct EvaluationSpec {
    std::string name;    ///< empty: the service makes one
    std::string project = "default";
    std::map<std::string, std::string> labels;
    PredictionSource from;
    EvaluationDataSpec data;
    std::optional<Precision> precision;    ///< absent: as it was trained in
    AcceleratorSpec accelerator;
    LimitsSpec limits;
    QueueSpec queue;
    bool operator==(const EvaluationSpec&) const = default;
};

/// The samples of an evaluation whose dataset and split are filled in.
PredictionDataSpec samples_of(const EvaluationSpec& evaluation);

/// The job that an evaluation is: the network, task, reading of data and global batch of the job
/// that trained it, and of the evaluation everything that it says itself. Its dataset, split and
/// precision are filled in, and its cores divide the global batch.
///   own_data  the dataset is the one that was trained on
JobSpec evaluating_job(const JobSpec& trained, const EvaluationSpec& evaluation, bool own_data);

}    // namespace slipway
