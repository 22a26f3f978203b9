// Goal: folds of every method keep what the method promises, on any dataset.
// Method: properties counted here from the lists of samples, over many drawn datasets; and one
// fixed result, which no machine and no later version may change.

#include "executor/data/split/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "executor/tensor/random.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

using enum SplitMethod;

/// Classes and groups of very different sizes: number k is drawn as the least of two.
DatasetIndex uneven_index(std::int64_t samples, std::int32_t classes, std::int32_t groups,
                          std::uint64_t seed) {
    DatasetIndex index;
    index.feature_dims = {1};
    RandomStream random(seed, site_split, 77);
    const auto uneven = [&](std::int32_t below) {
        const auto draw = [&] { return std::int32_t(random.next_below(std::uint64_t(below))); };
        return std::min(draw(), draw());
    };
    for (std::int64_t i = 0; i < samples; ++i) {
        index.labels.push_back(i < classes ? std::int32_t(i) : uneven(classes));
        if (groups > 0) index.groups.push_back(i < groups ? std::int32_t(i) : uneven(groups));
    }
    for (std::int32_t c = 0; c < classes; ++c)
        index.class_names.push_back(std::to_string(c));
    for (std::int32_t g = 0; g < groups; ++g)
        index.group_names.push_back(std::to_string(g));
    return index;
}

/// [fold]: how many samples validate, by what `kind_of` says of each.
template <class KindOf>
std::vector<std::map<std::int32_t, std::int64_t>> validated(const Folds& folds,
                                                            const KindOf& kind_of) {
    std::vector<std::map<std::int32_t, std::int64_t>> counts;
    for (std::int64_t fold = 0; fold < folds.count; ++fold) {
        counts.emplace_back();
        for (const std::int64_t sample : split_of_fold(folds, fold).val)
            ++counts.back()[kind_of(std::size_t(sample))];
    }
    return counts;
}

/// The difference between the folds that have most and least of a kind.
std::int64_t spread(const std::vector<std::map<std::int32_t, std::int64_t>>& counts,
                    std::int32_t kind) {
    std::int64_t least = INT64_MAX, most = 0;
    for (const auto& fold : counts) {
        const auto found = fold.find(kind);
        const std::int64_t count = found == fold.end() ? 0 : found->second;
        least = std::min(least, count);
        most = std::max(most, count);
    }
    return most - least;
}

constexpr auto whole = [](std::size_t) { return 0; };

/// Train and validation together are every sample once; over the folds each validates `times`.
void expect_each_validates(const Folds& folds, std::int64_t samples, std::int64_t times) {
    std::vector<std::int64_t> validates(std::size_t(samples), 0);
    for (std::int64_t fold = 0; fold < folds.count; ++fold) {
        const Split split = split_of_fold(folds, fold);
        std::vector<std::int64_t> all = split.train;
        all.insert(all.end(), split.val.begin(), split.val.end());
        std::ranges::sort(all);
        ASSERT_EQ(std::int64_t(all.size()), samples);
        for (std::int64_t i = 0; i < samples; ++i)
            ASSERT_EQ(all[std::size_t(i)], i);
        for (const std::int64_t sample : split.val)
            ++validates[std::size_t(sample)];
    }
    for (const std::int64_t count : validates)
        ASSERT_EQ(count, times);
}

void expect_whole_groups(const DatasetIndex& index, const Folds& folds) {
    for (std::int64_t fold = 0; fold < folds.count; ++fold) {
        const Split split = split_of_fold(folds, fold);
        std::set<std::int32_t> trains;
        for (const std::int64_t sample : split.train)
            trains.insert(index.groups[std::size_t(sample)]);
        for (const std::int64_t sample : split.val)
            ASSERT_FALSE(trains.contains(index.groups[std::size_t(sample)]));
    }
}

ErrorCode refusal(const DatasetIndex& index, const SplitCreate& request) {
    return error_code_of([&] { draw_folds(index, request); });
}

}    // namespace

TEST(Folds, kfold_deals_each_sample_once_into_even_folds) {
    for (const std::int64_t samples : {2, 7, 100, 101}) {
        for (const std::int64_t count : {2, 3, 7}) {
            if (count > samples) continue;
            const Folds folds =
                draw_folds(uneven_index(samples, 2, 0, 1), {.method = kfold, .folds = count});
            expect_each_validates(folds, samples, 1);
            EXPECT_LE(spread(validated(folds, whole), 0), 1);
        }
    }
}

