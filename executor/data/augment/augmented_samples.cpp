#include "executor/data/augment/augmented_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "executor/data/augment/image_cache.h"
#include "executor/data/moments.h"

namespace slipway {

namespace {

SampleShape shape_of(const Dataset& dataset, const Samples& labels, const AugmentOptions& options) {
    const Dims& dims = dataset.index().feature_dims;
    if (dims.size() != 3) {
        throw Error{ErrorCode::invalid_argument,
                    "data.augment needs images; this dataset has columns. Leave it out"};
    }
    const ImageSize size = size_after(options.steps, options.size);
    return {.features = {DType::f32, {dims[0], size.height, size.width}},
            .labels = labels.shape().labels};
}

/// Steps before the first that does something else each time: their result can be kept.
std::size_t lasting_steps(const AugmentOptions& options) {
    if (!options.draws) return options.steps.size();
    return lasting_step_count(options.steps);
}

class AugmentedSamples final : public Samples {
public:
    AugmentedSamples(const Dataset& dataset, std::unique_ptr<Samples> labels,
                     AugmentOptions options)
        : Samples(shape_of(dataset, *labels, options)),
          dataset_(dataset),
          labels_(std::move(labels)),
          options_(std::move(options)),
          lasting_(std::span(options_.steps).first(lasting_steps(options_)).subspan(options_.done)),
          drawn_(std::span(options_.steps).subspan(lasting_steps(options_))),
          hint_(decoding_hint(options_.steps)),
          cache_(dataset.size(), options_.cache_bytes_max) {
        if (options_.moments) {
            options_.moments = of_each_channel(*options_.moments, dataset.index().feature_dims);
        }
    }

    void read(const SampleUse& use, const SampleRow& row) const override {
        const Image image = image_of(use);
        const std::span<float> features = floats_of(row.features);
        to_planes(image.pixels, std::size_t(image.channels), features);
        if (options_.moments) normalize(*options_.moments, features);
        read_labels(use, row.labels);
    }
    void read_labels(const SampleUse& use, std::span<std::byte> labels) const override {
        labels_->read_labels(use, labels);
    }
    std::int64_t label_count(std::int64_t sample) const override {
        return labels_->label_count(sample);
    }

private:
    Image image_of(const SampleUse& use) const {
        if (const Image* kept = cache_.find(use.sample)) return drawn(*kept, use);
        Image whole = dataset_.image(use.sample, hint_);
        check_size(use.sample, whole);
        const Image image = unaugmented(std::move(whole), lasting_);
        cache_.keep(use.sample, image);
        return drawn(image, use);
    }

    /// What the sizes of the list were reckoned from.
    void check_size(std::int64_t sample, const Image& image) const {
        const ImageSize size = options_.size;
        if (!size.known() || size == ImageSize{image.height, image.width}) return;
        refuse(sample, fmt::format("the image has {} x {} pixels where the first has {} x {}; set "
                                   "data.image_size, or begin data.augment with a resize",
                                   image.width, image.height, size.width, size.height));
    }

    [[noreturn]] void refuse(std::int64_t sample, const std::string& message) const {
        DataProblem problem = dataset_.place(sample);
        problem.message = message;
        throw DataError(std::move(problem));
    }

    Image drawn(const Image& image, const SampleUse& use) const {
        // Below 2^40 samples, as many as an epoch can have.
        const auto index = std::uint64_t(use.epoch) << 40 | std::uint64_t(use.sample);
        RandomStream random(options_.seed, site_augment, index);
        try {
            return augmented(image, drawn_, random);
        } catch (const Error& error) {    // knows the step, not the file
            refuse(use.sample, error.what());
        }
    }

    const Dataset& dataset_;
    const std::unique_ptr<Samples> labels_;
    AugmentOptions options_;
    const std::span<const AugmentSpec> lasting_, drawn_;    // of options_
    const std::int64_t hint_;
    mutable ImageCache cache_;    // looks after itself
};

}    // namespace

std::size_t lasting_step_count(std::span<const AugmentSpec> steps) {
    return std::size_t(std::ranges::find_if(steps, is_drawn) - steps.begin());
}

std::int64_t decoding_hint(std::span<const AugmentSpec> steps) {
    if (steps.empty() || steps[0].name != AugmentName::resize) return 0;
    return std::max(steps[0].size.front(), steps[0].size.back());
}

std::unique_ptr<Samples> augmented_samples(const Dataset& dataset, std::unique_ptr<Samples> labels,
                                           AugmentOptions options) {
    return std::make_unique<AugmentedSamples>(dataset, std::move(labels), std::move(options));
}

}    // namespace slipway
