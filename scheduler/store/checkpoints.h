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

/// Marks it deleted; its folder becomes garbage. False when there is none. Error{conflict} when it
/// is pinned, the newest one of a job that has not ended, or used by such a job.
bool delete_checkpoint(Store& store, std::string_view id);

/// Keeps it from deletion, or lets go. Nothing when there is none.
std::optional<Checkpoint> pin_checkpoint(Store& store, std::string_view id, bool pinned);

/// Keeps it, as a step of another transaction, which has seen that it is there.
void pin_checkpoint_in(Transaction& transaction, std::string_view id);

}    // namespace slipway::store
