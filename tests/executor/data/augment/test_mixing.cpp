// Goal: what samples are mixed with and by how much follows from seed, epoch and step alone, is
// what torchvision's MixUp and CutMix make of it, and never comes from padding.
// Method: samples whose features say which one they are, mixed by loaders of several shapes, beside
// the same reckoned sample by sample in double.
#include "executor/data/augment/mixing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "executor/data/loader.h"

namespace slipway {

namespace {

constexpr std::int64_t height = 6, width = 4, pixels = 2 * height * width, classes = 3;

AugmentSpec mixing_step(AugmentName name, double alpha = 1) {
    AugmentSpec step;
    step.name = name;
    step.alpha = alpha;
    return step;
}

float pixel_of(std::int64_t sample, std::int64_t epoch, std::int64_t pixel) {
    return float(1 + sample) + float(epoch) * 100 + float(pixel) / 64;
}

/// Images of two channels, drawn anew each epoch, of class sample % 3.
class NumberedImages final : public Samples {
public:
    NumberedImages() : Samples(class_sample_shape({2, height, width})) {}
    void read(const SampleUse& use, const SampleRow& row) const override {
        for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
            floats_of(row.features)[std::size_t(pixel)] = pixel_of(use.sample, use.epoch, pixel);
        integers_of(row.labels)[0] = std::int32_t(use.sample % classes);
    }
};

struct Row {
    std::vector<float> features, labels;
    bool operator==(const Row&) const = default;
};

/// All rows of an epoch in the order of the steps, padding left out after a look at it.
std::vector<Row> rows_of(const Mixing& mixing, const SamplerOptions& options, int threads,
                         std::int64_t first_step = 0) {
    const auto samples = class_shares(std::make_unique<NumberedImages>(), classes);
    std::vector<std::int64_t> chosen(22);
    std::iota(chosen.begin(), chosen.end(), 0);
    Sampler sampler(chosen, options);
    sampler.seek({1, first_step * options.batches_per_step});
    LoaderOptions loading{.threads = threads};
    loading.mixing = mixing;
    Loader loader(*samples, sampler, loading);
    std::vector<Row> rows;
    while (const auto loaded = loader.next()) {
        const std::int64_t count = options.batch_size_per_core * options.cores;
        for (std::int64_t i = 0; i < count; ++i) {
            const Batch& core = loaded->cores[std::size_t(i % options.cores)];
            const auto j = std::size_t(i / options.cores);
            const auto features = core.features.as<float>().subspan(j * pixels, pixels);
            const auto labels = core.labels.as<float>().subspan(j * classes, classes);
            if (i < loaded->sample_count) {
                rows.push_back(
                    {{features.begin(), features.end()}, {labels.begin(), labels.end()}});
                continue;
            }
            EXPECT_EQ(std::ranges::count(features, 0.0F), pixels) << "padding is not mixed";
            EXPECT_EQ(std::ranges::count(labels, 0.0F), classes);
        }
    }
    return rows;
}

/// Steps of 8 samples of 22, the last of 6; the second of two epochs.
SamplerOptions sampling(std::int64_t batch, std::int64_t cores, std::int64_t batches_per_step) {
    return {.seed = 4,
            .batch_size_per_core = batch,
            .cores = cores,
            .batches_per_step = batches_per_step,
            .drop_last = false,
            .epochs = 2};
}

}    // namespace

TEST(Mixing, is_the_same_for_any_cores_threads_batches_and_beginning) {
    const Mixing mixing{{mixing_step(AugmentName::mixup), mixing_step(AugmentName::cutmix)}, 7};
    const std::vector<Row> rows = rows_of(mixing, sampling(8, 1, 1), 0);
    ASSERT_EQ(rows.size(), 22U);
    EXPECT_EQ(rows, rows_of(mixing, sampling(2, 4, 1), 3));
    EXPECT_EQ(rows, rows_of(mixing, sampling(4, 1, 2), 2));
    EXPECT_EQ(rows, rows_of(mixing, sampling(1, 2, 4), 1));
    const std::vector<Row> last = rows_of(mixing, sampling(1, 2, 4), 2, 2);
    EXPECT_TRUE(std::equal(rows.begin() + 16, rows.end(), last.begin(), last.end()));
    EXPECT_NE(rows, rows_of({mixing.steps, 8}, sampling(8, 1, 1), 0));
}

// Tolerance: two products of numbers near 100 in f32.
TEST(Mixing, each_sample_takes_its_share_of_the_one_before_it_in_its_step) {
    std::vector<std::int64_t> order;
    std::vector<std::int64_t> chosen(22);
    std::iota(chosen.begin(), chosen.end(), 0);
    Sampler sampler(chosen, sampling(8, 1, 1));
    sampler.seek({1, 0});
    while (const auto batch = sampler.next())
        std::ranges::copy_if(batch->samples, std::back_inserter(order),
                             [](std::int64_t sample) { return sample != GlobalBatch::padding; });
    for (const AugmentName name : {AugmentName::mixup, AugmentName::cutmix}) {
        const Mixing mixing{{mixing_step(name)}, 7};
        const std::vector<Row> rows = rows_of(mixing, sampling(8, 1, 1), 0);
        for (std::int64_t i = 0; i < 22; ++i) {
            const std::int64_t step = i / 8, begin = step * 8,
                               size = std::min<std::int64_t>(8, 22 - begin);
            const std::int64_t own = order[std::size_t(i)];
            const std::int64_t other = order[std::size_t(begin + (i - begin + size - 1) % size)];
            const Mix mix = draw_mix(mixing, {1, step}, {2, height, width});
            const Row& row = rows[std::size_t(i)];
            for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
                const std::int64_t y = pixel / width % height - mix.box.top;
                const std::int64_t x = pixel % width - mix.box.left;
                const bool cut = y >= 0 && y < mix.box.height && x >= 0 && x < mix.box.width;
                const double share = name == AugmentName::mixup ? mix.own_share : cut ? 0 : 1;
                EXPECT_NEAR(row.features[std::size_t(pixel)],
                            share * double(pixel_of(own, 1, pixel)) +
                                (1 - share) * double(pixel_of(other, 1, pixel)),
                            3e-5);
            }
            for (std::int64_t label = 0; label < classes; ++label)
                EXPECT_NEAR(row.labels[std::size_t(label)],
                            mix.own_share * double(own % classes == label) +
                                (1 - mix.own_share) * double(other % classes == label),
                            1e-6);
        }
    }
}

