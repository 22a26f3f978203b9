#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/base/clock.h"
#include "executor/data/augment/mixing.h"
#include "executor/data/sampler.h"
#include "executor/data/samples.h"
#include "executor/tensor/array.h"

namespace slipway {

/// What one core reads in one step. B = batch_size_per_core.
struct Batch {
    Array features;    ///< [B, …features of SampleShape]; zeros where padded
    Array labels;      ///< [B, …labels of SampleShape]; zeros where padded
    Array weights;     ///< f32 [B]; 1, or 0 where padded
};

/// The cores whose samples this process reads, where others read those of the rest.
struct CoreRange {
    std::int64_t first = 0;
    std::int64_t count = 0;    ///< 0: all
};

/// What all cores compute at once: a step, or a part of one.
struct LoadedBatch {
    SamplerPosition position;
    SamplerPosition next;             ///< what a checkpoint after this step keeps
    std::int64_t sample_count = 0;    ///< without padding
    std::int64_t step_samples = 0;    ///< of all batches of its step, without padding
    std::int64_t step_labels = 0;     ///< of the same samples: what the step's loss is a mean over
    bool ends_step = true;            ///< the last batch of its step
    std::vector<Batch> cores;         ///< core first_core + r's is at r
    std::int64_t first_core = 0;      ///< of those that were read
    std::int64_t core_count = 0;      ///< of the whole batch, where others read some; 0: these
    Tick read_begin{}, read_end{};    ///< when it was read
    int thread = 0;                   ///< by which of the loader's threads
};

struct LoaderOptions {
    int threads = 1;                        ///< that decode ahead; 0: next() decodes itself
    int batches_ahead = 4;                  ///< at most this many decoded or in work, at least 1
    const Clock& clock = system_clock();    ///< measures the waiting
    Mixing mixing = {};                     ///< of the samples of each step
    CoreRange own = {};
};

/// Reads a sampler's batches ahead of the training thread, in the sampler's order whatever the
/// number of threads. next() is called by one thread.
class Loader {
public:
    /// `samples` must outlive the loader.
    Loader(const Samples& samples, Sampler sampler, const LoaderOptions& options = {});
    /// Stops and joins the threads; batches not taken are dropped.
    ~Loader();
    Loader(const Loader&) = delete;
    Loader& operator=(const Loader&) = delete;

    /// Waits for the next batch; none after the sampler's end.
    /// errors  what reading one of its samples threw, at that batch's turn; thrown again by every
    ///         later call
    std::optional<LoadedBatch> next();

    /// Seconds that next() has waited so far: what reading costs the training.
    double wait_seconds() const;

private:
    struct State;    // threads, queue and what guards them
    std::unique_ptr<State> state_;
};

/// Reads one global batch on the calling thread. Mixing needs features and labels that are f32.
LoadedBatch load_batch(const Samples& samples, const GlobalBatch& batch,
                       const SamplerOptions& options, const Mixing& mixing = {},
                       const CoreRange& own = {});

}    // namespace slipway
