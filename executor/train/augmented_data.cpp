#include "executor/train/augmented_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "executor/data/augment/augmented_samples.h"

namespace slipway {

namespace {

constexpr std::int64_t cache_bytes_max = 512 << 20;    // of the steps' own cache; a pack needs none

/// A list of augmentations changes how a dataset is read: its steps come before normalisation, and
/// where one of them brings images to a size, images are not brought to another before.
struct Augmenting {
    const JobSpec& spec;
    std::vector<AugmentSpec> steps;
    std::uint64_t seed;
    std::optional<std::int64_t> image_size;    ///< that the job asks for
    std::optional<Moments> moments;
    bool sizes = false;

    Augmenting(const JobSpec& spec_, DatasetOptions& options)
        : spec(spec_),
          steps(image_steps(spec)),
          seed(std::uint64_t(spec.train.seed)),
          image_size(spec.data.image_size),
          moments(take_moments(options)),
          sizes(std::any_of(steps.begin(), steps.end(), sets_size)) {
        if (!sizes) return;
        options.image_size = 0;
        options.cache_bytes_max =
            0;    // of images at their own size; the steps' own cache is better
    }

    std::unique_ptr<Samples> samples(const TrainData& data, bool draws) const {
        const Dataset& dataset = data.images();
        const std::size_t done = data.has_prepared_images() ? lasting_step_count(steps) : 0;
        const Dims& dims = dataset.index().feature_dims;
        // Images in files have any size, unless all are brought to one.
        const bool known = dims.size() == 3 && !(sizes && dataset.decodes_images());
        auto made = augmented_samples(dataset, samples_of(spec, dataset),
                                      {.steps = steps,
                                       .seed = seed,
                                       .draws = draws,
                                       .size = known ? ImageSize{dims[1], dims[2]} : ImageSize{},
                                       .moments = moments,
                                       .cache_bytes_max = cached_bytes(data, draws, done),
                                       .done = done});
        check_size(made->shape().features.dims);
        return made;
    }

private:
    /// Of prepared images nothing, unless an evaluation would resize them each time.
    std::int64_t cached_bytes(const TrainData& data, bool draws, std::size_t done) const {
        const bool resizes =
            std::ranges::any_of(std::span(steps).subspan(done), [](const AugmentSpec& step) {
                return step.name == AugmentName::resize ||
                       step.name == AugmentName::random_resized_crop;
            });
        const bool keeps =
            !data.has_prepared_images() || (data.shared.dataset && !draws && resizes);
        return keeps ? cache_bytes_max : 0;
    }

    void check_size(const Dims& dims) const {
        if (!image_size || (dims[1] == *image_size && dims[2] == *image_size)) return;
        const auto last = std::find_if(steps.rbegin(), steps.rend(), sets_size);
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("data.augment[{}] ({}) ends at {} x {} pixels where "
                                "data.image_size is {}; leave one of them out",
                                steps.rend() - last - 1, to_string(last->name), dims[1], dims[2],
                                *image_size)};
    }
};

}    // namespace

std::vector<AugmentSpec> image_steps(const JobSpec& spec) {
    std::vector<AugmentSpec> steps = spec.data.augment;
    std::erase_if(steps, [](const AugmentSpec& step) { return mixes_samples(step.name); });
    return steps;
}

void mix_training_samples(const JobSpec& spec, TrainData& data) {
    data.mixing.seed = std::uint64_t(spec.train.seed);
    std::ranges::copy_if(spec.data.augment, std::back_inserter(data.mixing.steps),
                         [](const AugmentSpec& step) { return mixes_samples(step.name); });
    if (data.mixing.steps.empty()) return;
    const bool cuts = std::ranges::any_of(data.mixing.steps, [](const AugmentSpec& step) {
        return step.name == AugmentName::cutmix;
    });
    if (cuts && data.training->shape().features.dims.size() != 3) {
        throw Error{ErrorCode::invalid_argument,
                    "data.augment has cutmix, which needs images; this dataset has columns. Use "
                    "mixup, or leave it out"};
    }
    if (!data.evaluation) data.evaluation = samples_of(spec, data.dataset());
    if (spec.task.type == TaskType::classification)
        data.training = class_shares(std::move(data.training), data.class_count);
}

TrainData open_augmented_data(const AttemptPlan& plan, DatasetOptions options) {
    const Augmenting augmenting(plan.spec, options);
    TrainData data;
    open_images(plan, options, augmenting.steps, data);
    data.training = augmenting.samples(data, true);
    data.evaluation = augmenting.samples(data, false);
    return data;
}

}    // namespace slipway
