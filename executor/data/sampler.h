#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace slipway {

/// Where a sampler stands: its whole state. The next batch it gives is number `batch` of `epoch`.
struct SamplerPosition {
    std::int64_t epoch = 0;    ///< 0-based
    std::int64_t batch = 0;    ///< global batches given in this epoch
    bool operator==(const SamplerPosition&) const = default;
};

struct SamplerOptions {
    std::uint64_t seed = 0;
    std::int64_t batch_size_per_core = 32;
    std::int64_t cores = 1;
    /// What messages call cores, where those of a job compute `cores` parts; 0: the same.
    std::int64_t named_cores = 0;
    std::int64_t batches_per_step = 1;    ///< global batches that one update of the weights takes
    bool shuffle = true;                  ///< a new order each epoch; false: as listed
    bool drop_last = true;                ///< leave out the last, partial step of an epoch
    std::int64_t steps_per_epoch = 0;     ///< at most; 0: all
    std::int64_t epochs = 0;              ///< 0: no end
};

/// The samples that all cores compute at once: a step, or a part of one.
struct GlobalBatch {
    static constexpr std::int64_t padding = -1;

    SamplerPosition position;    ///< of this batch
    SamplerPosition next;        ///< of the batch after it: what a checkpoint after this step keeps
    std::int64_t step_samples = 0;    ///< of all batches of its step, without padding
    std::int64_t step_labels = 0;     ///< of the same samples: what the step's loss is a mean over
    bool ends_step = true;            ///< the last batch of its step
    /// The sample before the first of `samples` in its step; before the step's first its last.
    std::int64_t previous = padding;
    /// cores x batch_size_per_core entries; core r's j-th is entry j * cores + r.
    /// `padding` where a partial batch has no sample: computed, with weight 0, and not counted.
    std::vector<std::int64_t> samples;

    std::int64_t sample_count() const;    ///< without padding
};

/// How many labels of a sample the loss counts; Samples::label_count.
using LabelCount = std::function<std::int64_t(std::int64_t sample)>;

/// Gives each epoch's samples in global batches. Epoch e's order is the Fisher-Yates shuffle of
/// the list by RandomStream(seed, site_shuffle, e): the same for any number of cores, so that one
/// core with batch 8 B and eight cores with batch B see the same global batches, and N batches of B
/// in a step are the samples of one batch of N B. A step never spans two epochs: without drop_last
/// an epoch's last step has what is left, in as many batches as that needs.
/// Not synchronised; cheap to copy: copies draw from one list, and each has an order of its own.
class Sampler {
public:
    /// `samples` are what is drawn from, each once per epoch. Without `label_count` each has one
    /// label.
    /// errors  invalid_argument when sizes are not positive, when there is no sample, or when
    ///         drop_last leaves no batch at all (the message says which batch size would fit)
    Sampler(std::vector<std::int64_t> samples, const SamplerOptions& options,
            LabelCount label_count = {});

    /// The next batch, or none after the last epoch.
    std::optional<GlobalBatch> next();

    const SamplerOptions& options() const { return options_; }
    std::int64_t sample_count() const { return std::int64_t(samples_->size()); }
    std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
    std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
    std::int64_t global_batch_size() const { return options_.batch_size_per_core * options_.cores; }
    std::int64_t step_size() const { return global_batch_size() * options_.batches_per_step; }
    SamplerPosition position() const { return position_; }
    /// Goes on from `position`, as a sampler that has given everything before it would.
    /// errors  data_loss when it is no position of this sampler, or amid a step
    void seek(SamplerPosition position);

private:
    void shuffle(std::int64_t epoch);
    /// The samples of the epoch at hand.
    const std::vector<std::int64_t>& order() const { return options_.shuffle ? order_ : *samples_; }
    /// Of `count` samples of the epoch's order.
    std::int64_t labels_of(std::int64_t first, std::int64_t count) const;

    std::shared_ptr<const std::vector<std::int64_t>> samples_;    ///< as given, of all copies
    SamplerOptions options_;
    LabelCount label_count_;
    std::int64_t steps_per_epoch_ = 0;
    std::int64_t batches_per_epoch_ = 0;
    SamplerPosition position_;
    std::vector<std::int64_t> order_;    ///< of epoch `shuffled_epoch_`
    std::int64_t shuffled_epoch_ = -1;
};

/// One pass in the listed order, the last batch padded: every sample exactly once, on any number
/// of cores.
Sampler evaluation_sampler(std::vector<std::int64_t> samples, std::int64_t batch_size_per_core,
                           std::int64_t cores);

}    // namespace slipway
