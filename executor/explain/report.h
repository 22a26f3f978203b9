#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "executor/explain/epoch_summary.h"
#include "executor/explain/kernels.h"
#include "executor/explain/phases.h"
#include "executor/explain/verdict.h"
#include "executor/measure/metrics.h"

namespace slipway {

/// Seconds of one worker thread in all training steps.
struct WorkerSeconds {
    double running = 0;     ///< of which the others are parts
    double waiting = 0;     ///< for other workers
    double reducing = 0;    ///< adding up over cores
};

/// Worker threads that run the programs.
struct ThreadFacts {
    int granted = 1, used = 1;
    std::string reason;    ///< why so many, with what was measured; empty: nothing was compared
};

/// How training samples came to be.
struct InputCounts {
    int threads = 1;               ///< that read ahead
    std::int64_t samples = 0;      ///< read, a sample again in each epoch
    std::int64_t augmented = 0;    ///< of them
    std::int64_t decoded = 0;      ///< image files, for validation too; kept ones are not again
    double read_s = 0;             ///< of all threads
};

/// Everything a report is made from.
struct ReportFacts {
    int attempt = 1;
    std::int64_t step = 0;
    bool finished = false;
    double wall_s = 0;
    double cpu_s = 0;    ///< CPU time of all threads, since the run began
    PhaseSeconds phases{};
    InputCounts input;
    ThreadFacts threads;
    std::string instruction_set;    ///< what kernels were chosen by
    std::vector<WorkerSeconds> workers;
    std::vector<std::optional<int>> worker_cpus;    ///< where each is kept; none: anywhere
    std::map<int, double> core_busy_s;              ///< by the number of the core
    std::vector<KernelTime> kernels;                ///< of a training step, slowest first
    std::int64_t timelines = 0;                     ///< steps that the kernels' times come from
    std::int64_t late_compiles = 0;
    std::map<std::string, std::int64_t> cache;    ///< counts of the compile cache; empty: none
    Json graphs;                                  ///< summaries, as in GET /graphs
    BottleneckInputs bottleneck;
    std::vector<EpochSummary> epochs;    ///< of this attempt, the newest last
};

TimeShares time_shares(const ReportFacts& facts);
/// The bottleneck' own fields that follow from the facts are filled in first.
Verdict verdict_of(const ReportFacts& facts);

Json report_json(const ReportFacts& facts, const Metrics& metrics);
/// The verdict, the metrics in the form of measure/text.h, then phases, cores and kernels.
std::string report_text(const ReportFacts& facts, const Metrics& metrics);

}    // namespace slipway
