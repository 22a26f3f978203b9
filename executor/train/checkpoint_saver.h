#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include "executor/checkpoint/checkpoint.h"
#include "executor/train/reporter.h"

namespace slipway {

/// Writes the checkpoints of a run, beside its next steps when there is memory for a copy of what
/// is written. One at a time: whoever saves again before the one before is on the disk waits for
/// that. A checkpoint is reported once it survives a power cut, in the order in which they were
/// saved. For the training thread alone. Destroyed, it first lets the one being written come to its
/// end.
class CheckpointSaver {
public:
    /// folder  of the job's checkpoints
    /// bytes_max  of a copy; negative: any
    CheckpointSaver(std::filesystem::path folder, Reporter& reporter, std::int64_t bytes_max);

    /// Returns when what `checkpoint` holds may be changed. `record` is what is reported, but for
    /// its files.
    /// errors  TrainError disk_full, disk_error: of this one or of the one before
    void save(SavedCheckpoint record, Checkpoint checkpoint);

    /// Reports a checkpoint that has reached the disk since. Waits for nothing.
    /// errors  as save
    void report_written();

    /// Waits for the one that is being written, and reports it.
    /// errors  as save
    void finish();

private:
    /// The arrays of `checkpoint` become copies that the saver keeps.
    void copy_numbers(Checkpoint& checkpoint);
    void report(const std::vector<WrittenFile>& files);

    const std::filesystem::path folder_;
    Reporter& reporter_;
    const std::int64_t bytes_max_;
    std::vector<Array> copies_{};    // in use while one is being written
    SavedCheckpoint record_{};       // of the one that is being written
    std::future<std::vector<WrittenFile>> writing_{};
};

}    // namespace slipway
