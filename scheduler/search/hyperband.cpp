// Hyperband with synchronous rounds, so that its table can be read off the log. Brackets do not
// wait for one another: whoever is free and finds nothing to do in an open bracket opens the next.
// The rounding of sizes is that of the paper's table 1; its algorithm 1 rounds up and disagrees
// with it.
//
// What holds: trials of a bracket are in one round at a time; `waiting_` of a round are those that
// were neither started nor resumed in it; a round is judged once, when none waits and none runs.

#include "scheduler/search/hyperband.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "scheduler/search/rungs.h"

namespace slipway::search {

namespace {

constexpr std::string_view hyperband_rule = "hyperband";

class Hyperband final : public TrialPolicy {
public:
    Hyperband(const AlgorithmSpec& spec, ObjectiveSelection selection)
        : spec_(spec),
          selection_(selection),
          tables_(hyperband_brackets(spec.min_time, spec.max_time, spec.reduction_factor)) {}

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>& others) override {
        if (startable == 0) end_starts(trials, others);
        for (std::size_t index = 0; index < open_.size(); ++index) {
            Bracket& bracket = open_[index];
            if (!bracket.to_resume.empty()) return resume(bracket, index);
            if (bracket.unstarted > 0 && startable > 0) return begin(index);
        }
        if (startable > 0) {
            const auto& table = tables_[open_.size() % tables_.size()];
            const std::int64_t size = std::min(table.front().trials, startable);
            open_.push_back({.table = &table, .size = size, .unstarted = size});
            return begin(open_.size() - 1);
        }
        return start_or_wait(trials, 0, hyperband_rule);
    }

    void on_start(const Trial& trial) override {
        Bracket& bracket = open_[std::size_t(trial.bracket)];
        --bracket.unstarted;
        bracket.running.push_back(trial.number);
    }

    std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                    std::int64_t number) override {
        const Trial& trial = trials[std::size_t(number)];
        Bracket& bracket = open_[std::size_t(trial.bracket)];
        if (trial.reports.back().time < trial.until) return {};
        std::erase(bracket.running, number);
        const TrialReport& judged = judged_report(trial, selection_);
        bracket.results.add({number, judged.loss, judged.value});
        std::vector<Decision> decisions{arrival(bracket, trial, judged)};
        judge_round(bracket, trials, decisions);
        return decisions;
    }

    std::vector<Decision> on_end(const std::vector<Trial>& trials, std::int64_t number) override {
        Bracket& bracket = open_[std::size_t(trials[std::size_t(number)].bracket)];
        std::vector<Decision> decisions;
        std::erase(bracket.running, number);
        std::erase(bracket.to_resume, number);
        judge_round(bracket, trials, decisions);
        return decisions;
    }

private:
    struct Bracket {
        const std::vector<HyperbandRound>* table = nullptr;    // of tables_
        std::size_t round = 0;
        std::int64_t size = 0;    // trials that it begins with
        std::int64_t unstarted = 0;
        std::vector<std::int64_t> running = {};
        std::deque<std::int64_t> to_resume = {};    // best first
        Rung results = {};                          // of this round

        std::int64_t time() const { return (*table)[round].time; }
        bool is_last_round() const { return round + 1 == table->size(); }
    };

    Decision begin(std::size_t index) const {
        return {.action = Action::start,
                .rule = hyperband_rule,
                .until = open_[index].time(),
                .bracket = std::int64_t(index),
                .reason = ""};
    }

    Decision resume(Bracket& bracket, std::size_t index) {
        const std::int64_t number = bracket.to_resume.front();
        bracket.to_resume.pop_front();
        bracket.running.push_back(number);
        return {.action = Action::resume,
                .rule = hyperband_rule,
                .trial = number,
                .until = bracket.time(),
                .rung = std::int64_t(bracket.round),
                .reason = fmt::format("bracket {}, round {}: it goes on to {} {}", index,
                                      bracket.round, to_string(spec_.time_attr), bracket.time())};
    }

