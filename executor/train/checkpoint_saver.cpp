// A save took as long as its bytes took to be hashed, written and synced, and training waited: a
// quarter of a run of ResNet-18 that saves after each epoch. Now it waits for a copy of the numbers
// alone; a thread writes the copy while the next steps overwrite the numbers in place. The copy's
// memory is kept for the next save: pages that are new to the process cost more than copying. Steps
// that leave the old numbers alone, as copy on write would, need as much memory in every step that
// follows a save, and memory that is new to the process. The copy counts against the memory of the
// job: where the plan of its programs leaves no room for it, the save is as it was before. A save
// that is due while another one is being written waits: it could be left out, but whoever asks for
// a checkpoint at each step, to look at each, would miss some whenever the disk is slow.
#include "executor/train/checkpoint_saver.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "executor/train/train_error.h"

namespace slipway {

namespace {

std::int64_t bytes_of(const Checkpoint& checkpoint) {
    std::int64_t bytes = 0;
    for (const auto* arrays : {&checkpoint.weights, &checkpoint.optimizer})
        for (const NamedArray& each : *arrays)
            bytes += each.array.byte_count();
    return bytes;
}

/// A failed save ends the run: training on without checkpoints would lose it all later.
std::vector<WrittenFile> write(const std::filesystem::path& folder, const std::string& name,
                               const Checkpoint& checkpoint) {
    try {
        return save_checkpoint(folder, name, checkpoint);
    } catch (const Error& error) {
        const bool is_full = error.code() == ErrorCode::exhausted;
        throw TrainError(is_full ? "disk_full" : "disk_error", error.what());
    }
}

}    // namespace

CheckpointSaver::CheckpointSaver(std::filesystem::path folder, Reporter& reporter,
                                 std::int64_t bytes_max)
    : folder_(std::move(folder)), reporter_(reporter), bytes_max_(bytes_max) {}

void CheckpointSaver::save(SavedCheckpoint record, Checkpoint checkpoint) {
    finish();
    record_ = std::move(record);
    if (bytes_max_ >= 0 && bytes_of(checkpoint) > bytes_max_)
        return report(write(folder_, record_.name, checkpoint));
    copy_numbers(checkpoint);
    writing_ =
        std::async(std::launch::async, [this, name = record_.name, copy = std::move(checkpoint)] {
            return write(folder_, name, copy);
        });
}

void CheckpointSaver::copy_numbers(Checkpoint& checkpoint) {
    std::size_t number = 0;
    for (auto* arrays : {&checkpoint.weights, &checkpoint.optimizer})
        for (NamedArray& each : *arrays) {
            if (number == copies_.size()) copies_.emplace_back();
            Array& copy = copies_[number++];
            if (copy.empty() || copy.shape() != each.array.shape())
                copy = each.array.clone();
            else
                std::copy_n(each.array.bytes(), each.array.byte_count(), copy.bytes());
            each.array = copy;
        }
}

void CheckpointSaver::report_written() {
    if (writing_.valid() && writing_.wait_for(std::chrono::seconds{0}) == std::future_status::ready)
        report(writing_.get());
}

void CheckpointSaver::finish() {
    if (writing_.valid()) report(writing_.get());
}

void CheckpointSaver::report(const std::vector<WrittenFile>& files) {
    for (const WrittenFile& file : files)
        record_.files.push_back({file.name, file.bytes, file.sha256});
    reporter_.checkpoint(record_);
}

}    // namespace slipway
