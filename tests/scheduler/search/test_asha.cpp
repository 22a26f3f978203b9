#include "scheduler/search/asha.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "scheduler/search/random.h"
#include "scheduler/search/rungs.h"
#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

TEST(Asha, rungs_are_powers_and_the_end) {
    using Times = std::vector<std::int64_t>;
    EXPECT_EQ(rung_times(1, 27, 3), (Times{1, 3, 9, 27}));
    EXPECT_EQ(rung_times(1, 100, 4), (Times{1, 4, 16, 64, 100}));
    EXPECT_EQ(rung_times(5, 6, 3), (Times{5, 6}));
}

TEST(Asha, stop_keeps_the_best_of_those_that_have_come) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "asha", "max_time": 9})", 10));
    for (int i = 0; i < 6; ++i)
        EXPECT_EQ(brief({asked(search)}), "start " + std::to_string(i) + " to 9");
    EXPECT_EQ(told(search, 0, 1, 0.5), "keep 0");     // the first of 1
    EXPECT_EQ(told(search, 1, 1, 0.6), "stop 1");     // 2 of 2: 1 goes on
    EXPECT_EQ(told(search, 2, 1, 0.4), "keep 2");     // 1 of 3
    EXPECT_EQ(told(search, 3, 1, 0.45), "stop 3");    // 2 of 4
    EXPECT_EQ(told(search, 4, 1, 0.41), "stop 4");    // 2 of 5
    EXPECT_EQ(told(search, 5, 1, 0.41), "stop 5");    // as good as 4, which came first: 3 of 6
}

TEST(Asha, a_decision_says_why) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "asha", "max_time": 9})", 10));
    asked(search);
    asked(search);
    told(search, 0, 1, 0.25);
    EXPECT_EQ(
        log_of(search.on(ReportEvent{1, 1, 0.5})),
        R"({"action":"stop","cutoff":0.25,"of":2,"rank":2,"reason":"rung 0 (epoch 1): rank 2 )"
        R"(of 2; the best 1 go on, cutoff 0.25","rule":"asha","rung":0,"time":1,"trial":1,)"
        R"("value":0.5})"
        "\n");
}

TEST(Asha, a_report_may_pass_several_rungs) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "asha", "max_time": 9})", 10));
    asked(search);
    EXPECT_EQ(told(search, 0, 5, 0.5), "keep 0, keep 0");
    EXPECT_EQ(told(search, 0, 5, 0.5), "");    // repeated
    EXPECT_EQ(told(search, 0, 10, 0.5), "complete 0");
    EXPECT_EQ(told(search, 0, 11, 0.5), "");    // has ended
}

TEST(Asha, promote_pauses_and_resumes_the_best) {
    Search search(compiled_space(one_number),
                  plan_of(R"({"name": "asha", "mode": "promote", "max_time": 9})", 9));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(brief({asked(search)}), "start " + std::to_string(i) + " to 1");
    EXPECT_EQ(told(search, 0, 1, 0.5), "pause 0");
    EXPECT_EQ(told(search, 1, 1, 0.3), "pause 1");
    EXPECT_EQ(brief({asked(search)}), "start 3 to 1");    // a third of 2 is none
    EXPECT_EQ(told(search, 2, 1, 0.4), "pause 2");
    EXPECT_EQ(brief({asked(search)}), "resume 1 to 3");
    EXPECT_EQ(brief({asked(search)}), "start 4 to 1");
    EXPECT_EQ(told(search, 3, 1, 0.1), "pause 3");
    EXPECT_EQ(brief({asked(search)}), "resume 3 to 3");    // 1 of 4 now
    EXPECT_EQ(told(search, 3, 3, 0.1), "pause 3");
    EXPECT_EQ(told(search, 1, 3, 0.2), "pause 1");
}

