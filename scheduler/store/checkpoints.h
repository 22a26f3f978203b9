#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// A committed checkpoint: the row is the truth, the folder only holds the bytes.
struct Checkpoint {
    std::string id;    ///< ckp_…
    std::string job_id;
    std::string project;
    int attempt = 0;
    std::string name;    ///< folder name below store/checkpoints/<job_id>/
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::vector<std::string> kinds;
    JsonText files;    ///< [{"name", "bytes", "sha256"}]
    std::int64_t bytes = 0;
    std::string metric_name;
    std::optional<double> metric_value;
    bool pinned = false;
    Instant created_at;
    std::optional<Instant> deleted_at;
    JsonText written_by;    ///< of api/spec/checkpoint_writer.h; empty: of a build that did not say
};

/// Where a checkpoint was saved, and what its job measured there: the metric of checkpoint.best.
struct SavedMeasurement {
    std::int64_t step = 0;
    std::int64_t epoch = 0;    ///< that was completed
    std::string metric_name{};
    std::optional<double> metric_value{};    ///< none: nothing was measured there
};
SavedMeasurement measurement_of(const Checkpoint& checkpoint);

/// Why this build cannot go on from it; empty: it can.
std::string incompatibility(const Checkpoint& checkpoint);

struct CheckpointFilter {
    std::string job_id{};                   ///< empty: all jobs
    std::vector<std::string> projects{};    ///< empty: all
    bool deleted_too = false;
};

/// Newest first.
Page<Checkpoint> list_checkpoints(Store& store, const CheckpointFilter& filter,
                                  const PageRequest& page);

std::optional<Checkpoint> find_checkpoint(Store& store, std::string_view id);

/// The one a new attempt resumes from: highest step not deleted.
std::optional<Checkpoint> find_newest_checkpoint(Store& store, std::string_view job_id);

/// A checkpoint of a part of a parent, such as a trial of a sweep.
struct PartCheckpoint {
    Checkpoint checkpoint;
    std::string key;    ///< of its job: JobParent
};
/// The kept ones of the jobs whose key is `part`, or begins with it and '@' or '-': of the whole
/// trial. The highest step first.
std::vector<PartCheckpoint> list_part_checkpoints(Store& store, std::string_view parent_id,
                                                  std::string_view part);

/// Marks it deleted; its folder becomes garbage. False when there is none. Error{conflict} when it
/// is pinned, the newest one of a job that has not ended, or used by such a job.
bool delete_checkpoint(Store& store, std::string_view id);

/// Keeps it from deletion, or lets go. Nothing when there is none.
std::optional<Checkpoint> pin_checkpoint(Store& store, std::string_view id, bool pinned);

/// Keeps it, as a step of another transaction, which has seen that it is there.
void pin_checkpoint_in(Transaction& transaction, std::string_view id);

}    // namespace slipway::store
