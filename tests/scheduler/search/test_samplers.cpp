#include <algorithm>
#include <cmath>
#include <set>

#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

TEST(Samplers, grid_gives_each_point_once_and_ends) {
    const char* space = R"({"space": {"a": {"type": "choice", "values": ["x", "y"]},
                                      "b": {"type": "int_uniform", "min": 1, "max": 2}}})";
    Search search(compiled_space(space), plan_of(R"({"name": "grid"})", 100));
    std::string points;
    for (int i = 0; i < 4; ++i)
        points += Json(asked(search).point).dump();
    EXPECT_EQ(points, R"({"a":"x","b":1}{"a":"x","b":2}{"a":"y","b":1}{"a":"y","b":2})");
    EXPECT_EQ(asked(search).action, Action::wait);
    for (int i = 0; i < 4; ++i)
        search.on(EndEvent{i, false});
    const Decision last = asked(search);
    EXPECT_EQ(last.action, Action::finish);
    EXPECT_EQ(search.trials().size(), 4u);
}

TEST(Samplers, points_depend_on_the_number_of_the_trial_alone) {
    Search one(compiled_space(one_number), plan_of(R"({"name": "random"})", 100));
    Search other(compiled_space(one_number), plan_of(R"({"name": "random"})", 100));
    std::vector<Point> in_a_row;
    for (int i = 0; i < 20; ++i)
        in_a_row.push_back(asked(one).point);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(asked(other).point, in_a_row[std::size_t(i)]);
        other.on(EndEvent{i, i % 2 == 0});
    }
}

TEST(Samplers, every_sampler_keeps_the_constraints) {
    const char* space = R"({"space": {"a": {"type": "uniform", "min": 0, "max": 1},
                                      "b": {"type": "uniform", "min": 0, "max": 1}},
                            "constraints": ["a + b < 0.5"]})";
    for (const char* name : {"random", "sobol", "tpe"}) {
        Search search(compiled_space(space),
                      plan_of(R"({"name": ")" + std::string(name) + R"("})", 60));
        for (int i = 0; i < 60; ++i) {
            const Decision decision = asked(search);
            ASSERT_EQ(decision.action, Action::start) << name;
            const double a = decision.point.at("a").get<double>();
            const double b = decision.point.at("b").get<double>();
            EXPECT_LT(a + b, 0.5) << name;
            search.on(ReportEvent{i, 1, a});
            search.on(EndEvent{i, false});
        }
    }
}

TEST(Samplers, constraints_that_nothing_satisfies_end_the_search_with_a_reason) {
    const char* space = R"({"space": {"a": {"type": "uniform", "min": 0, "max": 1}},
                            "constraints": ["a > 2"]})";
    for (const char* name : {"random", "sobol", "tpe"}) {
        Search search(compiled_space(space),
                      plan_of(R"({"name": ")" + std::string(name) + R"("})", 60));
        const Decision decision = asked(search);
        EXPECT_EQ(decision.action, Action::finish);
        EXPECT_NE(decision.reason.find("break a constraint"), std::string::npos) << decision.reason;
    }
}

TEST(Samplers, points_to_start_with_come_first_and_are_completed) {
    const char* space = R"({"space": {"a": {"type": "log_uniform", "min": 1e-5, "max": 1},
                                      "b": {"type": "choice", "values": ["x", "y"]}}})";
    SearchPlan plan = plan_of(R"({"name": "random"})", 5);
    plan.start_points = {{{"a", 0.003}}, {{"a", 0.1}, {"b", "y"}}};
    EXPECT_TRUE(start_point_problems(compiled_space(space), plan.start_points, "/p").empty());
    Search search(compiled_space(space), plan);
    const Decision first = asked(search);
    EXPECT_EQ(first.point.at("a"), 0.003);
    EXPECT_EQ(first.reason, "a point to start with");
    EXPECT_EQ(Json(asked(search).point).dump(), R"({"a":0.1,"b":"y"})");
    EXPECT_EQ(asked(search).reason, "drawn at random");
}

TEST(Samplers, wrong_points_to_start_with_are_explained) {
    const Space space = compiled_space(
        R"({"space": {"lr": {"type": "uniform", "min": 0, "max": 1},
                      "b": {"type": "uniform", "min": 0, "max": 1}},
            "constraints": ["lr < b"]})");
    EXPECT_EQ(start_point_problems(space, {{{"lrr", 1}}}, "/warm_start/points").at(0).message,
              "warm_start.points[0].lrr is not a parameter of the space; did you mean \"lr\"?");
    EXPECT_EQ(start_point_problems(space, {{{"lr", 2}}}, "/warm_start/points").at(0).message,
              "warm_start.points[0].lr must be a value that lr can have, got 2");
    EXPECT_EQ(
        start_point_problems(space, {{{"lr", 1}, {"b", 0}}}, "/warm_start/points").at(0).message,
        "warm_start.points[0] does not satisfy the constraint lr < b");
}

double bowl(const Point& point) {
    const double x = point.at("x").get<double>() - 0.3;
    const double y = point.at("y").get<double>() - 0.8;
    return x * x + y * y + (point.at("kind") == "good" ? 0 : 1);
}

constexpr const char* bowl_space =
    R"({"space": {"x": {"type": "uniform", "min": 0, "max": 1},
                  "y": {"type": "uniform", "min": 0, "max": 1},
                  "kind": {"type": "choice", "values": ["bad", "good", "worse"]}}})";

