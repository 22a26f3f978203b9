#include "executor/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

std::vector<std::int64_t> counted(std::int64_t count, std::int64_t first = 0) {
    std::vector<std::int64_t> list(std::size_t(count), 0);
    std::iota(list.begin(), list.end(), first);
    return list;
}

std::vector<GlobalBatch> epoch_of(Sampler& sampler, std::int64_t epoch) {
    std::vector<GlobalBatch> batches;
    while (sampler.position().epoch == epoch)
        batches.push_back(sampler.next().value());
    return batches;
}

}    // namespace

// Goal: exact evaluation whatever the cores.
// Method: every combination of cores, batch and size that has a different kind of last batch.
TEST(Sampler, evaluation_sees_every_sample_exactly_once) {
    for (const std::int64_t cores : {1, 8})
        for (const std::int64_t batch : {1, 7, 32})
            for (const std::int64_t size : {1, 7, 100, 1001}) {
                Sampler sampler = evaluation_sampler(counted(size, 5), batch, cores);
                std::map<std::int64_t, int> seen;
                std::int64_t counted_samples = 0, batches = 0;
                while (const auto global = sampler.next()) {
                    ASSERT_EQ(std::int64_t(global->samples.size()), cores * batch);
                    for (const std::int64_t sample : global->samples) {
                        if (sample != GlobalBatch::padding) ++seen[sample];
                    }
                    counted_samples += global->sample_count();
                    ++batches;
                }
                EXPECT_EQ(std::int64_t(seen.size()), size);
                EXPECT_EQ(seen.begin()->first, 5);
                EXPECT_TRUE(std::all_of(seen.begin(), seen.end(),
                                        [](const auto& entry) { return entry.second == 1; }));
                EXPECT_EQ(counted_samples, size);
                EXPECT_EQ(batches, (size + cores * batch - 1) / (cores * batch));
            }
}

TEST(Sampler, one_core_with_eight_times_the_batch_sees_the_same_global_batches) {
    for (const std::int64_t batch : {1, 3, 16}) {
        Sampler one(counted(401), {.seed = 9, .batch_size_per_core = 8 * batch, .cores = 1});
        Sampler eight(counted(401), {.seed = 9, .batch_size_per_core = batch, .cores = 8});
        for (int step = 0; step < 300; ++step) {
            EXPECT_EQ(one.next()->samples, eight.next()->samples);
        }
    }
}

TEST(Sampler, training_draws_each_sample_at_most_once_an_epoch_and_reshuffles) {
    Sampler sampler(counted(100), {.seed = 1, .batch_size_per_core = 4, .cores = 8});
    std::vector<std::vector<std::int64_t>> orders;
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
        std::vector<std::int64_t> order;
        for (const GlobalBatch& batch : epoch_of(sampler, epoch)) {
            EXPECT_EQ(batch.sample_count(), 32);
            order.insert(order.end(), batch.samples.begin(), batch.samples.end());
        }
        EXPECT_EQ(order.size(), 96U);    // the last 4 are left out
        EXPECT_EQ(std::set(order.begin(), order.end()).size(), 96U);
        orders.push_back(order);
    }
    EXPECT_NE(orders[0], orders[1]);
    EXPECT_NE(orders[1], orders[2]);
}

TEST(Sampler, keeping_the_last_batch_pads_it_with_weightless_places) {
    Sampler sampler(counted(10), {.batch_size_per_core = 4, .cores = 1, .drop_last = false});
    const std::vector<GlobalBatch> batches = epoch_of(sampler, 0);
    ASSERT_EQ(batches.size(), 3U);
    EXPECT_EQ(batches[2].sample_count(), 2);
    EXPECT_EQ(batches[2].samples[2], GlobalBatch::padding);
}

TEST(Sampler, a_sampler_put_to_a_position_goes_on_as_an_undisturbed_one) {
    const SamplerOptions options{.seed = 4, .batch_size_per_core = 3, .cores = 2, .epochs = 4};
    Sampler undisturbed(counted(50), options);
    std::vector<GlobalBatch> all;
    while (auto batch = undisturbed.next())
        all.push_back(*batch);
    EXPECT_EQ(all.size(), 4U * 8U);
    for (std::size_t stop = 0; stop < all.size(); ++stop) {
        Sampler resumed(counted(50), options);
        resumed.seek(all[stop].next);
        for (std::size_t i = stop + 1; i < all.size(); ++i) {
            ASSERT_EQ(resumed.next()->samples, all[i].samples);
        }
        EXPECT_FALSE(resumed.next());
    }
}

TEST(Sampler, a_copy_goes_its_own_way) {
    const SamplerOptions options{.seed = 4, .batch_size_per_core = 3, .epochs = 3};
    Sampler first(counted(20), options);
    first.next();
    Sampler copy = first;
    while (copy.next()) {
    }
    Sampler undisturbed(counted(20), options);
    undisturbed.next();
    while (const auto expected = undisturbed.next()) {
        const auto batch = first.next();
        ASSERT_TRUE(batch);
        EXPECT_EQ(batch->samples, expected->samples);
    }
    EXPECT_FALSE(first.next());
}

