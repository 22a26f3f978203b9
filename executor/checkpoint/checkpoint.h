#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/spec/checkpoint_writer.h"
#include "executor/checkpoint/safetensors.h"

namespace slipway {

/// Where a training run stands, besides its numbers. Random numbers are counter-based, so `seed`
/// with `step` and the sampler's position are their whole state.
struct TrainingState {
    std::int64_t step = 0;             ///< optimizer steps done; the schedule's position too
    std::int64_t epoch = 0;            ///< whole epochs done
    std::int64_t samples = 0;          ///< training samples seen
    std::uint64_t seed = 0;            ///< of every random number of the job
    std::int64_t sampler_epoch = 0;    ///< SamplerPosition of the next batch
    std::int64_t sampler_batch = 0;
    std::string schedule = "constant";    ///< name of the learning-rate schedule
    double learning_rate = 0;             ///< at this step, for people
    std::string details = "{}";           ///< JSON object: whatever else the trainer wants back
};

/// A small file beside the numbers: what a text's tokens mean.
struct CheckpointFile {
    std::string name;    ///< without folders, and none of the checkpoint's own
    std::string bytes;
};

/// Everything needed to go on as if nothing had happened.
struct Checkpoint {
    TrainingState state;
    std::vector<NamedArray> weights;
    std::vector<NamedArray> optimizer;
    std::vector<CheckpointFile> files = {};
    CheckpointWriter writer = {};    ///< of a build that did not say: its format, and no names
};

/// Writes `folder/name/` with model.safetensors, optimizer.safetensors, the checkpoint's own files
/// and state.json, whose checksums cover all others. Written as `name.tmp`, each file synced,
/// renamed, the folder synced: after the return the checkpoint survives a power cut; before, there
/// is none of that name. `folder` is made when absent.
/// returns the files, for the record
/// errors  throws exhausted when the disk is full (the message says so), unavailable otherwise,
///         conflict when a checkpoint of that name exists; nothing is left behind
std::vector<WrittenFile> save_checkpoint(const std::filesystem::path& folder,
                                         const std::string& name, const Checkpoint& checkpoint);

/// Reads a checkpoint and verifies every checksum.
/// errors  not_found, data_loss (damaged: which file and how), exhausted, invalid_argument (this
///         build cannot read what another one wrote)
Result<Checkpoint> load_checkpoint(const std::filesystem::path& checkpoint);

/// Where the run of a checkpoint stood, without reading its numbers: verifies state.json alone.
/// errors  as load_checkpoint
Result<TrainingState> load_training_state(const std::filesystem::path& checkpoint);

/// The checkpoint with the most steps in `folder` that is whole (checksums verified, nothing
/// loaded); none when there is no such.
std::optional<std::filesystem::path> newest_checkpoint(const std::filesystem::path& folder);

struct NewestCheckpoint {
    std::optional<std::filesystem::path> whole;
    /// What is wrong with each that is newer and damaged, its folder named.
    std::vector<std::string> damaged;
};
NewestCheckpoint find_newest_checkpoint(const std::filesystem::path& folder);

/// Removes every checkpoint of `folder` whose name is not in `keep`, and what unfinished writes
/// have left. Never touches files that are not checkpoints. Call only while nothing is saving.
/// returns the names removed
std::vector<std::string> prune_checkpoints(const std::filesystem::path& folder,
                                           std::span<const std::string> keep);

}    // namespace slipway