double best_of_bowl(const char* algorithm, std::uint64_t seed) {
    SearchPlan plan = plan_of(algorithm, 80);
    plan.seed = seed;
    Search search(compiled_space(bowl_space), plan);
    for (int i = 0; i < 80; ++i) {
        search.on(ReportEvent{i, 1, bowl(asked(search).point)});
        search.on(EndEvent{i, false});
    }
    return best_loss(search.trials()[std::size_t(*search.best_trial())]);
}

double median_of_bowls(const char* algorithm) {
    std::vector<double> best;
    for (std::uint64_t seed = 0; seed < 9; ++seed)
        best.push_back(best_of_bowl(algorithm, seed));
    std::ranges::sort(best);
    return best[4];
}

TEST(Samplers, tpe_finds_what_random_does_not) {
    EXPECT_LT(median_of_bowls(R"({"name": "tpe"})"),
              0.5 * median_of_bowls(R"({"name": "random"})"));
}

// Goal: NaN is worst and infinities are no exception, in both modes.
TEST(Samplers, tpe_stays_away_from_what_is_not_finite) {
    SearchPlan plan = plan_of(R"({"name": "tpe"})", 100);
    plan.mode = MetricMode::max;
    Search search(compiled_space(one_number), plan);
    int bad = 0;
    for (int i = 0; i < 100; ++i) {
        const double x = asked(search).point.at("x").get<double>();
        const bool is_bad = x > 0.5;
        bad += is_bad && i >= 50;
        const double value = -std::abs(x - 0.3);
        search.on(ReportEvent{i, 1, !is_bad ? value : i % 2 ? std::nan("") : INFINITY});
        search.on(EndEvent{i, false});
    }
    EXPECT_LT(bad, 10);
    EXPECT_NEAR(search.trials()[std::size_t(*search.best_trial())].point.at("x").get<double>(), 0.3,
                0.02);
}

TEST(Samplers, tpe_with_constant_liar_spreads_concurrent_trials) {
    const auto spread = [](bool liar) {
        SearchPlan plan = plan_of(R"({"name": "tpe"})", 100);
        plan.algorithm.constant_liar = liar;
        Search search(compiled_space(one_number), plan);
        for (int i = 0; i < 40; ++i) {
            const double x = asked(search).point.at("x").get<double>();
            search.on(ReportEvent{i, 1, std::abs(x - 0.4)});
            search.on(EndEvent{i, false});
        }
        double lowest = 1;
        double highest = 0;
        for (int i = 0; i < 16; ++i) {
            const double x = asked(search).point.at("x").get<double>();
            lowest = std::min(lowest, x);
            highest = std::max(highest, x);
        }
        return highest - lowest;
    };
    EXPECT_GT(spread(true), 2 * spread(false));
}

TEST(Samplers, tpe_learns_from_known_results) {
    SearchPlan plan = plan_of(R"({"name": "tpe"})", 10);
    for (int i = 0; i < 40; ++i)
        plan.known.push_back({{{"x", i / 40.0}}, std::abs(i / 40.0 - 0.7)});
    plan.known.push_back({{{"another", 1}}, 0});    // of another space: left out
    Search search(compiled_space(one_number), plan);
    for (int i = 0; i < 5; ++i)
        EXPECT_NEAR(asked(search).point.at("x").get<double>(), 0.7, 0.25);
}

TEST(Samplers, tpe_uses_up_a_finite_space_before_it_repeats) {
    const char* space = R"({"space": {"a": {"type": "choice", "values": [1, 2, 3, 4]},
                                      "b": {"type": "int_uniform", "min": 1, "max": 4}}})";
    Search search(compiled_space(space), plan_of(R"({"name": "tpe"})", 30));
    std::set<Point> seen;
    for (int i = 0; i < 30; ++i) {
        const Point point = asked(search).point;
        seen.insert(point);
        search.on(ReportEvent{i, 1, point.at("a").get<double>() + point.at("b").get<double>()});
        search.on(EndEvent{i, false});
    }
    EXPECT_GE(seen.size(), 14u);
}

TEST(Samplers, values_that_come_again_are_told) {
    const char* space = R"({"space": {"a": {"type": "choice", "values": [1, 2]}}})";
    Search search(compiled_space(space), plan_of(R"({"name": "random"})", 3));
    EXPECT_EQ(asked(search).reason, "drawn at random");
    EXPECT_EQ(asked(search).reason, "drawn at random");
    EXPECT_EQ(asked(search).reason,
              "drawn at random; the space has 2 points, so values come again");
}

TEST(Samplers, tpe_follows_conditions) {
    const char* space = R"({"space": {
        "kind": {"type": "choice", "values": ["a", "b"]},
        "x": {"type": "uniform", "min": 0, "max": 1, "when": {"kind": "a"}},
        "y": {"type": "uniform", "min": 0, "max": 1, "when": {"kind": "b"}}}})";
    Search search(compiled_space(space), plan_of(R"({"name": "tpe"})", 80));
    int late_b = 0;
    for (int i = 0; i < 80; ++i) {
        const Point point = asked(search).point;
        EXPECT_EQ(point.size(), 2u);
        const bool is_b = point.at("kind") == "b";
        EXPECT_EQ(point.contains("y"), is_b);
        late_b += is_b && i >= 40;
        search.on(ReportEvent{i, 1,
                              is_b ? std::abs(point.at("y").get<double>() - 0.2)
                                   : 0.5 + point.at("x").get<double>()});
        search.on(EndEvent{i, false});
    }
    EXPECT_GT(late_b, 30);
    EXPECT_NEAR(search.trials()[std::size_t(*search.best_trial())].point.at("y").get<double>(), 0.2,
                0.05);
}

}    // namespace
}    // namespace slipway::search
