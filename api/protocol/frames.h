#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/base/json.h"
#include "api/spec/checkpoint_writer.h"
#include "api/spec/event.h"
#include "api/spec/job_state.h"
#include "api/spec/spelling.h"

namespace slipway {

// What an executor reports: the lines of frames.ndjson, one JSON object each, which the executor
// writes and the agent reads. The log adds `n`, which counts from 1 within the attempt, and `time`.

enum class FrameType { state, progress, metric, log, warning, compile, report, checkpoint, done };

template <>
struct Spelling<FrameType> {
    static constexpr std::array<std::string_view, 9> words{
        "state", "progress", "metric", "log", "warning", "compile", "report", "checkpoint", "done"};
};

/// It enters this state: compiling, running or finishing.
struct StateFrame {
    JobState state = JobState::compiling;
};

/// Where it stands, at most twice a second.
struct ProgressFrame {
    std::int64_t epoch = 0, epochs = 0;    ///< from 1
    std::int64_t step = 0, steps_total = 0;
    std::int64_t samples = 0;
    double samples_per_s = 0;
    std::optional<double> eta_s = {};    ///< unknown before the first step
    std::string phase = {};              ///< train, evaluate
};

/// Values of one step, by name. A value that is NaN or infinite is null, and `nonfinite` names it.
struct MetricFrame {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::vector<std::pair<std::string, double>> values;
};

struct LogFrame {
    std::string level;    ///< info, warn, error
    std::string message;
};

struct WarningFrame {
    std::string code;
    std::string message;
};

/// A program is ready.
struct CompileFrame {
    std::string program;    ///< train_step, evaluation_step
    std::string hash;
    double seconds = 0;
    bool cached = false;
    std::int64_t peak_bytes = 0;
    std::optional<std::string> cause = {};    ///< compiled after warm-up: the shapes that differ
};

/// The files of the report folder have been replaced.
struct ReportFrame {
    std::int64_t step = 0;
    bool finished = false;
    std::string verdict;
    std::string field;
    std::string message;
};

/// A checkpoint has been saved, synced and renamed.
struct CheckpointFrame {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::string name;                  ///< is_checkpoint_name
    std::vector<std::string> kinds;    ///< last, best
    struct File {
        std::string name;    ///< a plain file name
        std::int64_t bytes = 0;
        std::string sha256;
        bool operator==(const File&) const = default;
    };
    std::vector<File> files;
    std::optional<std::pair<std::string, double>> metric = {};
    std::vector<std::string> pruned = {};    ///< names no longer kept
    /// All that are kept now; the best first.
    struct Kept {
        std::vector<std::string> last;
        std::vector<std::string> best;
        bool operator==(const Kept&) const = default;
    };
    std::optional<Kept> kept = {};
    std::optional<CheckpointWriter> writer = {};    ///< none: an executor of an older build

    std::int64_t bytes() const;    ///< of all files
};

/// Always the last.
struct DoneFrame {
    AttemptOutcome outcome = AttemptOutcome::failed;
    std::string code = {};    ///< of a failure, or early_stopping; empty: none
    std::string message = {};
    Json result = nullptr;    ///< an object, or null
};

Json to_json(const StateFrame& frame);
Json to_json(const ProgressFrame& frame);
Json to_json(const MetricFrame& frame);
Json to_json(const LogFrame& frame);
Json to_json(const WarningFrame& frame);
Json to_json(const CompileFrame& frame);
Json to_json(const ReportFrame& frame);
Json to_json(const CheckpointFrame& frame);
Json to_json(const DoneFrame& frame);

// What the agent acts on. (The other frames go to clients as they are.) All are safe for whatever
// an executor was made to write. errors  throw invalid_argument naming the field

StateFrame read_state_frame(const Json& json);
MetricFrame read_metric_frame(const Json& json);
CheckpointFrame read_checkpoint_frame(const Json& json);
/// Repairs what it can instead of throwing, so that an end is never missed: an unknown outcome is
/// failed, a code that is no word is internal.
DoneFrame read_done_frame(const Json& json);

}    // namespace slipway
