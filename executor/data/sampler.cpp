// A sampler is a function of (seed, epoch, position), not a stream: the order of an epoch is a
// Fisher-Yates shuffle of the whole list by a counter-based generator keyed by seed and epoch, made
// when the epoch is first asked for. So a position of two numbers is its whole state, a resumed run
// draws what an undisturbed one would, and nothing about the order depends on the number of cores.
// A shuffle within a window would need less memory than the list of samples, but would mix worse.
//
// What the functions keep: an epoch gives each sample at most once; without drop_last and a limit
// on steps exactly once, and a batch that is not full is padded; a step never spans two epochs;
// core r's j-th sample is entry j * cores + r, so one core with eight times the batch sees the same
// samples in the same order.

#include "executor/data/sampler.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/error.h"
#include "executor/tensor/random.h"

namespace slipway {

namespace {

void check_options(std::int64_t sample_count, const SamplerOptions& options) {
    const auto refuse = [](const std::string& message) {
        throw Error{ErrorCode::invalid_argument, message};
    };
    if (options.batch_size_per_core < 1 || options.cores < 1 || options.batches_per_step < 1) {
        refuse(fmt::format(
            "batch_size_per_core, cores and batches_per_step must be at least 1, got {}, {} and {}",
            options.batch_size_per_core, options.cores, options.batches_per_step));
    }
    if (options.steps_per_epoch < 0 || options.epochs < 0) {
        refuse(fmt::format("steps_per_epoch and epochs must not be negative, got {} and {}",
                           options.steps_per_epoch, options.epochs));
    }
    if (sample_count == 0) refuse("there are no samples to draw from");
    const std::int64_t global = options.batch_size_per_core * options.cores;
    const std::int64_t batches = options.batches_per_step;
    const std::int64_t cores = options.named_cores > 0 ? options.named_cores : options.cores;
    if (!options.drop_last || sample_count >= global * batches) return;
    if (batches > 1 && sample_count >= global) {
        refuse(fmt::format(
            "one step takes {} samples ({} cores x batch_size_per_core {} x "
            "grad_accumulation {}) and there are {}; use a grad_accumulation of at "
            "most {}, or drop_last false",
            global * batches, cores, global / cores, batches, sample_count, sample_count / global));
    }
    refuse(
        fmt::format("one step takes {} samples ({} cores x batch_size_per_core {}) and there "
                    "are {}; use a batch_size_per_core of at most {}, or drop_last false",
                    global, cores, global / cores, sample_count,
                    std::max<std::int64_t>(1, sample_count / cores)));
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}

}    // namespace

std::int64_t GlobalBatch::sample_count() const {
    return std::int64_t(samples.size()) - std::count(samples.begin(), samples.end(), padding);
}

Sampler::Sampler(std::vector<std::int64_t> samples, const SamplerOptions& options,
                 LabelCount label_count)
    : samples_(std::make_shared<const std::vector<std::int64_t>>(std::move(samples))),
      options_(options),
      label_count_(std::move(label_count)) {
    check_options(sample_count(), options_);
    steps_per_epoch_ =
        options_.drop_last ? sample_count() / step_size() : divided_up(sample_count(), step_size());
    if (options_.steps_per_epoch > 0) {
        steps_per_epoch_ = std::min(steps_per_epoch_, options_.steps_per_epoch);
    }
    batches_per_epoch_ = std::min(steps_per_epoch_ * options_.batches_per_step,
                                  divided_up(sample_count(), global_batch_size()));
}

std::optional<GlobalBatch> Sampler::next() {
    if (options_.epochs > 0 && position_.epoch >= options_.epochs) return std::nullopt;
    if (options_.shuffle && shuffled_epoch_ != position_.epoch) shuffle(position_.epoch);
    const std::vector<std::int64_t>& samples = order();
    const std::int64_t global = global_batch_size();
    GlobalBatch batch{.position = position_, .next = position_, .samples = {}};
    batch.samples.resize(std::size_t(global), GlobalBatch::padding);
    const std::int64_t begin = position_.batch * global;
    const std::int64_t end = std::min(begin + global, sample_count());
    std::copy(samples.begin() + begin, samples.begin() + end, batch.samples.begin());
    const std::int64_t step_begin = begin / step_size() * step_size();
    batch.step_samples = std::min(step_size(), sample_count() - step_begin);
    const std::int64_t before = begin == step_begin ? begin + batch.step_samples : begin;
    batch.previous = samples[std::size_t(before - 1)];
    batch.step_labels = labels_of(step_begin, batch.step_samples);
    if (++position_.batch == batches_per_epoch_) position_ = {position_.epoch + 1, 0};
    batch.ends_step = position_.batch % options_.batches_per_step == 0;
    batch.next = position_;
    return batch;
}

void Sampler::seek(SamplerPosition position) {
    const bool last = options_.epochs > 0 && position.epoch == options_.epochs;
    if (position.epoch < 0 || position.batch < 0 || position.batch >= batches_per_epoch_ ||
        (options_.epochs > 0 && position.epoch > options_.epochs) || (last && position.batch > 0)) {
        throw Error{
            ErrorCode::data_loss,
            fmt::format("epoch {}, batch {} is not a position of a sampler with {} batches an "
                        "epoch",
                        position.epoch, position.batch, batches_per_epoch_)};
    }
    if (position.batch % options_.batches_per_step != 0) {
        throw Error{
            ErrorCode::data_loss,
            fmt::format("batch {} is in the middle of a step of {} batches; no step ended there",
                        position.batch, options_.batches_per_step)};
    }
    position_ = position;
}

void Sampler::shuffle(std::int64_t epoch) {
    order_ = *samples_;
    shuffled_epoch_ = epoch;
    RandomStream random(options_.seed, site_shuffle, std::uint64_t(epoch));
    for (std::size_t i = order_.size(); i > 1; --i) {
        std::swap(order_[i - 1], order_[std::size_t(random.next_below(i))]);
    }
}

std::int64_t Sampler::labels_of(std::int64_t first, std::int64_t count) const {
    if (!label_count_) return count;
    std::int64_t labels = 0;
    for (std::int64_t i = first; i < first + count; ++i)
        labels += label_count_(order()[std::size_t(i)]);
    return labels;
}

Sampler evaluation_sampler(std::vector<std::int64_t> samples, std::int64_t batch_size_per_core,
                           std::int64_t cores) {
    return Sampler(std::move(samples), {.batch_size_per_core = batch_size_per_core,
                                        .cores = cores,
                                        .shuffle = false,
                                        .drop_last = false,
                                        .epochs = 1});
}

}    // namespace slipway
