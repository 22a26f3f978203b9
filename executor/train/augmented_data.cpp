#include "executor/train/augmented_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "executor/data/augment/augmented_samples.h"

namespace slipway {

namespace {

/// Takes from the data set's options what has to come after the steps.
std::optional<Moments> take_moments(DatasetOptions& options) {
    if (options.mean.empty() && options.deviation.empty()) return std::nullopt;
    Moments moments{std::exchange(options.mean, {}), std::exchange(options.deviation, {})};
    if (moments.mean.empty()) moments.mean = {0};
    if (moments.deviation.empty()) moments.deviation = {1};
    return moments;
}

/// A list of augmentations changes how a data set is read: its steps come before normalisation, and
/// where one of them brings images to a size, images are not brought to another before.
struct Augmenting {
    const JobSpec& spec;
    const std::vector<AugmentSpec>& steps;
    std::uint64_t seed;
    std::optional<std::int64_t> image_size;    ///< that the job asks for
    std::optional<Moments> moments;
    bool sizes = false;

    Augmenting(const JobSpec& spec_, DatasetOptions& options)
        : spec(spec_),
          steps(spec.data.augment),
          seed(std::uint64_t(spec.train.seed)),
          image_size(spec.data.image_size),
          moments(take_moments(options)),
          sizes(std::any_of(steps.begin(), steps.end(), sets_size)) {
        if (!sizes) return;
        options.image_size = 0;
        options.cache_bytes_max =
            0;    // of images at their own size; the steps' own cache is better
    }

    std::unique_ptr<Samples> samples(const Dataset& dataset, bool draws) const {
        const Dims& dims = dataset.index().feature_dims;
        // Images in files have any size, unless all are brought to one.
        const bool known = dims.size() == 3 && !(sizes && dataset.decodes_images());
        auto made = augmented_samples(dataset, samples_of(spec, dataset),
                                      {.steps = steps,
                                       .seed = seed,
                                       .draws = draws,
                                       .size = known ? ImageSize{dims[1], dims[2]} : ImageSize{},
                                       .moments = moments});
        check_size(made->shape().features.dims);
        return made;
    }

private:
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

TrainData open_augmented_data(const AttemptPlan& plan, DatasetOptions options) {
    const Augmenting augmenting(plan.spec, options);
    TrainData data;
    data.raw = open_dataset(plan.dataset_format, plan.dataset_path, options);
    data.split = split_of(data.raw->index(), plan.spec.data.split);
    data.training = augmenting.samples(*data.raw, true);
    data.evaluation = augmenting.samples(*data.raw, false);
    return data;
}

}    // namespace slipway
