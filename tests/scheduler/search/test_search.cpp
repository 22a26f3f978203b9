#include "scheduler/search/search.h"

#include <cmath>
#include <map>

#include "api/base/error.h"
#include "tests/scheduler/search/plans.h"

namespace slipway::search {
namespace {

constexpr const char* mixed_space =
    R"({"space": {"lr": {"type": "log_uniform", "min": 1e-4, "max": 1},
                  "layers": {"type": "int_uniform", "min": 1, "max": 9},
                  "opt": {"type": "choice", "values": ["sgd", "adam"]},
                  "momentum": {"type": "uniform", "min": 0, "max": 1, "when": {"opt": "sgd"}}},
        "constraints": ["layers < 9 or lr < 0.5"]})";

constexpr const char* algorithms[] = {
    R"({"name": "random"})",
    R"({"name": "sobol"})",
    R"({"name": "tpe"})",
    R"({"name": "asha", "max_time": 9})",
    R"({"name": "asha", "max_time": 9, "mode": "promote", "brackets": 2,
        "sampler": {"name": "tpe", "startup_trials": 5}})",
    R"({"name": "hyperband", "max_time": 9})",
    R"({"name": "median_stop", "min_samples": 2})",
    R"({"name": "pbt", "population": 6, "max_time": 8})"};

double curve(const Point& point, std::int64_t time) {
    const double lr = point.at("lr").get<double>();
    if (lr > 0.7) return std::nan("");
    return std::abs(std::log10(lr) + 2) + 1.0 / double(time) + 0.01 * point.at("layers").get<int>();
}

struct FullRun {
    std::vector<SearchEvent> events;
    std::vector<SearchEvent> logged;    ///< with the places of points that are dear to choose
    std::string log;
};

/// A whole search on so many cores, each trial an epoch at a time; some trials fail.
FullRun run_search(const SearchPlan& plan, std::size_t cores) {
    Search search(compiled_space(mixed_space), plan);
    FullRun made;
    const auto apply = [&](const SearchEvent& event) {
        made.events.push_back(event);
        std::vector<Decision> decisions = search.on(event);
        made.logged.push_back(event);
        if (std::holds_alternative<AskEvent>(event))
            made.logged.back() = AskEvent{.unit = search.unit_for_log(decisions.back())};
        made.log += log_of(decisions);
        return decisions;
    };
    std::map<std::int64_t, std::int64_t> running;    // trial -> time
    for (int turn = 0; turn < 10000; ++turn) {
        while (running.size() < cores) {
            const Decision answer = apply(AskEvent{}).back();
            if (answer.action == Action::finish && running.empty()) return made;
            if (answer.trial < 0) break;
            const auto& reports = search.trials()[std::size_t(answer.trial)].reports;
            running[answer.trial] = reports.empty() ? 0 : reports.back().time;
        }
        const auto [trial, time] = *std::next(running.begin(), turn % int(running.size()));
        if (trial % 11 == 7 && time == 2) {
            apply(EndEvent{trial, true});
            running.erase(trial);
            continue;
        }
        running[trial] = time + 1;
        apply(ReportEvent{trial, time + 1,
                          curve(search.trials()[std::size_t(trial)].point, time + 1)});
        const Trial& after = search.trials()[std::size_t(trial)];
        if (after.state == TrialState::running && after.until == 0 && time + 1 == 6)
            apply(EndEvent{trial, false});
        if (after.state != TrialState::running) running.erase(trial);
    }
    ADD_FAILURE() << "no end";
    return made;
}

// Goal: after a crash at any moment a search goes on as if nothing had happened.
// Method: every prefix of the events gives the same decisions from then on, and the same trials.
TEST(Search, every_algorithm_is_rebuilt_from_its_events) {
    for (const char* algorithm : algorithms) {
        const SearchPlan plan = plan_of(algorithm, 25);
        const FullRun whole = run_search(plan, 4);
        EXPECT_NE(whole.log.find("\"start\""), std::string::npos) << algorithm;
        const std::size_t stride = std::max<std::size_t>(1, whole.events.size() / 7);
        for (std::size_t cut = 0; cut <= whole.events.size(); cut += stride) {
            const std::span events(whole.events);
            Search fresh(compiled_space(mixed_space), plan);
            std::string before;
            for (const SearchEvent& event : events.first(cut))
                before += log_of(fresh.on(event));
            Search again = replayed(compiled_space(mixed_space), plan, events.first(cut));
            std::string after;
            for (const SearchEvent& event : events.subspan(cut))
                after += log_of(again.on(event));
            ASSERT_EQ(before + after, whole.log) << algorithm << " cut at " << cut;
        }
    }
}

