#include "scheduler/search/hyperband.h"

#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

using Brackets = std::vector<std::vector<HyperbandRound>>;

// Li et al., "Hyperband", JMLR 2018, table 1: R = 81, eta = 3.
TEST(Hyperband, brackets_are_those_of_the_paper) {
    EXPECT_EQ(hyperband_brackets(1, 81, 3), (Brackets{{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
                                                      {{27, 3}, {9, 9}, {3, 27}, {1, 81}},
                                                      {{9, 9}, {3, 27}, {1, 81}},
                                                      {{6, 27}, {2, 81}},
                                                      {{5, 81}}}));
}

TEST(Hyperband, brackets_of_other_times_are_rounded_down) {
    EXPECT_EQ(hyperband_brackets(2, 20, 3),
              (Brackets{{{9, 2}, {3, 6}, {1, 20}}, {{3, 6}, {1, 20}}, {{3, 20}}}));
    EXPECT_EQ(hyperband_brackets(5, 9, 2), (Brackets{{{1, 9}}}));
}

// A bracket by hand: 4 trials to 1, the best 2 to 2, the best to 4; then 2 to 2, 1 to 4; then 3
// to 4.
TEST(Hyperband, rounds_are_judged_when_all_have_arrived) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "hyperband", "max_time": 4,
        "reduction_factor": 2})",
                                                      100));
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(brief({asked(search)}), "start " + std::to_string(i) + " to 1");
    EXPECT_EQ(told(search, 0, 1, 0.4), "pause 0");
    EXPECT_EQ(told(search, 1, 1, 0.1), "pause 1");
    EXPECT_EQ(told(search, 2, 1, 0.3), "pause 2");
    EXPECT_EQ(brief({asked(search)}), "start 4 to 2");    // the next bracket does not wait
    EXPECT_EQ(told(search, 3, 1, 0.2), "pause 3, keep 1, keep 3, stop 2, stop 0");
    EXPECT_EQ(brief({asked(search)}), "resume 1 to 2");
    EXPECT_EQ(brief({asked(search)}), "resume 3 to 2");
    EXPECT_EQ(brief({asked(search)}), "start 5 to 2");
    EXPECT_EQ(brief({asked(search)}), "start 6 to 4");    // the third bracket
    EXPECT_EQ(told(search, 1, 2, 0.09), "pause 1");
    EXPECT_EQ(told(search, 3, 2, 0.05), "pause 3, keep 3, stop 1");
    EXPECT_EQ(brief({asked(search)}), "resume 3 to 4");
    EXPECT_EQ(told(search, 3, 4, 0.04), "complete 3");
    EXPECT_EQ(brief(search.on(EndEvent{4, true})), "");
    EXPECT_EQ(told(search, 5, 2, 0.5), "pause 5, keep 5");    // the only one left of its round
    EXPECT_EQ(brief({asked(search)}), "resume 5 to 4");
}

TEST(Hyperband, the_last_bracket_is_as_large_as_the_limit_allows) {
    Search search(compiled_space(one_number),
                  plan_of(R"({"name": "hyperband", "max_time": 9})", 3));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(brief({asked(search)}), "start " + std::to_string(i) + " to 1");
    EXPECT_EQ(brief({asked(search)}), "wait");
    told(search, 0, 1, 0.3);
    told(search, 1, 1, 0.2);
    EXPECT_EQ(told(search, 2, 1, 0.1), "pause 2, keep 2, stop 1, stop 0");
    EXPECT_EQ(brief({asked(search)}), "resume 2 to 3");
    EXPECT_EQ(told(search, 2, 3, 0.1), "pause 2, keep 2");
    EXPECT_EQ(brief({asked(search)}), "resume 2 to 9");
    EXPECT_EQ(told(search, 2, 9, 0.1), "complete 2");
    EXPECT_EQ(brief({asked(search)}), "finish");
    search.on(ExtendEvent{4});
    EXPECT_EQ(brief({asked(search)}), "start 3 to 3");
}

TEST(Hyperband, a_sampler_that_runs_out_ends_the_round) {
    const char* space = R"({"space": {"x": {"type": "constant", "value": 1}},
                            "constraints": ["x > 2"]})";
    Search search(compiled_space(space), plan_of(R"({"name": "hyperband", "max_time": 9})", 9));
    EXPECT_EQ(brief({asked(search)}), "finish");
}

}    // namespace
}    // namespace slipway::search
