#include "scheduler/submission/continued_spec.h"

#include <gtest/gtest.h>

#include "api/base/parsed_json.h"

#include "api/spec/documents.h"

namespace slipway::submission {
namespace {

JobSpec spec(const Json& changes = Json::object()) {
    Json body{{"model", {{"arch", "mlp"}}},
              {"task", {{"type", "classification"}}},
              {"data", {{"dataset", "points"}}},
              {"train", {{"epochs", 2}, {"optimizer", {{"name", "adam"}, {"lr", 0.1}}}}}};
    body.merge_patch(changes);
    const auto decoded = decode_job_spec(body);
    EXPECT_TRUE(decoded.ok()) << joined_messages(decoded.problems);
    return decoded.value;
}

// Pointers of what may not change.
std::vector<std::string> refused(const Json& changes, const Json& before = Json::object()) {
    std::vector<std::string> pointers;
    for (const Problem& one : check_continued(spec(before), spec(changes)))
        pointers.push_back(one.pointer);
    return pointers;
}

using Pointers = std::vector<std::string>;

TEST(ContinuedSpec, how_long_and_how_fast_may_change) {
    for (const Json& train :
         {Json{{"epochs", 9}}, Json{{"epochs", nullptr}, {"steps", 500}},
          Json{{"optimizer", {{"lr", 0.01}, {"weight_decay", 0.1}, {"clip_norm", 1.0}}}},
          Json{{"schedule", {{"name", "cosine"}, {"warmup_steps", 3}}}},
          Json{{"early_stopping", {{"patience", 3}}}}})
        EXPECT_EQ(refused({{"train", train}}), Pointers{}) << train;
    EXPECT_EQ(refused({{"name", "b"}, {"labels", {{"a", "b"}}}, {"limits", {{"max_wall_s", 9}}}}),
              Pointers{});
    EXPECT_EQ(refused({{"accelerator", {{"core_ids", {5}}}}}), Pointers{});
    Json slice{{"accelerator", {{"slice", {{"cores", 16}}}}}};
    const Json before = slice;
    slice["accelerator"]["slice"]["gradient_exchange"] = "bf16";
    EXPECT_EQ(refused(slice, before), Pointers{});
}

TEST(ContinuedSpec, the_network_the_batch_and_the_order_of_the_data_may_not) {
    EXPECT_EQ(refused({{"model", {{"width", 7}}}}), Pointers{"/model/width"});
    const Json imported{{"model", {{"arch", "imported"}, {"from", "upl_1"}}}};
    EXPECT_EQ(refused({{"model", {{"arch", "imported"}, {"from", "upl_2"}}}}, imported),
              Pointers{"/model/from"});
    EXPECT_EQ(refused({{"accelerator", {{"cores", 8}}}}), Pointers{"/accelerator/cores"});
    EXPECT_EQ(refused({{"train", {{"batch_size_per_core", 4}}}}),
              Pointers{"/train/batch_size_per_core"});
    EXPECT_EQ(refused({{"train", {{"seed", 4}}}}), Pointers{"/train/seed"});
    EXPECT_EQ(refused({{"data", {{"split", {{"seed", 3}}}}}}), Pointers{"/data/split/seed"});
    const Pointers optimizer =
        refused({{"train", {{"optimizer", {{"name", "sgd"}, {"lr", 0.1}}}}}});
    EXPECT_TRUE(std::ranges::count(optimizer, "/train/optimizer/name") == 1);
}

TEST(ContinuedSpec, a_rule_that_counts_keeps_its_metric) {
    const Json stops{{"train", {{"early_stopping", {{"patience", 3}}}}}};
    Json other = stops;
    other["train"]["early_stopping"]["metric"] = "val_accuracy";
    const Pointers pointers = refused(other, stops);
    EXPECT_TRUE(std::ranges::count(pointers, "/train/early_stopping/metric") == 1);
    Json patient = stops;
    patient["train"]["early_stopping"]["patience"] = 9;
    EXPECT_EQ(refused(patient, stops), Pointers{});
    EXPECT_EQ(refused(Json::object(), stops), Pointers{}) << "it may go";
}

TEST(ContinuedSpec, a_problem_says_what_to_do) {
    const auto problems = check_continued(spec(), spec({{"train", {{"seed", 4}}}}));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].message,
              "train.seed must stay 0 to continue from a checkpoint, got 4; keep it, or set start "
              "to weights or scratch");
}

}    // namespace
}    // namespace slipway::submission
