#include "executor/data/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/tensor/random.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

/// `classes` classes in turn; group g holds the samples whose number modulo `groups` is g.
DatasetIndex index_of(std::int64_t samples, std::int32_t classes, std::int32_t groups) {
    DatasetIndex index;
    index.feature_dims = {1};
    for (std::int32_t c = 0; c < classes; ++c)
        index.class_names.push_back(std::to_string(c));
    for (std::int32_t g = 0; g < groups; ++g)
        index.group_names.push_back(std::to_string(g));
    RandomStream random(11, site_split, 99);
    for (std::int64_t i = 0; i < samples; ++i) {
        index.labels.push_back(std::int32_t(i % classes));
        if (groups > 0) {
            index.groups.push_back(std::int32_t(random.next_below(std::uint64_t(groups))));
        }
    }
    return index;
}

void expect_partition(const DatasetIndex& index, const Split& split) {
    std::vector<std::int64_t> all = split.train;
    all.insert(all.end(), split.val.begin(), split.val.end());
    EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
    EXPECT_TRUE(std::is_sorted(split.val.begin(), split.val.end()));
    std::sort(all.begin(), all.end());
    ASSERT_EQ(std::int64_t(all.size()), index.sample_count());
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(all[i], std::int64_t(i));
}

}    // namespace

TEST(Split, divides_every_sample_once_and_by_the_fraction) {
    const DatasetIndex index = index_of(1001, 10, 0);
    for (const double fraction : {0.1, 0.2, 0.5, 0.9}) {
        const Split split = split_samples(index, {.val_fraction = fraction, .seed = 3});
        expect_partition(index, split);
        EXPECT_EQ(std::int64_t(split.val.size()), std::llround(1001 * fraction));
    }
}

TEST(Split, is_decided_by_the_seed) {
    const DatasetIndex index = index_of(200, 2, 0);
    const Split split = split_samples(index, {.val_fraction = 0.3, .seed = 1});
    EXPECT_EQ(split.val, split_samples(index, {.val_fraction = 0.3, .seed = 1}).val);
    EXPECT_NE(split.val, split_samples(index, {.val_fraction = 0.3, .seed = 2}).val);
}

TEST(Split, without_validation_everything_trains) {
    const Split split = split_samples(index_of(9, 3, 0), {.val_fraction = 0});
    EXPECT_EQ(split.train.size(), 9U);
    EXPECT_TRUE(split.val.empty());
}

TEST(Split, stratified_keeps_each_class_in_proportion) {
    DatasetIndex index = index_of(900, 3, 0);
    for (int i = 0; i < 100; ++i)
        index.labels.push_back(2);    // classes of 300, 300 and 400
    const Split split = split_samples(index, {.val_fraction = 0.25, .stratified = true});
    expect_partition(index, split);
    EXPECT_EQ(count_split(index, split).val_classes, (std::vector<std::int64_t>{75, 75, 100}));
}

TEST(Split, by_group_no_group_is_on_both_sides) {
    for (const std::int32_t groups : {2, 3, 10, 75}) {
        const DatasetIndex index = index_of(2000, 4, groups);
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            for (const bool stratified : {false, true}) {
                const Split split = split_samples(index, {.val_fraction = 0.2,
                                                          .seed = seed,
                                                          .by_group = true,
                                                          .stratified = stratified});
                expect_partition(index, split);
                const SplitCounts counts = count_split(index, split);
                EXPECT_EQ(counts.shared_groups, 0);
                EXPECT_EQ(counts.train_groups + counts.val_groups, groups);
                EXPECT_GE(counts.val_groups, 1);
                EXPECT_GE(counts.train_groups, 1);
                if (groups >= 10) {
                    EXPECT_NEAR(double(counts.val) / 2000, 0.2, 0.06);
                }
            }
        }
    }
}

TEST(Split, by_group_chooses_other_groups_with_another_seed) {
    const DatasetIndex index = index_of(2000, 4, 40);
    const auto val = [&](std::uint64_t seed) {
        return split_samples(index, {.val_fraction = 0.2, .seed = seed, .by_group = true}).val;
    };
    EXPECT_EQ(val(0), val(0));
    EXPECT_NE(val(0), val(1));
}

TEST(Split, a_random_split_of_groups_shows_the_leak_in_its_counts) {
    const DatasetIndex index = index_of(1000, 2, 10);
    const SplitCounts counts = count_split(index, split_samples(index, {.val_fraction = 0.2}));
    EXPECT_EQ(counts.shared_groups, 10);
    EXPECT_EQ(counts.shared_samples, 0);
}

TEST(Split, named_parts_are_taken_as_they_are) {
    DatasetIndex index = index_of(6, 2, 0);
    index.part_names = {"train", "val"};
    index.parts = {0, 0, 1, 0, 1, 0};
    const Split split = split_by_parts(index, "train", "val");
    EXPECT_EQ(split.train, (std::vector<std::int64_t>{0, 1, 3, 5}));
    EXPECT_EQ(split.val, (std::vector<std::int64_t>{2, 4}));
    EXPECT_TRUE(split_by_parts(index, "train", "").val.empty());
    for (const auto& [train, val] :
         {std::pair("train", "test"), std::pair("all", "val"), std::pair("val", "val")}) {
        EXPECT_EQ(error_code_of([&] { split_by_parts(index, train, val); }),
                  ErrorCode::invalid_argument);
    }
}

TEST(Split, refuses_what_leaves_a_side_empty_or_has_no_groups) {
    const auto code = [](const DatasetIndex& index, const SplitOptions& options) {
        return error_code_of([&] { split_samples(index, options); });
    };
    using enum ErrorCode;
    EXPECT_EQ(code(index_of(10, 2, 0), {.val_fraction = 1.0}), invalid_argument);
    EXPECT_EQ(code(index_of(10, 2, 0), {.val_fraction = -0.1}), invalid_argument);
    EXPECT_EQ(code(index_of(10, 2, 0), {.val_fraction = std::nan("")}), invalid_argument);
    EXPECT_EQ(code(index_of(0, 2, 0), {}), invalid_argument);
    EXPECT_EQ(code(index_of(3, 2, 0), {.val_fraction = 0.1}), invalid_argument);
    EXPECT_EQ(code(index_of(3, 2, 0), {.val_fraction = 0.99}), invalid_argument);
    EXPECT_EQ(code(index_of(10, 2, 0), {.by_group = true}), invalid_argument);
    EXPECT_EQ(code(index_of(10, 2, 1), {.by_group = true}), invalid_argument);
}

}    // namespace slipway
