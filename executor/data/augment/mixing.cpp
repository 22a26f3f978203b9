#include "executor/data/augment/mixing.h"

#include <algorithm>
#include <cmath>

#include "api/base/check.h"
#include "executor/data/augment/draws.h"

namespace slipway {

namespace {

void blend(std::span<float> own, std::span<const float> other, double own_share) {
    const auto kept = float(own_share);
    const auto taken = float(1 - own_share);
    for (std::size_t i = 0; i < own.size(); ++i)
        own[i] = own[i] * kept + other[i] * taken;
}

void paste(std::span<float> own, std::span<const float> other, const Box& box,
           const Dims& feature_dims) {
    const std::int64_t height = feature_dims[1];
    const std::int64_t width = feature_dims[2];
    for (std::int64_t channel = 0; channel < feature_dims[0]; ++channel) {
        for (std::int64_t y = box.top; y < box.top + box.height; ++y) {
            const auto begin = std::size_t((channel * height + y) * width + box.left);
            std::ranges::copy(other.subspan(begin, std::size_t(box.width)),
                              own.subspan(begin).begin());
        }
    }
}

}    // namespace

Mix draw_mix(const Mixing& mixing, const StepPlace& place, const Dims& feature_dims) {
    // Below 2^40 steps, as many as an epoch can have.
    const auto index = std::uint64_t(place.epoch) << 40 | std::uint64_t(place.step);
    RandomStream random(mixing.seed, site_mix, index);
    const AugmentSpec& step = mixing.steps[random.next_below(mixing.steps.size())];
    const double own_share = draw_beta(random, step.alpha);
    if (step.name == AugmentName::mixup) return {.own_share = own_share};
    check(feature_dims.size() == 3, "boxes are cut out of images");
    const std::int64_t row = draw_up_to(random, feature_dims[1] - 1);
    const std::int64_t column = draw_up_to(random, feature_dims[2] - 1);
    return cut_around(row, column, own_share, feature_dims);
}

Mix cut_around(std::int64_t row, std::int64_t column, double own_share, const Dims& feature_dims) {
    const std::int64_t height = feature_dims[1];
    const std::int64_t width = feature_dims[2];
    const double reach = 0.5 * std::sqrt(1 - own_share);
    const auto down = std::int64_t(reach * double(height));
    const auto across = std::int64_t(reach * double(width));
    const std::int64_t top = std::max<std::int64_t>(0, row - down);
    const std::int64_t left = std::max<std::int64_t>(0, column - across);
    const Box box{top, left, std::min(height, row + down) - top,
                  std::min(width, column + across) - left};
    const double cut = double(box.height * box.width) / double(height * width);
    return {.own_share = 1 - cut, .cuts = true, .box = box};
}

void mix_into(const SampleRow& own, const SampleRow& other, const Mix& mix,
              const Dims& feature_dims) {
    blend(floats_of(own.labels), floats_of(other.labels), mix.own_share);
    if (mix.cuts) {
        paste(floats_of(own.features), floats_of(other.features), mix.box, feature_dims);
    } else {
        blend(floats_of(own.features), floats_of(other.features), mix.own_share);
    }
}

}    // namespace slipway