TEST(Folds, stratified_kfold_spreads_every_class_and_the_whole_within_one_sample) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const DatasetIndex index = uneven_index(203, 6, 0, seed);
        const Folds folds =
            draw_folds(index, {.method = stratified_kfold, .folds = 4, .seed = std::int64_t(seed)});
        expect_each_validates(folds, 203, 1);
        EXPECT_LE(spread(validated(folds, whole), 0), 1);
        const auto classes = validated(folds, [&](std::size_t i) { return index.labels[i]; });
        for (std::int32_t c = 0; c < 6; ++c)
            EXPECT_LE(spread(classes, c), 1) << "class " << c << " seed " << seed;
    }
}

// Each fold gets its last group while it is the smallest: no fold is larger than the smallest by
// more than a group.
TEST(Folds, group_kfold_keeps_groups_whole_and_folds_even_within_one_group) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        for (const std::int32_t groups : {5, 12, 60}) {
            const DatasetIndex index = uneven_index(400, 3, groups, seed);
            std::map<std::int32_t, std::int64_t> sizes;
            for (const std::int32_t group : index.groups)
                ++sizes[group];
            std::int64_t largest = 0;
            for (const auto& [group, size] : sizes)
                largest = std::max(largest, size);
            for (const SplitMethod method : {group_kfold, stratified_group_kfold}) {
                const Folds folds =
                    draw_folds(index, {.method = method, .folds = 5, .seed = std::int64_t(seed)});
                expect_each_validates(folds, 400, 1);
                expect_whole_groups(index, folds);
                if (method == group_kfold) {
                    EXPECT_LE(spread(validated(folds, whole), 0), largest);
                }
            }
        }
    }
}

// Groups of one class each: without a look at the classes a fold may get none of some.
TEST(Folds, stratified_group_kfold_spreads_classes_that_groups_hold_apart) {
    DatasetIndex index = uneven_index(0, 3, 30, 0);
    for (std::int32_t group = 0; group < 30; ++group) {
        for (int i = 0; i < 8; ++i) {
            index.labels.push_back(group % 3);
            index.groups.push_back(group);
        }
    }
    const Folds folds = draw_folds(index, {.method = stratified_group_kfold, .folds = 5});
    const auto classes = validated(folds, [&](std::size_t i) { return index.labels[i]; });
    for (const auto& fold : classes) {
        for (std::int32_t c = 0; c < 3; ++c)
            EXPECT_EQ(fold.at(c), 16);
    }
}

TEST(Folds, leave_one_group_out_validates_group_after_group) {
    const DatasetIndex index = uneven_index(100, 2, 9, 4);
    const Folds folds = draw_folds(index, {.method = leave_one_group_out});
    EXPECT_EQ(folds.count, 9);
    expect_each_validates(folds, 100, 1);
    for (std::int64_t fold = 0; fold < 9; ++fold) {
        for (const std::int64_t sample : split_of_fold(folds, fold).val)
            EXPECT_EQ(index.groups[std::size_t(sample)], fold);
    }
}

TEST(Folds, repeated_kfold_draws_anew_and_begins_with_the_single_one) {
    const DatasetIndex index = uneven_index(50, 2, 0, 1);
    const Folds folds =
        draw_folds(index, {.method = repeated_kfold, .folds = 5, .repeats = 3, .seed = 8});
    EXPECT_EQ(folds.count, 15);
    expect_each_validates(folds, 50, 3);
    const Folds single = draw_folds(index, {.method = kfold, .folds = 5, .seed = 8});
    EXPECT_EQ(folds.validates_in[0], single.validates_in[0]);
    EXPECT_NE(split_of_fold(folds, 0).val, split_of_fold(folds, 5).val);
}

// As scikit-learn's TimeSeriesSplit: 11 samples in 3 folds of 11 / 4.
TEST(Folds, time_series_trains_on_what_is_before) {
    const Folds folds = draw_folds(uneven_index(11, 2, 0, 1), {.method = time_series, .folds = 3});
    for (std::int64_t fold = 0; fold < 3; ++fold) {
        const Split split = split_of_fold(folds, fold);
        const std::int64_t begin = 5 + 2 * fold;
        EXPECT_EQ(split.val, (std::vector<std::int64_t>{begin, begin + 1}));
        ASSERT_EQ(std::int64_t(split.train.size()), begin);
        EXPECT_EQ(split.train.back(), begin - 1);
    }
}

