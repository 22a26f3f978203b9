#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "executor/explain/explainer.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/evaluation_file.h"
#include "executor/train/reporter.h"
#include "executor/train/train_data.h"

namespace slipway {

/// What a run reports of itself beside its curves: the files that say where the time goes, its
/// epochs and evaluations, what was left out of its data. What cannot be written is said once, as
/// the warning `report_failed`: training matters more. Training thread only.
class RunReport {
public:
    /// All outlive the report.
    RunReport(const AttemptPlan& plan, Reporter& reporter, Explainer& explainer, const Clock& clock)
        : plan_(plan),
          reporter_(reporter),
          explainer_(explainer),
          evaluation_(plan.report_folder, clock) {}

    /// Which CPU each worker is kept on; also why some are kept on none.
    void workers(std::span<const std::optional<int>> cpus);
    /// How many threads run the steps, each time that this was compared.
    void chosen(const WorkerChoice& choice);
    void skipped(const TrainData& data);
    /// Parts with names such as train and test, from which both sides of the split are drawn.
    void pooled(const TrainData& data);
    /// Classes that the split leaves no training sample of.
    void untrained(const TrainData& data);
    /// Weights of other labels or columns than the job's: `unknown` outputs, which the weights do
    /// not have, and the `columns` that they were trained on.
    void started_from(std::span<const std::string> unknown, std::span<const std::string> columns,
                      const TrainData& data);
    /// Where the dataset was read from.
    void shared(const TrainData& data);
    /// What came of data.packed.
    void packed(const TrainData& data);
    /// Readers do not speak: what they took although it is damaged, packed and shared images that
    /// they did not take, and what they cannot share.
    void accepted(const TrainData& data);
    void compiled(const std::string& name, const Graph& graph, const Executable& executable);
    /// Writes the report now, or when the last time is a while ago; the newest evaluation when its
    /// file is due, and at the end.
    void write(std::int64_t step, bool finished);
    void write_when_due(std::int64_t step);
    /// A norm that clipping divides by; one that is not finite leaves the weights as they are.
    void gradient_norm(double norm, std::int64_t step);
    /// What limited the job, at its end.
    void ended(const Verdict& verdict);
    void evaluated(EvaluationFacts facts);
    /// Says it, and keeps its report when monitor.metrics_report asks for that.
    void epoch(const EpochSummary& summary);

private:
    void keep_report_of(const EpochSummary& summary) const;
    void shared_so_far(const SharedImages& shared);
    void complain(const Error& error);
    void try_writing(void (EvaluationFile::*how)());

    const AttemptPlan& plan_;
    Reporter& reporter_;
    Explainer& explainer_;
    EvaluationFile evaluation_;
    bool complained_ = false;
    int choices_ = 0;               // that were said
    std::int64_t refused_ = 0;      // packed images that were said to be
    std::set<std::string> said_;    // what is said once
};

/// A report that is kept: "epochs/000002.json" and ".txt" in the folder of the report.
inline constexpr std::int64_t epoch_reports_max = 200;    ///< the newest stay

}    // namespace slipway