TEST(Asha, a_trial_without_a_finite_value_never_goes_on) {
    for (const char* mode : {"stop", "promote"}) {
        Search search(
            compiled_space(one_number),
            plan_of(R"({"name": "asha", "max_time": 9, "mode": ")" + std::string(mode) + R"("})",
                    6));
        for (int i = 0; i < 6; ++i)
            asked(search);
        for (int i = 0; i < 6; ++i)
            EXPECT_EQ(told(search, i, 1, i % 2 ? INFINITY : std::nan("")),
                      "stop " + std::to_string(i));
        const Decision last = asked(search);
        EXPECT_EQ(last.action, Action::finish) << last.reason;
    }
}

TEST(Asha, the_end_says_who_ended_and_who_was_not_promoted) {
    Search search(compiled_space(one_number),
                  plan_of(R"({"name": "asha", "mode": "promote", "max_time": 3})", 3));
    for (int i = 0; i < 3; ++i)
        asked(search);
    for (int i = 0; i < 3; ++i)
        told(search, i, 1, 0.1 * (i + 1));
    EXPECT_EQ(brief({asked(search)}), "resume 0 to 3");
    EXPECT_EQ(told(search, 0, 3, 0.1), "complete 0");
    const Decision last = asked(search);
    EXPECT_EQ(brief({last}), "finish");
    EXPECT_EQ(last.reason, "every trial has ended (1) or is paused and not promoted (2)");
}

TEST(Asha, brackets_fill_in_proportion) {
    Search search(compiled_space(one_number),
                  plan_of(R"({"name": "asha", "max_time": 27, "brackets": 3})", 200));
    std::map<std::int64_t, int> counts;
    for (int i = 0; i < 175; ++i)
        ++counts[asked(search).bracket];
    // 27 / 4, 9 / 3 and 3 / 2 of 11.25
    EXPECT_EQ(counts, (std::map<std::int64_t, int>{{0, 105}, {1, 47}, {2, 23}}));
}

/// The rule again, slow and in other words: everything is computed from all reports at each event.
class SlowAsha {
public:
    SlowAsha(const AlgorithmSpec& spec, bool is_max) : spec_(spec), is_max_(is_max) {}

    std::string report(std::int64_t trial, std::int64_t time, double value) {
        values_[trial][time] = value;
        std::string decisions;
        for (std::size_t rung = 0; rung < times().size(); ++rung) {
            if (time < times()[rung] || entered_[rung].contains(trial)) continue;
            entered_[rung][trial] = loss(trial, time);
            decisions += decide(rung, trial);
            if (!decisions.ends_with("keep ")) break;
        }
        return decisions;
    }

    /// The trial to resume and until when; none: start or wait.
    std::optional<std::pair<std::int64_t, std::int64_t>> promotion() {
        for (std::size_t rung = times().size() - 1; rung-- > 0;) {
            for (const auto& [trial, own] : entered_[rung]) {
                // Trials come by number; the best eligible one has no better one before it.
                if (!is_eligible(rung, trial)) continue;
                const bool is_best = std::ranges::none_of(entered_[rung], [&](const auto& other) {
                    return is_eligible(rung, other.first) && before(other, {trial, own});
                });
                if (!is_best) continue;
                left_[rung].insert(trial);
                return std::pair(trial, times()[rung + 1]);
            }
        }
        return std::nullopt;
    }

private:
    using Entry = std::pair<std::int64_t, double>;

    std::vector<std::int64_t> times() const {
        std::vector<std::int64_t> times;
        std::int64_t time = spec_.min_time;
        while (time < spec_.max_time) {
            times.push_back(time);
            time *= spec_.reduction_factor;
        }
        times.push_back(spec_.max_time);
        return times;
    }

    double loss(std::int64_t trial, std::int64_t time) const {
        double best = INFINITY;
        for (const auto& [at, value] : values_.at(trial))
            if (at <= time && std::isfinite(value)) best = std::min(best, is_max_ ? -value : value);
        return best;
    }

    static bool before(const Entry& a, const Entry& b) {
        return a.second < b.second || (a.second == b.second && a.first < b.first);
    }

    std::int64_t better_count(std::size_t rung, std::int64_t trial) {
        const Entry own{trial, entered_[rung][trial]};
        return std::ranges::count_if(entered_[rung],
                                     [&](const Entry& other) { return before(other, own); });
    }