// Goal: reading a log costs the same for each line, however many results an algorithm compares.
// Method: from every prefix with the places of its points the search goes on as the one that chose
// them, and only where choosing is dear are they kept.
TEST(Search, points_of_a_log_are_not_chosen_again) {
    for (const char* algorithm : algorithms) {
        const SearchPlan plan = plan_of(algorithm, 25);
        const FullRun whole = run_search(plan, 4);
        std::size_t kept = 0;
        for (const SearchEvent& event : whole.logged)
            if (const auto* ask = std::get_if<AskEvent>(&event)) kept += ask->unit.empty() ? 0 : 1;
        const bool is_dear = std::string_view(algorithm).find("tpe") != std::string_view::npos;
        EXPECT_EQ(kept, is_dear ? 25 : 0) << algorithm;
        for (std::size_t cut = 0; cut <= whole.events.size(); cut += whole.events.size() / 7) {
            const std::span logged(whole.logged);
            Search chosen =
                replayed(compiled_space(mixed_space), plan, std::span(whole.events).first(cut));
            Search read = replayed(compiled_space(mixed_space), plan, logged.first(cut));
            ASSERT_EQ(read.trials().size(), chosen.trials().size());
            for (std::size_t i = 0; i < read.trials().size(); ++i) {
                EXPECT_EQ(read.trials()[i].unit, chosen.trials()[i].unit) << algorithm;
                EXPECT_EQ(read.trials()[i].point, chosen.trials()[i].point) << algorithm;
            }
            for (const SearchEvent& event : std::span(whole.events).subspan(cut))
                ASSERT_EQ(log_of(read.on(event)), log_of(chosen.on(event))) << algorithm;
        }
    }
}

TEST(Search, a_place_of_another_space_is_not_taken) {
    const SearchPlan plan = plan_of(R"({"name": "tpe", "startup_trials": 1})", 5);
    Search search(compiled_space(one_number), plan);
    Search other(compiled_space(one_number), plan);
    for (Search* each : {&search, &other}) {
        each->on(AskEvent{});
        each->on(ReportEvent{0, 1, 0.5});
        each->on(EndEvent{0, false});
    }
    EXPECT_EQ(log_of(search.on(AskEvent{.unit = {0.5, 0.5}})), log_of(other.on(AskEvent{})));
}

/// The least judged loss, the first of equal ones, by looking at all.
std::optional<std::int64_t> best_by_scan(const Search& search) {
    std::optional<std::int64_t> best;
    double least = worst_loss;
    for (const Trial& trial : search.trials()) {
        if (trial.reports.empty()) continue;
        const double loss = judged_report(trial, search.plan().selection).loss;
        if (loss >= least) continue;
        least = loss;
        best = trial.number;
    }
    return best;
}

TEST(Search, the_best_trial_is_the_one_that_a_look_at_all_finds) {
    for (const ObjectiveSelection selection : {ObjectiveSelection::best, ObjectiveSelection::last})
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            SearchPlan plan = plan_of(R"({"name": "random"})", 6);
            plan.selection = selection;
            Search search(compiled_space(one_number), plan);
            for (int i = 0; i < 6; ++i)
                search.on(AskEvent{});
            EXPECT_EQ(search.best_trial(), std::nullopt);
            Draws draws(seed, DrawSite::random, 0);
            for (std::int64_t time = 1; time <= 20; ++time) {
                const auto drawn = draws.next_below(5);    // few values, so that some are equal
                const double value = drawn == 4 ? std::nan("") : double(drawn);
                search.on(ReportEvent{std::int64_t(draws.next_below(6)), time, value});
                ASSERT_EQ(search.best_trial(), best_by_scan(search)) << seed << " at " << time;
            }
        }
}

