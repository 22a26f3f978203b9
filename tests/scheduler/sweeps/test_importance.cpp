// Goal: importance is that of the objective over the whole space, whatever sampler drew the trials.
// Method: objectives whose variance is known in closed form.
#include "scheduler/sweeps/importance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "api/base/error.h"
#include "tests/scheduler/search/plans.h"

namespace slipway::sweeps {
namespace {

using search::Point;

constexpr const char* three_numbers = R"({"space": {
    "a": {"type": "uniform", "min": 0, "max": 1},
    "b": {"type": "uniform", "min": 0, "max": 1},
    "c": {"type": "uniform", "min": 0, "max": 1}}})";

using Objective = double (*)(const Point& point);

double number(const Point& point, const char* path) {
    return point.at(path).get<double>();
}

Importances importance_after(const char* space, const char* algorithm, std::uint64_t seed,
                             int trials, Objective objective) {
    search::SearchPlan plan = search::plan_of(algorithm, trials);
    plan.seed = seed;
    search::Search search(search::compiled_space(space), plan);
    for (int i = 0; i < trials; ++i) {
        const double value = objective(search::asked(search).point);
        search.on(search::ReportEvent{i, 1, value});
        search.on(search::EndEvent{i, false});
    }
    return importance_of(importance_inputs(search));
}

const Importance& of(const Importances& found, const char* path) {
    return *std::ranges::find(found.parameters, path, &Importance::path);
}

double pair_of(const Importances& found, const char* first, const char* second) {
    for (const PairImportance& one : found.pairs)
        if (one.first == first && one.second == second) return one.explained;
    return 0;
}

double bowl_in_a(const Point& point) {
    const double a = number(point, "a") - 0.3;
    return 4 * a * a + 0.05 * number(point, "b");
}

// Goal: tpe draws good trials in all parameters at once; what the objective does not contain is
// unimportant all the same. b has 0.07 % of the variance.
TEST(SweepImportance, what_the_objective_does_not_contain_is_unimportant_after_tpe) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Importances found =
            importance_after(three_numbers, R"({"name": "tpe"})", seed, 96, bowl_in_a);
        EXPECT_EQ(found.parameters.front().path, "a");
        EXPECT_GT(of(found, "a").explained, 0.8) << seed;
        EXPECT_LT(of(found, "b").explained, 0.05) << seed;
        EXPECT_LT(of(found, "c").explained, 0.05) << seed;
    }
}

// Goal: an effect that only a combination has is found. The pair has 97 %, c by itself 3 %.
TEST(SweepImportance, a_combination_is_found) {
    for (const std::uint64_t seed : {1, 2}) {
        const Importances found = importance_after(
            three_numbers, R"({"name": "random"})", seed, 96, [](const Point& point) {
                return 4 * (number(point, "a") - 0.5) * (number(point, "b") - 0.5) +
                       0.2 * number(point, "c");
            });
        EXPECT_GT(pair_of(found, "a", "b"), 0.25) << seed;
        EXPECT_GT(of(found, "a").total, 0.5) << seed;
        EXPECT_GT(of(found, "b").total, 0.5) << seed;
        EXPECT_LT(of(found, "c").total, 0.35) << seed;
        EXPECT_LT(of(found, "c").explained, 0.2) << seed;
    }
}

TEST(SweepImportance, parameters_that_some_trials_do_not_have) {
    const char* space = R"({"space": {
        "kind": {"type": "choice", "values": ["with", "without"]},
        "x": {"type": "uniform", "min": 0, "max": 1, "when": {"kind": "with"}},
        "y": {"type": "uniform", "min": 0, "max": 1, "when": {"kind": "without"}},
        "fixed": {"type": "constant", "value": 3}}})";
    const Importances found = importance_after(
        space, R"({"name": "random"})", 1, 120,
        [](const Point& point) { return point.contains("x") ? 4 + number(point, "x") : 0; });
    ASSERT_EQ(found.parameters.size(), 3U);
    EXPECT_EQ(found.parameters.front().path, "kind");
    EXPECT_GT(of(found, "kind").explained, 0.9);
    EXPECT_LT(of(found, "y").total, 0.02);
}

TEST(SweepImportance, is_the_same_again_and_a_diverged_trial_hides_nothing) {
    const auto diverging = [](const Point& point) {
        const double value = bowl_in_a(point);
        return number(point, "c") > 0.985 ? 1e300 : value;
    };
    const Importances found =
        importance_after(three_numbers, R"({"name": "random"})", 5, 100, diverging);
    const Importances again =
        importance_after(three_numbers, R"({"name": "random"})", 5, 100, diverging);
    EXPECT_GT(of(found, "a").explained, 0.6);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found.parameters[i].path, again.parameters[i].path);
        EXPECT_EQ(found.parameters[i].total, again.parameters[i].total);
        EXPECT_LE(found.parameters[i].total, 1);
    }
}

TEST(SweepImportance, equal_values_explain_nothing) {
    const Importances found = importance_after(three_numbers, R"({"name": "sobol"})", 1, 20,
                                               [](const Point&) { return 0.0; });
    for (const Importance& one : found.parameters)
        EXPECT_EQ(one.total, 0);
}

TEST(SweepImportance, ends_when_nobody_wants_it) {
    search::Search search(search::compiled_space(three_numbers),
                          search::plan_of(R"({"name": "random"})", 10));
    for (int i = 0; i < 10; ++i) {
        search::asked(search);
        search.on(search::ReportEvent{i, 1, double(i)});
    }
    int calls = 0;
    EXPECT_THROW(importance_of(importance_inputs(search),
                               [&] {
                                   if (++calls == 3) throw Error{ErrorCode::exhausted, "gone"};
                               }),
                 Error);
}

}    // namespace
}    // namespace slipway::sweeps