// As CutMix of torchvision 0.17 for these numbers: half sides are 0.5 sqrt(1 - share) of the
// image's, rounded down; the share is then what the cut box inputs.
TEST(Mixing, a_box_is_cut_off_at_the_border_and_the_share_corrected) {
    const Dims image{3, 32, 48};
    const Mix whole = cut_around(16, 24, 0.75, image);
    EXPECT_EQ(whole.box, (Box{8, 12, 16, 24}));
    EXPECT_EQ(whole.own_share, 0.75);
    const Mix corner = cut_around(0, 47, 0.5, image);
    EXPECT_EQ(corner.box, (Box{0, 31, 11, 17}));
    EXPECT_EQ(corner.own_share, 1 - 11.0 * 17 / (32 * 48));
    EXPECT_EQ(cut_around(5, 5, 1, image).own_share, 1);
    const Mix none = cut_around(3, 3, 0, image);
    EXPECT_EQ(none.box, (Box{0, 0, 19, 27}));
}

TEST(Mixing, with_both_each_step_draws_one_of_them) {
    const Mixing mixing{{mixing_step(AugmentName::mixup), mixing_step(AugmentName::cutmix)}, 7};
    int cuts = 0;
    for (std::int64_t step = 0; step < 1000; ++step)
        cuts += draw_mix(mixing, {0, step}, {3, 32, 32}).cuts;
    EXPECT_NEAR(cuts, 500, 5 * std::sqrt(250));
}

}    // namespace slipway
