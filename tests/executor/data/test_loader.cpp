#include "executor/data/loader.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

constexpr std::int64_t feature_count = 5;

std::vector<std::int64_t> counted(std::int64_t count) {
    std::vector<std::int64_t> list(std::size_t(count), 0);
    std::iota(list.begin(), list.end(), 0);
    return list;
}

/// The batch holds exactly what the sampler named: features, labels and weights.
void expect_batch(const LoadedBatch& loaded, const GlobalBatch& wanted) {
    EXPECT_EQ(loaded.position, wanted.position);
    EXPECT_EQ(loaded.next, wanted.next);
    EXPECT_EQ(loaded.sample_count, wanted.sample_count());
    const std::size_t cores = loaded.cores.size();
    for (std::size_t core = 0; core < cores; ++core) {
        const Batch& batch = loaded.cores[core];
        const auto features = batch.features.as<float>();
        for (std::size_t j = 0; j < wanted.samples.size() / cores; ++j) {
            const std::int64_t sample = wanted.samples[j * cores + core];
            const bool padded = sample == GlobalBatch::padding;
            EXPECT_EQ(batch.weights.as<float>()[j], padded ? 0.0F : 1.0F);
            EXPECT_EQ(batch.labels.as<std::int32_t>()[j], padded ? 0 : std::int32_t(sample % 2));
            for (std::size_t i = 0; i < std::size_t(feature_count); ++i) {
                EXPECT_EQ(features[j * feature_count + i],
                          padded ? 0.0F : float(sample) + float(i));
            }
        }
    }
}

}    // namespace

TEST(Loader, gives_the_samplers_batches_in_order_with_any_number_of_threads) {
    const CountingDataset dataset(53, feature_count);
    const auto samples = class_samples(dataset);
    const SamplerOptions options{
        .seed = 2, .batch_size_per_core = 3, .cores = 4, .drop_last = false, .epochs = 3};
    for (const int threads : {0, 1, 4}) {
        Sampler sampler(counted(53), options);
        Loader loader(*samples, sampler, {.threads = threads, .batches_ahead = 3});
        while (const auto wanted = sampler.next()) {
            const auto loaded = loader.next();
            ASSERT_TRUE(loaded);
            ASSERT_EQ(loaded->cores.size(), 4U);
            EXPECT_EQ(loaded->cores[0].features.shape(), (Shape{DType::f32, {3, feature_count}}));
            expect_batch(*loaded, *wanted);
        }
        EXPECT_FALSE(loader.next());
        EXPECT_FALSE(loader.next());
        EXPECT_GE(loader.wait_seconds(), 0);
    }
}

TEST(Loader, hands_a_readers_error_to_the_consumer_at_its_turn) {
    const CountingDataset dataset(40, feature_count, 25);
    const auto samples = class_samples(dataset);
    for (const int threads : {0, 1, 4}) {
        const SamplerOptions options{.batch_size_per_core = 10, .shuffle = false};
        Loader loader(*samples, Sampler(counted(40), options), {.threads = threads});
        EXPECT_TRUE(loader.next());    // samples 0 to 9
        EXPECT_TRUE(loader.next());
        EXPECT_EQ(data_problem_of([&] { loader.next(); }).row, 26);
        EXPECT_EQ(data_problem_of([&] { loader.next(); }).row, 26);
    }
}

namespace {

/// Its label counts and features are the sample and the epoch themselves.
class UseSamples final : public Samples {
public:
    UseSamples() : Samples({{DType::i32, {2}}, {DType::f32, {3}}}) {}
    void read(const SampleUse& use, const SampleRow& row) const override {
        integers_of(row.features)[0] = std::int32_t(use.sample);
        integers_of(row.features)[1] = std::int32_t(use.epoch);
        floats_of(row.labels)[2] = float(use.sample);
    }
    std::int64_t label_count(std::int64_t sample) const override { return 10 * sample; }
};

}    // namespace

TEST(Loader, reads_integers_and_labels_of_any_shape_once_an_epoch) {
    const UseSamples samples;
    const auto labels = [&](std::int64_t sample) { return samples.label_count(sample); };
    const SamplerOptions options{.batch_size_per_core = 2,
                                 .batches_per_step = 2,
                                 .shuffle = false,
                                 .drop_last = false,
                                 .epochs = 2};
    Loader loader(samples, Sampler({1, 2, 3, 4, 5}, options, labels));
    for (const std::int32_t epoch : {0, 1}) {
        for (const std::int32_t first : {1, 3, 5}) {
            const auto loaded = loader.next();
            ASSERT_TRUE(loaded);
            const Batch& batch = loaded->cores[0];
            EXPECT_EQ(batch.features.shape(), (Shape{DType::i32, {2, 2}}));
            EXPECT_EQ(batch.labels.shape(), (Shape{DType::f32, {2, 3}}));
            EXPECT_EQ(batch.features.as<std::int32_t>()[0], first);
            EXPECT_EQ(batch.features.as<std::int32_t>()[1], epoch);
            EXPECT_EQ(batch.labels.as<float>()[5], first == 5 ? 0.0F : float(first + 1));
            EXPECT_EQ(loaded->step_labels, first == 5 ? 50 : 100) << "of both batches of a step";
        }
    }
    EXPECT_FALSE(loader.next());
}

TEST(Loader, stops_while_its_threads_wait_for_room) {
    const CountingDataset dataset(1000, feature_count);
    const auto samples = class_samples(dataset);
    for (int taken = 0; taken < 3; ++taken) {
        Loader loader(*samples, Sampler(counted(1000), {.batch_size_per_core = 2}),
                      {.threads = 4, .batches_ahead = 2});
        for (int i = 0; i < taken; ++i)
            EXPECT_TRUE(loader.next());
    }
}

TEST(Loader, goes_on_from_the_position_that_a_batch_names) {
    const CountingDataset dataset(64, feature_count);
    const auto samples = class_samples(dataset);
    const SamplerOptions options{.seed = 5, .batch_size_per_core = 4, .cores = 2, .epochs = 2};
    Loader first(*samples, Sampler(counted(64), options), {.threads = 2});
    for (int i = 0; i < 10; ++i)
        first.next();
    Sampler resumed(counted(64), options);
    resumed.seek(first.next()->next);
    Loader second(*samples, resumed, {.threads = 2});
    while (const auto wanted = first.next()) {
        const auto loaded = second.next();
        ASSERT_TRUE(loaded);
        EXPECT_EQ(loaded->position, wanted->position);
        const auto left = loaded->cores[1].features.as<float>();
        const auto right = wanted->cores[1].features.as<float>();
        EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
    }
    EXPECT_FALSE(second.next());
}

}    // namespace slipway
