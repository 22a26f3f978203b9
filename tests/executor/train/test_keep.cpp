#include "executor/train/keep.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace slipway {
namespace {

struct Row {
    const char* name;
    std::optional<double> metric;
    std::vector<std::string> kinds;
    std::vector<std::string> pruned;
};

void expect_path(const KeepRule& rule, const std::vector<Row>& rows) {
    KeptCheckpoints kept;
    for (const Row& row : rows) {
        const auto decision = keep(rule, kept, {row.name, 1, row.metric});
        EXPECT_EQ(decision.kinds, row.kinds) << row.name;
        EXPECT_EQ(decision.pruned, row.pruned) << row.name;
        kept = decision.kept;
        EXPECT_EQ(kept_from_json(to_json(kept)), kept);
    }
}

TEST(Keep, the_best_stays_and_the_oldest_last_goes) {
    expect_path({.metric = "val_loss", .smaller_is_better = true, .best = 1, .last = 2},
                {{"a", 0.5, {"last", "best"}, {}},
                 {"b", 0.7, {"last"}, {}},
                 {"c", 0.6, {"last"}, {}},    // a is still best
                 {"d", 0.4, {"last", "best"}, {"b", "a"}},
                 {"e", std::nullopt, {"last"}, {"c"}}});
}

TEST(Keep, larger_can_be_better) {
    expect_path({.metric = "val_accuracy", .smaller_is_better = false, .best = 1, .last = 1},
                {{"a", 0.5, {"last", "best"}, {}},
                 {"b", 0.9, {"last", "best"}, {"a"}},
                 {"c", 0.8, {"last"}, {}},
                 {"d", 0.7, {"last"}, {"c"}}});
}

TEST(Keep, of_equal_metrics_the_earlier_stays_best) {
    expect_path({.metric = "val_loss", .smaller_is_better = true, .best = 1, .last = 1},
                {{"a", 0.5, {"last", "best"}, {}}, {"b", 0.5, {"last"}, {}}});
}

TEST(Keep, what_is_not_a_number_is_never_best) {
    expect_path({.metric = "val_loss", .smaller_is_better = true, .best = 1, .last = 1},
                {{"a", std::nan(""), {"last"}, {}}, {"b", 0.5, {"last", "best"}, {"a"}}});
    // An infinite one would come back from a checkpoint as null, and be compared.
    for (const bool smaller : {true, false}) {
        expect_path({.metric = "val_r2", .smaller_is_better = smaller, .best = 2, .last = 1},
                    {{"a", INFINITY, {"last"}, {}},
                     {"b", -INFINITY, {"last"}, {"a"}},
                     {"c", 0.5, {"last", "best"}, {"b"}}});
    }
}

TEST(Keep, a_damaged_list_is_an_error) {
    EXPECT_THROW(kept_from_json(nlohmann::json::parse(R"({"last":[{"name":1}],"best":[]})")),
                 Error);
    EXPECT_THROW(kept_from_json(nlohmann::json::array()), Error);
}

}    // namespace
}    // namespace slipway
