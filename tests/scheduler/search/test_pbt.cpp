#include "scheduler/search/pbt.h"

#include <cmath>
#include <set>

#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

constexpr const char* pbt_space =
    R"({"space": {"lr": {"type": "log_uniform", "min": 1e-4, "max": 1},
                  "layers": {"type": "int_uniform", "min": 1, "max": 9},
                  "act": {"type": "choice", "values": ["relu", "gelu"]},
                  "size": {"type": "choice", "values": [16, 32, 64], "ordered": true}}})";

SearchPlan pbt_plan() {
    return plan_of(R"({"name": "pbt", "population": 4, "interval": 2, "max_time": 6,
                       "resample_probability": 0})",
                   100);
}

// By hand: 4 trials, a quarter is replaced. Two cores, so that trials wait for their generation.
TEST(Pbt, the_worst_takes_over_the_best) {
    Search search(compiled_space(pbt_space), pbt_plan());
    EXPECT_EQ(brief({asked(search)}), "start 0 to 2");
    EXPECT_EQ(brief({asked(search)}), "start 1 to 2");
    EXPECT_EQ(told(search, 0, 1, 0.9), "");
    EXPECT_EQ(told(search, 0, 2, 0.5), "pause 0");
    EXPECT_EQ(brief({asked(search)}), "start 2 to 2");
    EXPECT_EQ(told(search, 1, 2, 0.2), "pause 1");
    EXPECT_EQ(brief({asked(search)}), "start 3 to 2");
    EXPECT_EQ(brief({asked(search)}), "wait");
    EXPECT_EQ(told(search, 3, 2, 0.3), "pause 3");
    const auto decisions = search.on(ReportEvent{2, 2, 0.8});
    EXPECT_EQ(brief(decisions), "pause 2, keep 1, keep 3, keep 0, exploit 2");
    const Decision& exploit = decisions.back();
    EXPECT_EQ(exploit.source, 1);
    EXPECT_EQ(exploit.source_time, 2);
    EXPECT_EQ(exploit.rank, 4);
    EXPECT_EQ(search.trials()[2].point, exploit.point);
    ASSERT_EQ(search.trials()[2].lineage.size(), 1u);
    EXPECT_EQ(search.trials()[2].lineage[0].source, 1);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(brief({asked(search)}), "resume " + std::to_string(i) + " to 4");
    for (int i = 0; i < 4; ++i)
        told(search, i, 4, 0.1);    // all equal: nobody is replaced
    EXPECT_TRUE(search.trials()[3].lineage.empty());
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(brief({asked(search)}), "resume " + std::to_string(i) + " to 6");
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(told(search, i, 6, 0.1), "complete " + std::to_string(i));
    EXPECT_EQ(brief({asked(search)}), "finish");
}

TEST(Pbt, what_failed_leaves_the_population) {
    Search search(compiled_space(pbt_space), pbt_plan());
    for (int i = 0; i < 4; ++i)
        asked(search);
    search.on(EndEvent{1, true});
    told(search, 0, 2, 0.5);
    told(search, 2, 2, 0.3);
    // Three are left: ceil(3 / 4) is replaced.
    EXPECT_EQ(brief(search.on(ReportEvent{3, 2, std::nan("")})),
              "pause 3, keep 2, keep 0, exploit 3");
    EXPECT_EQ(brief({asked(search)}), "resume 0 to 4");
}

TEST(Pbt, a_population_that_diverges_ends_with_a_reason) {
    Search search(compiled_space(pbt_space), pbt_plan());
    for (int i = 0; i < 4; ++i)
        asked(search);
    for (int i = 0; i < 3; ++i)
        told(search, i, 2, std::nan(""));
    const auto decisions = search.on(ReportEvent{3, 2, INFINITY});
    EXPECT_EQ(brief(decisions), "pause 3, stop 0, stop 1, stop 2, stop 3");
    EXPECT_EQ(decisions[1].reason, "generation 0: no trial has a finite value");
    EXPECT_EQ(brief({asked(search)}), "finish");
}

TEST(Pbt, a_population_is_as_large_as_the_limit_allows) {
    SearchPlan plan = pbt_plan();
    plan.max_trials = 2;
    Search search(compiled_space(pbt_space), plan);
    asked(search);
    asked(search);
    told(search, 0, 2, 0.1);
    EXPECT_EQ(told(search, 1, 2, 0.2), "pause 1");    // more might come
    EXPECT_EQ(brief(search.on(AskEvent{})), "keep 0, exploit 1, resume 0 to 4");
}

