// Goal: what none of the trials could be is refused when the sweep is created, with its place and
// what is allowed.
// Method: each wrong body differs from a right one in one place.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "scheduler/sweeps/value_checkpoint.h"
#include "tests/scheduler/sweeps/samples.h"

namespace slipway::sweeps {

namespace {

std::vector<Problem> problems_of(const Json& body) {
    Decoded<SweepSpec> decoded = decode_sweep(body);
    return decoded.ok() ? check_sweep(decoded.value) : decoded.problems;
}

TEST(SweepPlan, every_wrong_body_is_refused_at_its_place) {
    std::ifstream stream(std::string(SLIPWAY_SOURCE_DIR) + "/api/examples/invalid_sweeps.json");
    const Json file = Json::parse(stream);
    EXPECT_TRUE(problems_of(file.at("base")).empty())
        << joined_messages(problems_of(file.at("base")));
    EXPECT_GE(file.at("cases").size(), 60U);
    for (const Json& one : file.at("cases")) {
        Json body = file.at("base");
        body.merge_patch(one.at("patch"));
        const auto problems = problems_of(body);
        for (const Json& expected : one.at("problems")) {
            const bool is_there = std::ranges::any_of(problems, [&](const Problem& problem) {
                return problem.pointer == expected.at("pointer").get<std::string>() &&
                       problem.code == expected.at("code").get<std::string>() &&
                       problem.message.find(expected.value("says", "")) != std::string::npos;
            });
            std::string found;
            for (const Problem& problem : problems)
                found += problem.pointer + " " + problem.code + ": " + problem.message + "\n";
            EXPECT_TRUE(is_there) << one.at("case").dump() << ", but got:\n" << found;
        }
    }
}

// Goal: what would take long for each of thousands of points, or much memory for each trial, is
// refused with the field and what to do.
TEST(SweepPlan, what_costs_too_much_is_refused) {
    const auto message = [](const Json& changes) {
        const auto problems = problems_of(sweep_body(changes));
        return problems.empty() ? "" : problems[0].pointer + " " + problems[0].message;
    };
    std::string sum = "train.optimizer.lr";
    while (sum.size() < 960)
        sum += "+train.optimizer.lr";
    EXPECT_EQ(message({{"constraints", std::vector<std::string>(16, sum + " > 0")}}), "");
    EXPECT_THAT(message({{"constraints", std::vector<std::string>(60, sum + " > 0")}}),
                ::testing::StartsWith("/constraints the names, values and operators of all "
                                      "constraints and the values of all `when` must be at most "
                                      "2000, got "));
    const Json texts{{"type", "choice"}, {"values", {"adam", std::string(1001, 'x')}}};
    EXPECT_EQ(message({{"space", {{"train.optimizer.name", texts}}}}),
              "/space/train.optimizer.name/values/1 space.train.optimizer.name.values[1] must have "
              "at most 1000 characters, got 1001; use a short name and look the text up by it");
    std::vector<int> many;
    for (int i = 0; i < 9900; ++i)
        many.push_back(i);
    const Json numbers{{"type", "choice"}, {"values", many}};
    EXPECT_THAT(message({{"space", {{"train.seed", numbers}, {"model.seed", numbers}}}}),
                ::testing::StartsWith("/space"));
}

TEST(SweepPlan, a_grid_says_how_many_trials_there_are) {
    const Json grid{{"space",
                     {{"train.optimizer.lr",
                       {{"type", "log_uniform"}, {"min", 0.001}, {"max", 0.1}, {"count", 3}}},
                      {"model.width", {{"type", "choice"}, {"values", {8, 16}}}}}},
                    {"algorithm", {{"name", "grid"}}},
                    {"limits", {{"max_trials", nullptr}}}};
    EXPECT_EQ(sweep_spec(grid).limits.max_trials, 6);
}

TEST(SweepPlan, the_algorithm_says_how_long_a_trial_trains) {
    const SweepSpec spec =
        sweep_spec({{"algorithm", {{"name", "asha"}, {"max_time", 9}, {"time_attr", "step"}}}});
    const Json job = trial_spec(spec, {{"train.optimizer.lr", 0.5}}, 3).value();
    EXPECT_EQ(job["train"]["steps"], 3);
    EXPECT_FALSE(job["train"].contains("epochs"));
    EXPECT_EQ(job["train"]["optimizer"]["lr"], 0.5);
    EXPECT_EQ(job["project"], "default");
}

TEST(SweepPlan, the_best_checkpoint_of_a_trial_is_that_of_the_objective) {
    const auto best_of = [](const Json& changes) {
        return trial_spec(sweep_spec(changes), {{"train.optimizer.lr", 0.5}}, 0)
            .value()["checkpoint"]["best"];
    };
    EXPECT_EQ(best_of({{"objective", {{"metric", "val_accuracy"}}}}),
              Json({{"metric", "val_accuracy"}, {"mode", "max"}}));
    EXPECT_EQ(best_of({{"objective", {{"mode", "max"}}}}),
              Json({{"metric", "val_loss"}, {"mode", "max"}}));
    const Json none{{"checkpoint", {{"best", {{"keep", 0}}}}}};
    EXPECT_EQ(best_of({{"job", none}})["keep"], 1);
    EXPECT_EQ(best_of({{"job", none}, {"objective", {{"value", "last"}}}})["keep"], 0);
    EXPECT_EQ(best_of({{"job", {{"checkpoint", {{"best", {{"keep", 3}}}}}}}})["keep"], 3);
    const Json stops{{"early_stopping", {{"metric", "val_accuracy"}, {"patience", 2}}}};
    EXPECT_EQ(best_of(fold_changes({{"cross_validation", {{"job", {{"train", stops}}}}}})),
              Json({{"metric", "val_accuracy"}, {"mode", "max"}}))
        << "a fold that stops early is judged by its best evaluation";
}

TEST(SweepPlan, weights_have_a_value_by_their_time_and_their_metric) {
    const SweepSpec by_epoch = sweep_spec();
    const auto has = [](const SweepSpec& spec, TrialValue of, store::SavedMeasurement saved) {
        return has_value(spec, of, saved);
    };
    const store::SavedMeasurement saved{
        .step = 40, .epoch = 4, .metric_name = "val_loss", .metric_value = 0.5};
    EXPECT_TRUE(has(by_epoch, {4, 0.5}, saved));
    EXPECT_FALSE(has(by_epoch, {5, 0.5}, saved));
    EXPECT_FALSE(has(by_epoch, {4, 0.25}, saved)) << "measured by another attempt";
    EXPECT_FALSE(has(by_epoch, {4, 0.5}, {.step = 43, .epoch = 4})) << "amid an epoch";
    EXPECT_TRUE(has(by_epoch, {4, 0.5},
                    {.step = 40, .epoch = 4, .metric_name = "val_accuracy", .metric_value = 0.9}))
        << "of a sweep before its objective chose the metric";
    const SweepSpec by_step =
        sweep_spec({{"algorithm", {{"name", "asha"}, {"max_time", 90}, {"time_attr", "step"}}}});
    EXPECT_TRUE(has(by_step, {40, 0.5}, saved));
    EXPECT_FALSE(has(by_step, {4, 0.5}, saved));
    const SweepSpec within =
        sweep_spec({{"job", {{"train", {{"steps", 43}, {"epochs", nullptr}}}}}});
    EXPECT_TRUE(has(within, {5, 0.5}, saved)) << "the last evaluation, amid the fifth epoch";
}

TEST(SweepPlan, running_trials_are_judged_by_some_algorithms_and_by_a_target) {
    const auto judges = [](const Json& patch) { return judges_running_trials(sweep_spec(patch)); };
    for (const char* name : {"random", "sobol", "tpe"})
        EXPECT_FALSE(judges({{"algorithm", {{"name", name}}}})) << name;
    for (const char* name : {"asha", "hyperband"})
        EXPECT_TRUE(judges({{"algorithm", {{"name", name}, {"max_time", 9}}}})) << name;
    EXPECT_TRUE(judges({{"algorithm", {{"name", "median_stop"}}}}));
    EXPECT_TRUE(judges({{"algorithm", {{"name", "random"}}}, {"limits", {{"target", 0.5}}}}));
}

TEST(SweepPlan, a_sweep_comes_back_from_its_normal_form) {
    const SweepSpec spec = sweep_spec(
        {{"labels", {{"a", "b"}}}, {"warm_start", {{"points", {{{"train.optimizer.lr", 0.01}}}}}}});
    const auto again = decode_sweep(encode(spec));
    ASSERT_TRUE(again.ok()) << joined_messages(again.problems);
    EXPECT_EQ(again.value, spec);
}

}    // namespace

}    // namespace slipway::sweeps
