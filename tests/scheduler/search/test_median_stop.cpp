#include "scheduler/search/median_stop.h"

#include <cmath>

#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

Search median_search(MetricMode mode = MetricMode::min) {
    SearchPlan plan = plan_of(R"({"name": "median_stop", "grace_time": 2, "min_samples": 3})", 10);
    plan.mode = mode;
    Search search(compiled_space(one_number), plan);
    for (int i = 0; i < 6; ++i)
        asked(search);
    return search;
}

// By hand: the means of 0, 1, 2 up to time 2 are 0.35, 0.45 and 0.55.
void report_three(Search& search, double sign = 1) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(told(search, i, 1, sign * (0.4 + 0.1 * i)), "");
        EXPECT_EQ(told(search, i, 2, sign * (0.3 + 0.1 * i)), "");
    }
}

TEST(MedianStop, a_trial_worse_than_the_median_is_stopped) {
    Search search = median_search();
    report_three(search);
    EXPECT_EQ(told(search, 3, 1, 9), "");    // within the grace time
    EXPECT_EQ(told(search, 3, 2, 0.5), "stop 3");
    EXPECT_EQ(told(search, 4, 2, 0.44), "");    // median of 3 and of trial 3's mean: 0.5
}

TEST(MedianStop, the_best_value_so_far_counts) {
    Search search = median_search();
    report_three(search);
    told(search, 3, 1, 0.2);
    EXPECT_EQ(told(search, 3, 2, 0.9), "");
}

TEST(MedianStop, too_few_others_stop_nobody) {
    Search search = median_search();
    told(search, 0, 2, 0.1);
    told(search, 1, 2, 0.1);
    EXPECT_EQ(told(search, 2, 2, 9), "");
    search.on(EndEvent{0, true});    // failed: no longer counts
    told(search, 3, 2, 0.1);
    EXPECT_EQ(told(search, 4, 2, 9), "stop 4");
    EXPECT_EQ(told(search, 5, 3, 9), "");    // nobody has reached time 3
}

TEST(MedianStop, greater_may_be_better) {
    Search search = median_search(MetricMode::max);
    report_three(search, -1);
    const auto decisions = search.on(ReportEvent{3, 2, -0.5});
    EXPECT_EQ(brief(decisions), "stop 3");
    EXPECT_DOUBLE_EQ(*decisions[0].cutoff, -0.45);
}

TEST(MedianStop, nan_is_worse_than_any_median) {
    Search search = median_search();
    report_three(search);
    EXPECT_EQ(told(search, 3, 2, std::nan("")), "stop 3");
}

}    // namespace
}    // namespace slipway::search
