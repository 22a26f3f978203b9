#include "executor/data/augment/augmented_samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "executor/data/loader.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

AugmentSpec named(AugmentName name, std::vector<std::int64_t> size = {}) {
    AugmentSpec step;
    step.name = name;
    step.size = std::move(size);
    step.scale = {0.3, 1};
    step.ratio = {0.75, 1.33};
    return step;
}

/// 24 photos of different sizes.
struct Photos {
    TempFolder folder;
    Photos() {
        for (int i = 0; i < 24; ++i) {
            folder.write(fmt::format("{}/{:02}.jpg", i % 2 == 0 ? "ants" : "bees", i),
                         jpeg_file(patterned_image(3, 20 + i % 5, 30 - i % 3, i)));
        }
    }
    std::unique_ptr<Dataset> open(const DatasetOptions& options = {}) const {
        return open_dataset("image_folder", folder.path(), options);
    }
};

std::unique_ptr<Samples> augmented(const Dataset& dataset, AugmentOptions options) {
    return augmented_samples(dataset, class_samples(dataset), std::move(options));
}

std::vector<float> features_of(const Samples& samples, const SampleUse& use) {
    std::vector<float> features(std::size_t(samples.shape().features.element_count()));
    std::int32_t label = 0;
    samples.read(use, {std::as_writable_bytes(std::span(features)),
                       std::as_writable_bytes(std::span(&label, 1))});
    return features;
}

const std::vector<AugmentSpec> crop_and_flip{named(AugmentName::resize, {16}),
                                             named(AugmentName::random_resized_crop, {8}),
                                             named(AugmentName::horizontal_flip)};

ErrorCode refused(const Dataset& dataset, const AugmentOptions& options) {
    return error_code_of([&] { augmented(dataset, options); });
}

}    // namespace

// Goal: what is drawn depends on seed, epoch and sample alone.
// Method: two epochs read by loaders with other threads and cores, and one that begins in the
// middle, are compared with each use read by itself.
TEST(AugmentedSamples, are_the_same_for_any_threads_cores_and_beginning) {
    const Photos photos;
    const auto dataset = photos.open();
    const auto alone =
        augmented(*dataset, {.steps = crop_and_flip, .seed = 5, .cache_bytes_max = 0});
    std::vector<std::int64_t> all(24);
    std::iota(all.begin(), all.end(), 0);
    for (const auto& [threads, cores, begin] :
         {std::tuple{0, 1, 0}, std::tuple{3, 4, 0}, std::tuple{2, 2, 17}}) {
        const auto samples = augmented(*dataset, {.steps = crop_and_flip, .seed = 5});
        Sampler sampler(all,
                        {.seed = 1, .batch_size_per_core = 4 / cores, .cores = cores, .epochs = 2});
        Sampler wanted = sampler;
        for (int i = 0; i < begin / 4; ++i)
            wanted.next();
        Sampler rest = wanted;
        Loader loader(*samples, rest, {.threads = threads});
        while (const auto batch = wanted.next()) {
            const auto loaded = loader.next();
            ASSERT_TRUE(loaded);
            for (std::size_t i = 0; i < batch->samples.size(); ++i) {
                const std::size_t core = i % std::size_t(cores), row = i / std::size_t(cores);
                const SampleUse use{batch->samples[i], batch->position.epoch};
                const auto features =
                    loaded->cores[core].features.as<float>().subspan(row * 192, 192);
                EXPECT_TRUE(std::ranges::equal(features, features_of(*alone, use)));
                EXPECT_EQ(loaded->cores[core].labels.as<std::int32_t>()[row],
                          dataset->label(use.sample));
            }
        }
    }
}

TEST(AugmentedSamples, differ_by_epoch_sample_and_seed) {
    const Photos photos;
    const auto dataset = photos.open();
    const auto one = augmented(*dataset, {.steps = crop_and_flip, .seed = 5});
    const auto other = augmented(*dataset, {.steps = crop_and_flip, .seed = 6});
    const auto first = features_of(*one, {3, 0});
    EXPECT_NE(first, features_of(*one, {3, 1}));
    EXPECT_NE(first, features_of(*one, {4, 0}));
    EXPECT_NE(first, features_of(*other, {3, 0}));
    EXPECT_EQ(first, features_of(*one, {3, 0}));    // kept by now
}

