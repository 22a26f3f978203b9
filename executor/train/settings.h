#pragma once

#include <optional>
#include <string>

#include "api/spec/job_spec.h"
#include "api/spec/schedule.h"
#include "executor/data/sampler.h"
#include "executor/optim/hyper.h"
#include "executor/passes/passes.h"

namespace slipway {

/// What decides which checkpoint is the best one, and how many of each kind stay.
struct KeepRule {
    std::string metric = "val_loss";
    bool smaller_is_better = true;
    std::int64_t best = 1;
    std::int64_t last = 2;
};

/// A job's spec in the trainer's terms: counts in steps, numbers ready for use.
struct TrainSettings {
    std::int64_t steps_total = 0;
    std::int64_t steps_per_epoch = 0;
    std::int64_t epochs = 0;    ///< started ones: the last may be partial when the job counts steps
    std::int64_t log_every_steps = 50;
    std::int64_t save_every_steps = 0;     ///< 0: not by steps
    std::int64_t save_every_epochs = 1;    ///< 0: not by epochs
    bool save_final = true;                ///< the end of training, however it came
    KeepRule keep;
    std::optional<EarlyStoppingSpec> early_stopping;
    Hyper hyper;    ///< lr is the effective base; step is set per step
    Schedule schedule;
    std::string schedule_name;
    int parts = 1;    ///< part_count
};

/// How many parts a global batch is computed in, each summed by itself and then by the fixed tree;
/// a thread computes whole parts. A deterministic job has 8, on one core as on 8, so that both give
/// the same bits with the same global batch (docs/decisions/0004). One that need not be has as many
/// as keep `threads` busy, at least one per core. Fewer where a core's batch does not divide so,
/// and one per core where each of several normalises its own batch.
std::int64_t part_count(const JobSpec& spec, int threads);

/// Batches in part_count parts: what the sampler and the engine call cores.
SamplerOptions sampler_options(const JobSpec& spec, int threads);

/// What the job's programs calculate in, training and evaluation alike.
PrecisionPolicy precision_policy(Precision precision);

/// `steps_per_epoch` comes from the sampler; `threads` as for part_count.
TrainSettings make_settings(const JobSpec& spec, std::int64_t steps_per_epoch, int threads);

/// The numbers of step `step` (0-based).
Hyper hyper_at(const TrainSettings& settings, std::int64_t step, std::int64_t label_count);

}    // namespace slipway
