#include "executor/train/area_under_curve.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "executor/tensor/random.h"

namespace slipway {
namespace {

std::optional<double> pair_by_pair(std::span<const float> scores, std::span<const bool> there) {
    double won = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (!there[i] || there[j]) continue;
            won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
            pairs += 1;
        }
    }
    if (pairs == 0) return std::nullopt;
    return won / pairs;
}

// Goal: ranks say what counting the pairs says, with ties and without, few samples and many.
TEST(AreaUnderCurve, is_the_share_of_pairs_in_order) {
    RandomStream random(7, site_augment, 0);
    for (const std::size_t count : {0, 1, 2, 3, 10, 100, 1001}) {
        for (const std::uint64_t distinct : {1, 3, 1000000}) {
            std::vector<float> scores(count);
            const auto there = std::make_unique<bool[]>(count);
            for (std::size_t i = 0; i < count; ++i) {
                scores[i] = float(random.next_below(distinct)) - 2;
                there[i] = random.next_below(3) == 0;
            }
            const std::span<const bool> having(there.get(), count);
            const auto wanted = pair_by_pair(scores, having);
            const auto found = area_under_curve(scores, having);
            ASSERT_EQ(found.has_value(), wanted.has_value()) << count << " " << distinct;
            if (wanted) {
                EXPECT_NEAR(*found, *wanted, 1e-12) << count << " " << distinct;
            }
        }
    }
}

TEST(AreaUnderCurve, is_what_numpy_counts) {
    const auto reference = nlohmann::json::parse(
        std::ifstream(SLIPWAY_SOURCE_DIR "/tests/executor/nn/reference/metrics.json"));
    const auto labels = reference["label_count"].get<std::size_t>();
    const auto samples = reference["samples"].get<std::size_t>();
    const auto& set = reference["multilabel"];
    for (std::size_t label = 0; label < labels; ++label) {
        std::vector<float> scores(samples);
        const auto there = std::make_unique<bool[]>(samples);
        for (std::size_t i = 0; i < samples; ++i) {
            scores[i] = set["logits"][i * labels + label].get<float>();
            there[i] = set["targets"][i * labels + label].get<float>() >= 0.5F;
        }
        const auto found = area_under_curve(scores, {there.get(), samples});
        const auto& wanted = set["auc"][label];
        ASSERT_EQ(found.has_value(), !wanted.is_null()) << label;
        if (found) EXPECT_NEAR(*found, wanted.get<double>(), 1e-12);
    }
}

TEST(AreaUnderCurve, of_scores_that_are_no_numbers_there_is_none) {
    constexpr std::array there{true, false};
    const std::array scores{std::numeric_limits<float>::quiet_NaN(), 1.0F};
    EXPECT_FALSE(area_under_curve(scores, there));
    const float far = std::numeric_limits<float>::infinity();
    EXPECT_EQ(area_under_curve(std::array{far, -far}, there), 1.0);
}

}    // namespace
}    // namespace slipway
