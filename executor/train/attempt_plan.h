#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/protocol/attempt_order.h"
#include "api/protocol/run_position.h"
#include "api/spec/checkpoint_writer.h"
#include "api/spec/job_kind.h"
#include "api/spec/job_spec.h"
#include "api/spec/prediction_spec.h"
#include "executor/data/shared/use_copy.h"
#include "executor/data/split/manifest.h"

namespace slipway {

struct KeptParts;

/// What a job does that runs a trained network and does not train.
struct InferencePlan {
    /// Their folders: one, or those of an ensemble. Samples are read as the first one's were.
    std::vector<std::filesystem::path> checkpoints;
    PredictionDataSpec data;                 ///< which samples of the plan's dataset
    bool needs_labels = false;               ///< labels that the network does not know are an error
    std::int64_t batch_size_per_core = 0;    ///< of a prediction; 0: as the network was trained

    const std::filesystem::path& checkpoint() const { return checkpoints.front(); }
    bool is_ensemble() const { return checkpoints.size() > 1; }
};

/// One attempt at one job, everything resolved: what attempt.json says.
struct AttemptPlan {
    JobKind kind = JobKind::train;
    JobSpec spec;
    std::string dataset_format;                 ///< one of dataset_formats()
    std::filesystem::path dataset_path;         ///< folder or file
    std::string dataset_options = "{}";         ///< JSON object: label_column, …
    std::string dataset_content_hash = {};      ///< that the files must have; empty: not known
    std::filesystem::path checkpoint_folder;    ///< made when absent
    std::optional<std::filesystem::path> resume_from;    ///< a checkpoint's folder
    /// What is wrong with each newer checkpoint that is not resumed from: told as warnings.
    std::vector<std::string> passed_over = {};
    /// spec.model.init: a safetensors file or a checkpoint's folder; not read when resuming.
    std::optional<std::filesystem::path> init_from = {};
    /// spec.model.from: a file that torch.export has written; none when resuming.
    std::optional<std::filesystem::path> network_from = {};
    /// spec.data.split.id: the manifest of a stored split.
    std::optional<SplitFile> split_file = {};
    int attempt = 1;           ///< part of the names of checkpoints
    int worker_threads = 0;    ///< 0 = as many as CPUs granted; at most one per part (part_count)
    bool keeps_workers = false;             ///< so many run, even where fewer would be as fast
    std::int64_t memory_bytes_max = 0;      ///< 0 = no limit
    std::filesystem::path report_folder;    ///< gets report, graphs and trace; empty: none
    std::filesystem::path cache_folder;     ///< of compiled code, shared by jobs; empty: none
    std::filesystem::path packed_folder;    ///< of packed images, shared by jobs; empty: none
    SharingOptions sharing = {};            ///< of copies of the decoded dataset
    RunPosition* position = nullptr;        ///< says where the run is, for whoever outlives it
    /// Called with a JSON object before an error leaves the run: which step, epoch, batch and phase
    /// it was in, and the samples of that batch with their shapes.
    std::function<void(const std::string& where)> on_failure = {};
    CheckpointWriter writer = {};    ///< this build, as checkpoints name it
    KeptParts* kept = nullptr;       ///< of the process's earlier attempts; null: nothing is kept
    std::string cpu_scope = {};      ///< see EngineOptions; empty: workers run anywhere
    /// Of the kinds `predict` and `evaluate`: `spec` is predicting_job or evaluating_job, and the
    /// dataset is the one to predict or to evaluate on. The result is predictions_file_name or
    /// evaluation.json in report_folder.
    std::optional<InferencePlan> inference = {};
    /// What this process is among those of an attempt on several hosts, which share the spec's
    /// cores; none: it is alone. Training only.
    std::optional<MemberOrder> member = {};
};

inline constexpr const char* predictions_file_name = "predictions.csv";

}    // namespace slipway