TEST(Pbt, neighbours_are_near_and_allowed) {
    const Space space = compiled_space(pbt_space);
    AlgorithmSpec spec = pbt_plan().algorithm;
    const Point point{{"lr", 0.1}, {"layers", 2}, {"act", "gelu"}, {"size", 32}};
    int ups = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        Draws draws(1, DrawSite::pbt, i);
        const Point next = explored(space, point, spec, draws)->point;
        const double lr = next.at("lr").get<double>();
        EXPECT_TRUE(std::abs(lr - 0.12) < 1e-12 || std::abs(lr - 0.1 / 1.2) < 1e-12) << lr;
        ups += lr > 0.1;
        EXPECT_TRUE(next.at("layers") == 1 || next.at("layers") == 3) << next.at("layers");
        EXPECT_EQ(next.at("act"), "gelu");
        EXPECT_TRUE(next.at("size") == 16 || next.at("size") == 64);
    }
    EXPECT_NEAR(ups, 100, 30);
    const Point edge{{"lr", 1.0}, {"layers", 9}, {"act", "relu"}, {"size", 64}};
    for (std::uint64_t i = 0; i < 50; ++i) {
        Draws draws(1, DrawSite::pbt, i);
        const Point next = explored(space, edge, spec, draws)->point;
        EXPECT_LE(next.at("lr"), 1.0);
        EXPECT_LE(next.at("layers"), 9);
    }
}

// Jobs are deterministic: a copy of the same weights with the same values tries nothing.
TEST(Pbt, copies_of_one_trial_differ) {
    std::int64_t exploits = 0;
    for (int seed = 0; seed < 300; ++seed) {
        SearchPlan plan = plan_of(R"({"name": "pbt", "population": 8, "interval": 1, "max_time": 4,
                                      "quantile": 0.5})",
                                  8);
        plan.seed = std::uint64_t(seed);
        Search search(compiled_space(one_number), std::move(plan));
        for (int i = 0; i < 8; ++i)
            asked(search);
        for (std::int64_t time = 1; time < 4; ++time) {
            for (int i = 0; i < 7; ++i)
                told(search, i, time, 0.1 * (i + 1));
            std::set<std::pair<std::int64_t, std::string>> members;
            for (const Decision& one : search.on(ReportEvent{7, time, 0.8})) {
                if (one.action != Action::keep && one.action != Action::exploit) continue;
                const bool copies = one.action == Action::exploit;
                const Point& point = search.trials()[std::size_t(one.trial)].point;
                exploits += copies;
                EXPECT_TRUE(
                    members.insert({copies ? *one.source : one.trial, Json(point).dump()}).second)
                    << "seed " << seed << ": " << one.reason;
            }
            for (int i = 0; i < 8; ++i)
                asked(search);
        }
    }
    EXPECT_GT(exploits, 1000);
}

TEST(Pbt, a_copy_that_cannot_differ_says_so) {
    Search search(compiled_space(R"({"space": {"act": {"type": "choice", "values": ["a", "b"]}}})"),
                  plan_of(R"({"name": "pbt", "population": 2, "interval": 1, "max_time": 2,
                              "quantile": 0.5, "resample_probability": 0})",
                          2));
    asked(search);
    asked(search);
    told(search, 0, 1, 0.1);
    search.on(AskEvent{});
    const auto decisions = search.on(ReportEvent{1, 1, 0.2});
    EXPECT_NE(decisions.back().reason.find("no values that no other member has"), std::string::npos)
        << decisions.back().reason;
}

TEST(Pbt, parameters_are_drawn_again_with_their_probability) {
    const Space space = compiled_space(one_number);
    AlgorithmSpec spec = pbt_plan().algorithm;
    spec.resample_probability = 0.25;
    int resampled = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        Draws draws(1, DrawSite::pbt, i);
        const double x = explored(space, {{"x", 0.5}}, spec, draws)->point.at("x").get<double>();
        resampled += std::abs(x - 0.6) > 1e-12 && std::abs(x - 0.5 / 1.2) > 1e-12;
    }
    EXPECT_NEAR(resampled, 500, 80);    // four deviations
}

}    // namespace
}    // namespace slipway::search