TEST(Folds, fraction_is_the_split_that_a_job_draws_itself) {
    const DatasetIndex index = uneven_index(200, 3, 20, 5);
    for (const bool by_group : {false, true}) {
        const Folds folds = draw_folds(index, {.method = fraction,
                                               .val_fraction = 0.25,
                                               .group_by = by_group ? "who" : "",
                                               .seed = 6});
        EXPECT_EQ(folds.count, 1);
        EXPECT_EQ(
            split_of_fold(folds, 0).val,
            split_samples(index, {.val_fraction = 0.25, .seed = 6, .by_group = by_group}).val);
    }
}

TEST(Folds, are_decided_by_the_seed) {
    const DatasetIndex index = uneven_index(300, 3, 40, 2);
    for (const SplitMethod method :
         {fraction, kfold, stratified_kfold, group_kfold, stratified_group_kfold}) {
        const auto folds = [&](std::int64_t seed) {
            return draw_folds(index, {.method = method, .seed = seed}).validates_in;
        };
        EXPECT_EQ(folds(1), folds(1)) << to_string(method);
        EXPECT_NE(folds(1), folds(2)) << to_string(method);
    }
}

TEST(Folds, are_these_for_ever) {
    const DatasetIndex index = uneven_index(24, 3, 8, 3);
    const auto rows = [&](SplitMethod method) {
        return draw_folds(index, {.method = method, .folds = 3, .seed = 1}).validates_in[0];
    };
    EXPECT_EQ(rows(kfold), (std::vector<std::int32_t>{2, 2, 0, 2, 1, 1, 2, 1, 1, 1, 0, 2,
                                                      0, 0, 0, 0, 2, 2, 1, 0, 1, 0, 1, 2}));
    EXPECT_EQ(rows(stratified_kfold),
              (std::vector<std::int32_t>{2, 0, 1, 0, 2, 1, 0, 2, 2, 2, 0, 0,
                                         0, 2, 1, 1, 1, 1, 2, 0, 1, 0, 1, 2}));
    EXPECT_EQ(rows(group_kfold), (std::vector<std::int32_t>{0, 1, 0, 2, 1, 2, 2, 1, 2, 2, 2, 0,
                                                            2, 0, 1, 1, 1, 0, 1, 0, 2, 0, 0, 1}));
    EXPECT_EQ(rows(stratified_group_kfold),
              (std::vector<std::int32_t>{1, 0, 0, 2, 1, 2, 1, 0, 2, 2, 2, 1,
                                         2, 0, 1, 0, 1, 0, 1, 0, 2, 1, 0, 1}));
}

TEST(Folds, refuse_what_the_data_does_not_have) {
    using enum ErrorCode;
    const DatasetIndex plain = uneven_index(10, 2, 0, 1);
    for (const SplitMethod method : {group_kfold, stratified_group_kfold, leave_one_group_out})
        EXPECT_EQ(refusal(plain, {.method = method}), invalid_argument);
    EXPECT_EQ(refusal(plain, {.method = kfold, .folds = 11}), invalid_argument);
    EXPECT_EQ(refusal(plain, {.method = time_series, .folds = 10}), invalid_argument);
    EXPECT_EQ(refusal(uneven_index(0, 2, 0, 1), {.method = kfold}), invalid_argument);
    EXPECT_EQ(refusal(uneven_index(10, 2, 1, 1), {.method = leave_one_group_out}),
              invalid_argument);
    EXPECT_EQ(refusal(uneven_index(10, 2, 4, 1), {.method = group_kfold, .folds = 5}),
              invalid_argument);
    DatasetIndex numbers = plain;
    numbers.target_names = {"age"};
    numbers.class_names.clear();
    EXPECT_EQ(refusal(numbers, {.method = stratified_kfold}), invalid_argument);
    const Folds folds = draw_folds(plain, {.method = kfold, .folds = 2});
    for (const std::int64_t fold : {-1, 2})
        EXPECT_EQ(error_code_of([&] { split_of_fold(folds, fold); }), invalid_argument);
}

}    // namespace slipway
