#pragma once

#include <filesystem>

#include "api/spec/job_spec.h"
#include "executor/checkpoint/checkpoint.h"

namespace slipway {

/// How the network of a checkpoint was trained, and until where.
struct TrainedJob {
    TrainingState state;
    JobSpec spec;
};

/// From a checkpoint's folder.
/// errors  TrainError checkpoint_corrupt and others of unusable_reason when it cannot be read;
///         checkpoint_incompatible when it has no job spec that this version reads
TrainedJob read_trained_job(const std::filesystem::path& checkpoint);

}    // namespace slipway
