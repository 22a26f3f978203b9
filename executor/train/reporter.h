#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/spec/checkpoint_writer.h"
#include "api/spec/job_state.h"
#include "executor/explain/epoch_summary.h"

namespace slipway {

/// Where a training run stands: one per job, whatever the number of cores.
struct Progress {
    std::int64_t epoch = 0;    ///< 1-based epoch in work
    std::int64_t epochs = 0;
    std::int64_t step = 0;    ///< steps done
    std::int64_t steps_total = 0;
    std::int64_t samples = 0;    ///< training samples seen by this attempt and those it resumed
    double samples_per_s = 0;
    std::optional<double> eta_s = {};    ///< unknown before the first step
    std::string phase = "train";         ///< "train" or "evaluate"
};

struct MetricPoint {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::vector<std::pair<std::string, double>> values;    ///< name, value; may be NaN
};

struct SavedFile {
    std::string name;
    std::int64_t bytes = 0;
    std::string sha256;
};

struct SavedCheckpoint {
    std::string name;    ///< folder below the checkpoint folder
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::vector<std::string> kinds;    ///< "last", "best"
    std::vector<std::string> last;     ///< names of all that are kept as last now, oldest first
    std::vector<std::string> best;     ///< names of all that are kept as best now, best first
    std::vector<SavedFile> files;
    std::optional<std::pair<std::string, double>> metric;
    std::vector<std::string>
        pruned;    ///< older names no longer kept: whoever keeps the record removes them
    CheckpointWriter writer = {};
};

struct CompiledProgram {
    std::string program;    ///< "train_step", "evaluation_step"
    std::string hash;
    double seconds = 0;
    bool cached = false;
    std::int64_t peak_bytes = 0;
    bool after_warm_up = false;    ///< made while training ran: it had to wait
    std::string cause = {};        ///< then: in what it differs from the nearest program
};

/// The files that say where the time goes are written anew.
struct WrittenReport {
    std::int64_t step = 0;
    bool finished = false;
    std::string verdict;    ///< input_bound, …
    std::string field;      ///< of the spec, that helps
    std::string message;
};

enum class StopReason { none, cancel, timeout, drain, orphaned };

/// How a training run speaks and is spoken to. Called from the training thread only; never blocks
/// for long.
class Reporter {
public:
    virtual ~Reporter() = default;

    virtual void state(JobState state) = 0;    ///< compiling, running, finishing
    /// Once, before the first metric: training goes on after this step. What an earlier attempt
    /// said of later ones is void.
    virtual void begin(std::int64_t step) = 0;
    virtual void progress(const Progress& progress) = 0;
    virtual void metric(const MetricPoint& point) = 0;
    virtual void epoch(const EpochSummary& summary) = 0;
    virtual void log(const std::string& level, const std::string& message) = 0;
    virtual void warning(const std::string& code, const std::string& message) = 0;
    virtual void checkpoint(const SavedCheckpoint& checkpoint) = 0;
    virtual void compiled(const CompiledProgram& program) = 0;
    virtual void reported(const WrittenReport& report) = 0;

    /// Asked between steps. True: a checkpoint is wanted at this step, and the run goes on.
    virtual bool save_requested() { return false; }

    /// Asked between steps. Anything but none: the run saves (orphaned, drain), ends and says so in
    /// its outcome.
    virtual StopReason stop_requested() = 0;
};

}    // namespace slipway
