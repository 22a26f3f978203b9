#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "executor/train/metric_sums.h"

namespace slipway {

/// One evaluation of the validation part.
struct EvaluationFacts {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::int64_t samples = 0;
    MetricValues values;    ///< as reported
    Json details;           ///< Task::details; null: none
};

/// {"step", "epoch", "samples", "values": {name: number}, "left_out": [sentence…]}, "nonfinite" as
/// in the curves (api/base/metric_value.h), and what else the task's details hold.
Json evaluation_json(const EvaluationFacts& facts);

/// Writes it as evaluation.json into the folder of a job's report, which is made when absent; it
/// replaces that of the evaluation before.
/// errors  throws exhausted or unavailable when it cannot be written
void write_evaluation(const std::filesystem::path& folder, const EvaluationFacts& facts);

}    // namespace slipway