    bool is_eligible(std::size_t rung, std::int64_t trial) {
        return better_count(rung, trial) <
                   std::int64_t(entered_[rung].size()) / spec_.reduction_factor &&
               !left_[rung].contains(trial) && std::isfinite(entered_[rung][trial]);
    }

    std::string decide(std::size_t rung, std::int64_t trial) {
        if (rung + 1 == times().size()) return "complete ";
        if (!std::isfinite(entered_[rung][trial])) return "stop ";
        if (spec_.mode == AshaMode::promote) return "pause ";
        const std::int64_t room = std::int64_t(entered_[rung].size()) / spec_.reduction_factor;
        return better_count(rung, trial) < std::max<std::int64_t>(1, room) ? "keep " : "stop ";
    }

    AlgorithmSpec spec_;
    bool is_max_;
    std::map<std::int64_t, std::map<std::int64_t, double>> values_;
    std::map<std::size_t, std::map<std::int64_t, double>> entered_;
    std::map<std::size_t, std::set<std::int64_t>> left_;
};

/// One random set of curves on a random number of cores, through both.
void compare_with_slow(std::uint64_t seed) {
    Draws draws(seed, DrawSite::random, 0);
    SearchPlan plan = plan_of(R"({"name": "asha", "max_time": 9})", 5 + draws.next_below(40));
    AlgorithmSpec& spec = plan.algorithm;
    spec.mode = draws.next_below(2) ? AshaMode::stop : AshaMode::promote;
    spec.reduction_factor = std::int64_t(2 + draws.next_below(3));
    spec.min_time = std::int64_t(1 + draws.next_below(3));
    spec.max_time = spec.min_time + 1 + std::int64_t(draws.next_below(30));
    plan.mode = draws.next_below(2) ? MetricMode::min : MetricMode::max;
    Search search(compiled_space(one_number), plan);
    SlowAsha slow(spec, plan.mode == MetricMode::max);
    std::map<std::int64_t, std::int64_t> running;    // trial -> its time
    const std::size_t cores = 1 + draws.next_below(9);
    for (int step = 0; step < 100000; ++step) {
        if (running.size() < cores && draws.next_below(2)) {
            const Decision decision = asked(search);
            if (decision.action == Action::finish) return;
            const auto promotion = spec.mode == AshaMode::promote ? slow.promotion() : std::nullopt;
            ASSERT_EQ(decision.action == Action::resume, promotion.has_value()) << seed;
            if (promotion) {
                ASSERT_EQ(std::pair(decision.trial, decision.until), *promotion) << seed;
                running[decision.trial] =
                    search.trials()[std::size_t(decision.trial)].reports.back().time;
            } else if (decision.action == Action::start) {
                running[decision.trial] = 0;
            }
            continue;
        }
        if (running.empty()) continue;
        auto chosen = std::next(running.begin(), std::ptrdiff_t(draws.next_below(running.size())));
        const std::int64_t trial = chosen->first;
        const std::int64_t time = chosen->second += std::int64_t(1 + draws.next_below(3));
        const std::uint64_t kind = draws.next_below(20);
        // Few different values, so that there are ties.
        const double value = kind == 0 ? std::nan("") : double(draws.next_below(12));
        std::string fast;
        for (const Decision& one : search.on(ReportEvent{trial, time, value}))
            fast += std::string(to_string(one.action)) + " ";
        ASSERT_EQ(fast, slow.report(trial, time, value)) << seed << " trial " << trial;
        if (!fast.empty() && !fast.ends_with("keep ")) running.erase(trial);
    }
    FAIL() << "no end with seed " << seed;
}

// Goal: decisions equal to a reference that shares no code, on 1,000 random sets of curves.
TEST(Asha, decisions_are_those_of_a_slow_reference) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        compare_with_slow(seed);
        if (HasFatalFailure()) return;
    }
}

}    // namespace
}    // namespace slipway::search