TEST(Sampler, a_limit_on_steps_shortens_the_epoch) {
    Sampler sampler(counted(100), {.batch_size_per_core = 10, .steps_per_epoch = 3});
    EXPECT_EQ(sampler.steps_per_epoch(), 3);
    EXPECT_EQ(epoch_of(sampler, 0).size(), 3U);
    Sampler pairs(counted(100),
                  {.batch_size_per_core = 10, .batches_per_step = 2, .steps_per_epoch = 3});
    EXPECT_EQ(pairs.batches_per_epoch(), 6);
    EXPECT_EQ(epoch_of(pairs, 0).size(), 6U);
}

// Goal: N batches of B are the samples of one batch of N B, at an epoch's end too.
// Method: both samplers side by side, for every kind of last step.
TEST(Sampler, the_batches_of_a_step_are_one_large_batch) {
    constexpr std::int64_t parts = 4;
    for (const bool drop_last : {true, false})
        for (const std::int64_t cores : {1, 8})
            for (const std::int64_t size : {64, 65, 71, 72, 96, 127, 130}) {
                Sampler large(counted(size), {.seed = 3,
                                              .batch_size_per_core = parts * 2,
                                              .cores = cores,
                                              .drop_last = drop_last,
                                              .epochs = 2});
                Sampler small(counted(size), {.seed = 3,
                                              .batch_size_per_core = 2,
                                              .cores = cores,
                                              .batches_per_step = parts,
                                              .drop_last = drop_last,
                                              .epochs = 2});
                EXPECT_EQ(small.steps_per_epoch(), large.steps_per_epoch());
                while (const auto whole = large.next()) {
                    std::vector<std::int64_t> samples;
                    std::optional<GlobalBatch> part;
                    do {
                        part = small.next();
                        ASSERT_TRUE(part);
                        EXPECT_GT(part->sample_count(), 0);
                        EXPECT_EQ(part->step_samples, whole->sample_count());
                        samples.insert(samples.end(), part->samples.begin(), part->samples.end());
                    } while (!part->ends_step);
                    samples.resize(whole->samples.size(), GlobalBatch::padding);
                    EXPECT_EQ(samples, whole->samples);
                    EXPECT_EQ(part->next.epoch, whole->next.epoch);
                }
                EXPECT_FALSE(small.next());
            }
}

TEST(Sampler, without_shuffling_the_listed_order_stays) {
    Sampler sampler(counted(6, 10), {.batch_size_per_core = 3, .shuffle = false});
    EXPECT_EQ(sampler.next()->samples, (std::vector<std::int64_t>{10, 11, 12}));
    EXPECT_EQ(sampler.next()->samples, (std::vector<std::int64_t>{13, 14, 15}));
    EXPECT_EQ(sampler.next()->samples, (std::vector<std::int64_t>{10, 11, 12}));
}

TEST(Sampler, refuses_sizes_that_leave_nothing_to_do) {
    const auto code = [](std::int64_t count, const SamplerOptions& options) {
        return error_code_of([&] { Sampler(counted(count), options); });
    };
    EXPECT_EQ(code(0, {}), ErrorCode::invalid_argument);
    EXPECT_EQ(code(10, {.batch_size_per_core = 0}), ErrorCode::invalid_argument);
    EXPECT_EQ(code(10, {.cores = 0}), ErrorCode::invalid_argument);
    EXPECT_EQ(code(100, {.batch_size_per_core = 32, .cores = 8}), ErrorCode::invalid_argument);
    EXPECT_EQ(code(10, {.batch_size_per_core = 1, .epochs = -1}), ErrorCode::invalid_argument);
    EXPECT_EQ(code(10, {.batch_size_per_core = 1, .steps_per_epoch = -1}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code(10, {.batch_size_per_core = 1, .batches_per_step = 0}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code(10, {.batch_size_per_core = 2, .batches_per_step = 6}),
              ErrorCode::invalid_argument);
}

// A job of one core computes its batch in eight parts, which it knows nothing of.
TEST(Sampler, says_what_would_fit_in_the_numbers_of_the_job) {
    try {
        Sampler(counted(18), {.batch_size_per_core = 3, .cores = 8, .named_cores = 1});
        ADD_FAILURE() << "18 samples were enough for a batch of 24";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "one step takes 24 samples (1 cores x batch_size_per_core 24) and there are "
                     "18; use a batch_size_per_core of at most 18, or drop_last false");
    }
}

TEST(Sampler, says_which_accumulation_would_fit) {
    try {
        Sampler(counted(10), {.batch_size_per_core = 2, .batches_per_step = 6});
        ADD_FAILURE() << "10 samples were enough for 6 batches of 2";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("a grad_accumulation of at most 5"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Sampler, refuses_a_position_it_cannot_have) {
    Sampler sampler(counted(20), {.batch_size_per_core = 5, .epochs = 2});
    for (const SamplerPosition position :
         {SamplerPosition{-1, 0}, SamplerPosition{0, 4}, SamplerPosition{0, -1},
          SamplerPosition{2, 1}, SamplerPosition{3, 0}}) {
        EXPECT_EQ(error_code_of([&] { sampler.seek(position); }), ErrorCode::data_loss);
    }
    sampler.seek({2, 0});
    EXPECT_FALSE(sampler.next());
    Sampler pairs(counted(20), {.batch_size_per_core = 5, .batches_per_step = 2});
    EXPECT_EQ(error_code_of([&] { pairs.seek({0, 1}); }), ErrorCode::data_loss);
    pairs.seek({0, 2});
    EXPECT_TRUE(pairs.next()->samples.size() == 5);
}

}    // namespace slipway
