#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/clock.h"
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

/// The file of a run that evaluates again and again: the newest evaluation is written when the last
/// one was a second ago, and at the end. Short trials evaluate ten times a second, and a new file
/// costs the system up to 1 ms. One thread.
class EvaluationFile {
public:
    /// folder  of the report; empty: nothing is written
    /// clock   outlives this object
    EvaluationFile(std::filesystem::path folder, const Clock& clock);

    void keep(EvaluationFacts facts);
    /// Writes what is kept and not written.
    /// errors  as write_evaluation; it is not tried again
    void write();
    void write_when_due();

private:
    std::filesystem::path folder_;
    const Clock& clock_;
    std::optional<EvaluationFacts> unwritten_;
    Tick next_;
};

}    // namespace slipway