TEST(Search, runs_with_one_seed_are_equal_and_with_another_are_not) {
    for (const char* algorithm : algorithms) {
        SearchPlan plan = plan_of(algorithm, 25);
        const std::string log = run_search(plan, 3).log;
        EXPECT_EQ(run_search(plan, 3).log, log) << algorithm;
        plan.seed = 2;
        EXPECT_NE(run_search(plan, 3).log, log) << algorithm;
    }
}

// Goal: synchronous algorithms decide the same whatever the number of cores.
TEST(Search, generations_do_not_depend_on_the_number_of_cores) {
    const SearchPlan plan = plan_of(R"({"name": "pbt", "population": 6, "max_time": 8})", 6);
    std::map<std::size_t, std::string> exploits;
    for (const std::size_t cores : {1U, 3U, 8U}) {
        const std::string log = run_search(plan, cores).log;
        for (std::size_t at = 0; at < log.size();) {
            const std::size_t end = log.find('\n', at);
            const std::string line = log.substr(at, end - at);
            if (line.find("\"exploit\"") != std::string::npos) exploits[cores] += line + "\n";
            at = end + 1;
        }
    }
    EXPECT_NE(exploits[1], "");
    EXPECT_EQ(exploits[1], exploits[3]);
    EXPECT_EQ(exploits[1], exploits[8]);
}

TEST(Search, decisions_are_pinned) {
    std::uint64_t hash = 0;
    for (const char* algorithm : algorithms)
        for (const char c : run_search(plan_of(algorithm, 25), 4).log)
            hash = mixed_bits(hash + std::uint64_t(static_cast<unsigned char>(c)));
    // Another compiler, library or machine must not change this; a change of an algorithm or of a
    // reason does.
    EXPECT_EQ(hash, 9523615642566931734U);
}

TEST(Search, events_of_unknown_trials_are_refused) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "random"})", 5));
    asked(search);
    EXPECT_THROW(search.on(ReportEvent{1, 1, 0.5}), Error);
    EXPECT_THROW(search.on(EndEvent{-1, false}), Error);
    EXPECT_EQ(search.trials().size(), 1u);
}

TEST(Search, the_limit_holds_and_can_be_raised) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "random"})", 2));
    asked(search);
    asked(search);
    EXPECT_EQ(asked(search).action, Action::wait);
    search.on(EndEvent{0, false});
    search.on(EndEvent{1, true});
    const Decision last = asked(search);
    EXPECT_EQ(last.action, Action::finish);
    EXPECT_EQ(last.reason, "every trial has ended (2)");
    search.on(ExtendEvent{3});
    EXPECT_EQ(brief({asked(search)}), "start 2 to 0");
    search.on(ExtendEvent{1});    // never fewer
    EXPECT_EQ(search.plan().max_trials, 3);
}

TEST(Search, the_best_trial_follows_the_selection) {
    for (const ObjectiveSelection selection :
         {ObjectiveSelection::best, ObjectiveSelection::last}) {
        SearchPlan plan = plan_of(R"({"name": "random"})", 3);
        plan.selection = selection;
        plan.mode = MetricMode::max;
        Search search(compiled_space(one_number), plan);
        EXPECT_EQ(search.best_trial(), std::nullopt);
        for (int i = 0; i < 3; ++i)
            asked(search);
        search.on(ReportEvent{0, 1, std::nan("")});
        EXPECT_EQ(search.best_trial(), std::nullopt);
        search.on(ReportEvent{1, 1, 0.9});
        search.on(ReportEvent{1, 2, 0.1});
        search.on(ReportEvent{2, 1, 0.5});
        EXPECT_EQ(search.best_trial(), selection == ObjectiveSelection::best ? 1 : 2);
    }
}

TEST(Search, a_decision_without_a_finite_value_is_written_as_null) {
    Search search(compiled_space(one_number), plan_of(R"({"name": "asha", "max_time": 9})", 2));
    asked(search);
    EXPECT_EQ(encode(search.on(ReportEvent{0, 1, std::nan("")}).at(0)).at("value"), nullptr);
}

}    // namespace
}    // namespace slipway::search