TEST(AugmentedSamples, of_an_evaluation_are_the_same_in_each_epoch_and_of_the_same_shape) {
    const Photos photos;
    const auto dataset = photos.open();
    const auto drawn = augmented(*dataset, {.steps = crop_and_flip});
    const auto settled = augmented(*dataset, {.steps = crop_and_flip, .draws = false});
    EXPECT_EQ(settled->shape().features, drawn->shape().features);
    EXPECT_EQ(settled->shape().features, (Shape{DType::f32, {3, 8, 8}}));
    EXPECT_EQ(features_of(*settled, {3, 0}), features_of(*settled, {3, 1}));
}

TEST(AugmentedSamples, what_lasts_is_decoded_once) {
    const Photos photos;
    const auto dataset = photos.open();
    const auto samples = augmented(*dataset, {.steps = crop_and_flip});
    for (std::int64_t epoch = 0; epoch < 3; ++epoch)
        features_of(*samples, {3, epoch});
    EXPECT_EQ(dataset->decoded_count(), 1);
    const auto unkept = augmented(*dataset, {.steps = crop_and_flip, .cache_bytes_max = 0});
    for (std::int64_t epoch = 0; epoch < 3; ++epoch)
        features_of(*unkept, {3, epoch});
    EXPECT_EQ(dataset->decoded_count(), 4);
}

TEST(AugmentedSamples, are_normalised_last) {
    const Photos photos;
    const auto dataset = photos.open();
    const auto plain = augmented(*dataset, {.steps = crop_and_flip});
    const auto scaled =
        augmented(*dataset, {.steps = crop_and_flip, .moments = Moments{{0.5, 0.25, 0}, {2}}});
    const auto before = features_of(*plain, {3, 0}), after = features_of(*scaled, {3, 0});
    for (std::size_t i = 0; i < before.size(); ++i) {
        const float mean = i < 64 ? 0.5F : i < 128 ? 0.25F : 0;
        EXPECT_FLOAT_EQ(after[i], (before[i] - mean) / 2);
    }
}

TEST(AugmentedSamples, without_steps_are_the_pixels_of_any_set_of_images) {
    const Photos photos;
    const auto dataset = photos.open({.image_size = 10});
    const auto samples = augmented(*dataset, {.size = {10, 10}});
    std::vector<float> plain(300);
    dataset->read(7, plain);
    EXPECT_EQ(features_of(*samples, {7, 0}), plain);
    TempFolder folder;
    folder.write("train-images-idx3-ubyte", idx_file({2, 2, 3}, "abcdefuvwxyz"));
    folder.write("train-labels-idx1-ubyte", idx_file({2}, std::string("\0\1", 2)));
    const auto digits = open_dataset("idx", folder.path());
    std::vector<float> digit(6);
    digits->read(1, digit);
    EXPECT_EQ(features_of(*augmented(*digits, {.size = {2, 3}}), {1, 0}), digit);
}

TEST(AugmentedSamples, refuse_what_cannot_be) {
    const Photos photos;
    const auto dataset = photos.open();
    EXPECT_EQ(refused(*dataset, {.steps = {named(AugmentName::resize, {16})}}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(refused(*dataset, {.steps = crop_and_flip, .moments = Moments{{1, 2}, {1}}}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(refused(CountingDataset(3, 4), {.steps = crop_and_flip}),
              ErrorCode::invalid_argument);
    const auto wide = augmented(*dataset, {.steps = {named(AugmentName::random_crop, {29})}});
    const DataProblem small = data_problem_of([&] { features_of(*wide, {1, 0}); });
    EXPECT_EQ(small.file, dataset->place(1).file);
    EXPECT_TRUE(says(small, "random_crop"));
    const auto same =
        augmented(*dataset, {.steps = {named(AugmentName::vertical_flip)}, .size = {20, 30}});
    EXPECT_TRUE(says(data_problem_of([&] { features_of(*same, {1, 0}); }), "image_size"));
}

}    // namespace slipway
