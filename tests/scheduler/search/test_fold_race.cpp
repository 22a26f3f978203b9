// Goal: trials that are cross-validations are compared on the same folds, end early only when they
// are unlikely to win, and are decided about in the same way whoever reports first.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "scheduler/search/fold_race.h"
#include "scheduler/search/student_t.h"
#include "tests/scheduler/search/plans.h"

namespace slipway::search {

namespace {

using ::testing::HasSubstr;

FoldSearch folds_of(std::int64_t count, bool prunes, std::int64_t wave = 16) {
    FoldSearch folds;
    for (std::int64_t i = 0; i < count; ++i)
        folds.sizes.push_back({.train = 80, .val = 20});
    if (prunes) folds.pruning = FoldPruningSpec{.wave = wave};
    return folds;
}

Search search_of(FoldSearch folds, std::int64_t max_trials, MetricMode mode = MetricMode::min) {
    SearchPlan plan = plan_of(R"({"name": "random"})", max_trials);
    plan.selection = ObjectiveSelection::last;
    plan.mode = mode;
    plan.folds = std::move(folds);
    return Search(compiled_space(one_number), std::move(plan));
}

/// What each trial would measure on each fold.
using Table = std::vector<std::vector<double>>;

struct RaceResult {
    std::set<std::string> decisions;    // without their order
    std::optional<std::int64_t> best;
    std::vector<std::size_t> folds;    // that each trial trained
    std::vector<std::string> states;
};

/// Trains as many trials at a time as there are cores; who is done first is drawn.
RaceResult race(Search search, const Table& table, std::int64_t cores, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    RaceResult result;
    const auto note = [&](const std::vector<Decision>& decisions) {
        for (const Decision& one : decisions)
            if (one.action != Action::wait) result.decisions.insert(encode(one).dump());
    };
    std::vector<std::int64_t> open;
    for (;;) {
        while (std::int64_t(open.size()) < cores) {
            const auto decisions = search.on(AskEvent{});
            note(decisions);
            const Decision& answer = decisions.back();
            if (answer.action != Action::start && answer.action != Action::resume) break;
            open.push_back(answer.trial);
        }
        if (open.empty()) break;
        const std::size_t place = random() % open.size();
        const std::int64_t number = open[place];
        const Trial& trial = search.trials()[std::size_t(number)];
        const std::size_t fold = trial.fold_values.size();
        note(search.on(
            ReportEvent{number, std::int64_t(fold) + 1, table[std::size_t(number)][fold]}));
        if (trial.state != TrialState::running) open.erase(open.begin() + std::ptrdiff_t(place));
    }
    result.best = search.best_trial();
    for (const Trial& trial : search.trials()) {
        result.folds.push_back(trial.fold_values.size());
        result.states.emplace_back(to_string(trial.state));
    }
    return result;
}

/// Trials that differ by their number, on folds that differ more, with noise.
Table noisy_table(std::int64_t trials, std::int64_t folds, double noise, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> hardness;
    for (std::int64_t fold = 0; fold < folds; ++fold)
        hardness.push_back(0.5 * normal(random));
    Table table;
    for (std::int64_t trial = 0; trial < trials; ++trial) {
        const double quality = std::abs(normal(random));
        table.emplace_back();
        for (const double fold : hardness)
            table.back().push_back(quality + fold + noise * normal(random));
    }
    return table;
}

TEST(FoldRace, without_pruning_every_trial_trains_every_fold) {
    Search search = search_of(folds_of(3, false), 2);
    EXPECT_EQ(brief({asked(search)}), "start 0 to 3");
    EXPECT_EQ(told(search, 0, 1, 0.5), "");
    EXPECT_EQ(told(search, 0, 1, 0.5), "") << "a repeated report";
    EXPECT_EQ(told(search, 0, 3, 0.5), "") << "a fold that was not asked for";
    EXPECT_EQ(told(search, 0, 2, 0.3), "");
    EXPECT_FALSE(search.best_trial().has_value()) << "two of three folds are no result";
    EXPECT_EQ(told(search, 0, 3, 0.1), "complete 0");
    EXPECT_EQ(search.best_trial(), 0);
    EXPECT_DOUBLE_EQ(search.trials()[0].reports.back().value, 0.3);
    EXPECT_EQ(brief({asked(search)}), "start 1 to 3");
    EXPECT_EQ(told(search, 1, 1, std::nan("")), "stop 1");
    EXPECT_EQ(brief({asked(search)}), "finish");
}

TEST(FoldRace, a_weighted_mean_is_over_samples) {
    FoldSearch folds = folds_of(2, false);
    folds.sizes[0].val = 30;
    folds.sizes[1].val = 10;
    folds.is_weighted = true;
    EXPECT_DOUBLE_EQ(fold_mean(folds, std::vector<double>{1, 5}), 2);
    folds.is_weighted = false;
    EXPECT_DOUBLE_EQ(fold_mean(folds, std::vector<double>{1, 5}), 3);
}

TEST(FoldRace, a_trial_that_is_worse_on_each_fold_trains_no_more) {
    Search search = search_of(folds_of(5, true), 2);
    asked(search);
    EXPECT_EQ(brief({asked(search)}), "start 1 to 2");
    told(search, 0, 1, 0.10);
    EXPECT_EQ(told(search, 0, 2, 0.90), "pause 0");
    told(search, 1, 1, 0.31);
    const auto decisions = search.on(ReportEvent{1, 2, 1.10});
    EXPECT_EQ(brief(decisions), "pause 1, keep 0, stop 1");
    EXPECT_THAT(decisions[1].reason, HasSubstr("the best so far"));
    EXPECT_THAT(decisions[2].reason,
                HasSubstr("2 of 5 folds: mean 0.705, that of trial 0 on the same folds is 0.5"));
    EXPECT_EQ(decisions[2].source, 0);
    EXPECT_LT(*decisions[2].probability, 0.05);
    EXPECT_EQ(brief({asked(search)}), "resume 0 to 3");
}

// Goal: an unpaired comparison would see two equal trials here: the folds differ by far more.
TEST(FoldRace, trials_that_cross_between_folds_go_on) {
    Search search = search_of(folds_of(5, true), 2);
    asked(search);
    asked(search);
    told(search, 0, 1, 0.30);
    told(search, 0, 2, 0.90);
    told(search, 1, 1, 0.32);
    EXPECT_EQ(told(search, 1, 2, 0.89), "pause 1, keep 0, keep 1");
}

TEST(FoldRace, the_probability_is_that_of_the_mean_over_all_folds) {
    const FoldSearch folds = folds_of(5, true);
    const std::vector<double> leader{0, 0, 0};
    const std::vector<double> challenger{0.1, 0.2, 0.3};
    const FoldChance chance = chance_to_win(folds, challenger, leader);
    EXPECT_DOUBLE_EQ(chance.mean_difference, 0.2);
    const double t = 0.2 / (0.1 * std::sqrt(2.0 / (3 * 5)));
    EXPECT_NEAR(*chance.t, t, 1e-12);
    EXPECT_NEAR(chance.probability, student_t_cdf(-t, 2), 1e-9);
    const std::vector<double> all{0.1, -0.2, 0.3, -0.4, 0.3};
    EXPECT_EQ(chance_to_win(folds, all, std::vector<double>(5, 0.0)).probability, 0)
        << "nothing is left to come";
    EXPECT_EQ(chance_to_win(folds, leader, leader).probability, 0.5);
}

TEST(FoldRace, weights_of_one_size_change_nothing) {
    FoldSearch folds = folds_of(5, true);
    const std::vector<double> leader{0.4, 0.1};
    const std::vector<double> challenger{0.5, 0.3};
    const double plain = chance_to_win(folds, challenger, leader).probability;
    folds.is_weighted = true;
    EXPECT_NEAR(chance_to_win(folds, challenger, leader).probability, plain, 1e-9);
    folds.sizes.back().val = 2000;
    EXPECT_GT(chance_to_win(folds, challenger, leader).probability, plain)
        << "most of it is still to come";
}

TEST(FoldRace, the_next_wave_is_compared_with_whoever_has_completed) {
    Search search = search_of(folds_of(3, true, 2), 4);
    for (int i = 0; i < 2; ++i)
        asked(search);
    EXPECT_EQ(brief({asked(search)}), "wait") << "the wave is full";
    for (const std::int64_t trial : {0, 1})
        for (const std::int64_t time : {1, 2})
            told(search, trial, time, 0.1 + double(trial) + 0.01 * double(time * (trial + 1)));
    EXPECT_EQ(brief({asked(search)}), "resume 0 to 3");
    EXPECT_EQ(told(search, 0, 3, 0.13), "complete 0");
    EXPECT_EQ(brief({asked(search)}), "start 2 to 2");
    EXPECT_EQ(brief({asked(search)}), "start 3 to 2");
    told(search, 2, 1, 2.0);
    told(search, 2, 2, 2.1);
    told(search, 3, 1, 3.0);
    EXPECT_EQ(told(search, 3, 2, 3.2), "pause 3, stop 2, stop 3");
    EXPECT_EQ(brief({asked(search)}), "finish");
    EXPECT_EQ(search.best_trial(), 0);
}

TEST(FoldRace, a_larger_value_wins_where_larger_is_better) {
    Search search = search_of(folds_of(3, true), 2, MetricMode::max);
    asked(search);
    asked(search);
    told(search, 0, 1, 0.5);
    told(search, 0, 2, 0.6);
    told(search, 1, 1, 0.9);
    EXPECT_EQ(told(search, 1, 2, 0.99), "pause 1, keep 1, stop 0");
}

TEST(FoldRace, a_trial_that_fails_keeps_nobody_waiting) {
    Search search = search_of(folds_of(3, true), 3);
    for (int i = 0; i < 3; ++i)
        asked(search);
    told(search, 0, 1, 0.1);
    told(search, 0, 2, 0.1);
    told(search, 1, 1, std::numeric_limits<double>::infinity());
    EXPECT_EQ(search.trials()[1].state, TrialState::stopped);
    EXPECT_EQ(brief(search.on(EndEvent{2, true})), "keep 0");
    EXPECT_EQ(brief(search.on(RetryEvent{2})), "");
    EXPECT_EQ(search.trials()[2].state, TrialState::failed) << "the others have gone on";
    EXPECT_EQ(brief({asked(search)}), "resume 0 to 3");
    EXPECT_EQ(told(search, 0, 3, 0.1), "complete 0");
    EXPECT_EQ(brief({asked(search)}), "finish");
}

TEST(FoldRace, more_trials_are_another_wave) {
    Search search = search_of(folds_of(2, true, 4), 1);
    asked(search);
    told(search, 0, 1, 0.2);
    told(search, 0, 2, 0.2);
    EXPECT_EQ(brief({asked(search)}), "finish");
    search.on(ExtendEvent{2});
    EXPECT_EQ(brief({asked(search)}), "start 1 to 2");
}

// Goal: decisions are the same with any number of cores and in any order of ends.
TEST(FoldRace, decisions_depend_on_the_values_alone) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Table table = noisy_table(24, 5, 0.2, seed);
        const RaceResult alone = race(search_of(folds_of(5, true, 8), 24), table, 1, seed);
        for (const std::int64_t cores : {2, 5, 64}) {
            const RaceResult many = race(search_of(folds_of(5, true, 8), 24), table, cores, ~seed);
            EXPECT_EQ(many.decisions, alone.decisions) << "seed " << seed << " cores " << cores;
            EXPECT_EQ(many.best, alone.best);
            EXPECT_EQ(many.folds, alone.folds);
        }
    }
}

