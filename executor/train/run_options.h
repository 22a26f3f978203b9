#pragma once

#include <memory>

#include "executor/cache/object_cache.h"
#include "executor/data/loader.h"
#include "executor/engine/engine.h"
#include "executor/explain/explainer.h"
#include "executor/nn/init.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/model.h"
#include "executor/train/reporter.h"
#include "executor/train/train_data.h"

namespace slipway {

// What a run asks of the modules below it, taken from its plan.

/// Worker threads: those of the plan, else as many as CPUs are granted.
int threads_of(const AttemptPlan& plan);

/// What part_count depends on: the members of an attempt divide a batch alike, whatever their hosts
/// have.
int part_threads(const AttemptPlan& plan);

/// What the weights begin with. A resumed run has values of its own: none are drawn.
Init initial_values(const AttemptPlan& plan);

/// Where the run's network is read from, if it is imported: the checkpoint that it resumes from has
/// it, as the user's file may be gone by then.
NetworkSource network_source(const AttemptPlan& plan);

/// The machine code of earlier jobs; null without a folder. A folder that cannot be used costs the
/// job time, not its life: it is said as a warning.
std::unique_ptr<ObjectCache> open_cache(const AttemptPlan& plan, Reporter& reporter);

/// `cores`: parts of the batch, SamplerOptions::cores. `cache` may be null, and outlives the
/// engine.
EngineOptions engine_options(const AttemptPlan& plan, std::int64_t cores, ObjectCache* cache);

/// Decoding and augmenting take a thread for each CPU, whatever the cores: while the workers keep
/// up with them the queue is full and they sleep. What is in memory is only copied: small batches
/// by the training thread itself.
LoaderOptions loader_options(const AttemptPlan& plan, const TrainData& data);

/// `data` must outlive the explainer.
ExplainOptions explain_options(const AttemptPlan& plan, const SamplerOptions& sampler,
                               const TrainData& data, const ObjectCache* cache, Tick started);

}    // namespace slipway