    Decision arrival(const Bracket& bracket, const Trial& trial, const TrialReport& judged) const {
        return {.action = bracket.is_last_round() ? Action::complete : Action::pause,
                .rule = hyperband_rule,
                .trial = trial.number,
                .rung = std::int64_t(bracket.round),
                .time = trial.reports.back().time,
                .value = judged.value,
                .reason = fmt::format("bracket {}, round {}: {}", trial.bracket, bracket.round,
                                      bracket.is_last_round() ? "it has reached max_time"
                                                              : "it waits for the round's end")};
    }

    /// A sampler may run out of points in the middle of a round.
    void end_starts(const std::vector<Trial>& trials, std::vector<Decision>& others) {
        for (Bracket& bracket : open_) {
            if (bracket.unstarted == 0) continue;
            bracket.size -= bracket.unstarted;
            bracket.unstarted = 0;
            judge_round(bracket, trials, others);
        }
    }

    /// Ends the round when nothing of it is left to come.
    void judge_round(Bracket& bracket, const std::vector<Trial>& trials,
                     std::vector<Decision>& decisions) {
        if (!bracket.running.empty() || !bracket.to_resume.empty() || bracket.unstarted > 0) return;
        close_round(bracket, trials, decisions);
    }

    void close_round(Bracket& bracket, const std::vector<Trial>& trials,
                     std::vector<Decision>& decisions) {
        if (bracket.is_last_round()) return;
        const std::vector<RungEntry> entries = bracket.results.entries();
        const std::int64_t round = std::int64_t(bracket.round++);
        std::int64_t kept = bracket.size;
        for (std::int64_t i = 0; i <= round; ++i)
            kept /= spec_.reduction_factor;
        kept = std::max<std::int64_t>(1, kept);
        bracket.results = {};
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Trial& trial = trials[std::size_t(entries[i].trial)];
            const bool goes_on = std::int64_t(i) < kept && entries[i].loss != worst_loss;
            if (trial.state == TrialState::failed || trial.state == TrialState::completed) continue;
            if (goes_on) bracket.to_resume.push_back(trial.number);
            decisions.push_back(
                {.action = goes_on ? Action::keep : Action::stop,
                 .rule = hyperband_rule,
                 .trial = trial.number,
                 .rung = round,
                 .time = trial.reports.back().time,
                 .value = entries[i].value,
                 .rank = std::int64_t(i) + 1,
                 .of = std::int64_t(entries.size()),
                 .reason = fmt::format("bracket {}, round {}: rank {} of {}; {} go on",
                                       trial.bracket, round, i + 1, entries.size(), kept)});
        }
    }

    AlgorithmSpec spec_;
    ObjectiveSelection selection_;
    std::vector<std::vector<HyperbandRound>> tables_;
    std::vector<Bracket> open_;
};

}    // namespace

std::vector<std::vector<HyperbandRound>> hyperband_brackets(std::int64_t min_time,
                                                            std::int64_t max_time,
                                                            std::int64_t reduction_factor) {
    std::vector<std::int64_t> powers{1};
    while (max_time / (powers.back() * reduction_factor) >= min_time)
        powers.push_back(powers.back() * reduction_factor);
    std::vector<std::vector<HyperbandRound>> brackets;
    const std::int64_t s_max = std::int64_t(powers.size()) - 1;
    for (std::int64_t s = s_max; s >= 0; --s) {
        std::vector<HyperbandRound> rounds;
        const std::int64_t size = (s_max + 1) / (s + 1) * powers[std::size_t(s)];
        for (std::int64_t i = 0; i <= s; ++i) {
            rounds.push_back(
                {size / powers[std::size_t(i)], max_time / powers[std::size_t(s - i)]});
        }
        brackets.push_back(std::move(rounds));
    }
    return brackets;
}

std::unique_ptr<TrialPolicy> hyperband_policy(const AlgorithmSpec& spec,
                                              ObjectiveSelection selection) {
    return std::make_unique<Hyperband>(spec, selection);
}

}    // namespace slipway::search