// Goal: the confidence means what it says: how often the trial that would have won is ended.
TEST(FoldRace, the_winner_is_rarely_ended) {
    int changed = 0;
    std::size_t trained = 0;
    constexpr int races = 300;
    for (std::uint64_t seed = 0; seed < races; ++seed) {
        const Table table = noisy_table(12, 5, 0.1, seed);
        const RaceResult whole = race(search_of(folds_of(5, false), 12), table, 4, 1);
        const RaceResult pruned = race(search_of(folds_of(5, true), 12), table, 4, 1);
        changed += whole.best != pruned.best ? 1 : 0;
        for (const std::size_t folds : pruned.folds)
            trained += folds;
    }
    EXPECT_LT(changed, races / 20);
    EXPECT_LT(trained, std::size_t(races) * 12 * 5 * 7 / 10) << "and still 30 % are saved";
}

// Goal: on a recorded sweep (bench/fold_race.py says how) pruning saves at least 30 % of the
// core-seconds and finds the same winner, at any number of trials at a time.
TEST(FoldRace, a_recorded_sweep_needs_less_and_has_the_same_winner) {
    std::ifstream file(SLIPWAY_SOURCE_DIR "/tests/scheduler/search/recorded_folds.json");
    const Json recorded = Json::parse(file);
    FoldSearch folds;
    for (const Json& size : recorded.at("sizes"))
        folds.sizes.push_back({.train = size.at("train"), .val = size.at("val")});
    Table table;
    double whole_s = 0;
    for (const Json& trial : recorded.at("trials")) {
        table.push_back(trial.at("values"));
        for (const double core_s : trial.at("core_s"))
            whole_s += core_s;
    }
    const auto trials = std::int64_t(table.size());
    const RaceResult whole = race(search_of(folds, trials), table, 4, 1);
    folds.pruning = FoldPruningSpec{};
    const RaceResult pruned = race(search_of(folds, trials), table, 4, 1);
    double pruned_s = 0;
    for (std::size_t trial = 0; trial < table.size(); ++trial)
        for (std::size_t fold = 0; fold < pruned.folds[trial]; ++fold)
            pruned_s += recorded.at("trials").at(trial).at("core_s").at(fold).get<double>();
    const double saved = 1 - pruned_s / whole_s;
    RecordProperty("saved_percent", int(100 * saved));
    std::printf("%lld trials of %zu folds: %.1f core-seconds instead of %.1f, %.0f %% saved\n",
                static_cast<long long>(trials), folds.sizes.size(), pruned_s, whole_s, 100 * saved);
    EXPECT_EQ(pruned.best, whole.best);
    EXPECT_GE(saved, 0.3);
    EXPECT_EQ(race(search_of(folds, trials), table, 16, 2).decisions, pruned.decisions);
}

}    // namespace

}    // namespace slipway::search
