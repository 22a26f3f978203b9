// Both numbers are run in turns of a few runs each, since the machine changes while one looks. The
// first run of a turn does not count: its threads are new and its memory is cold. Medians are
// compared, so that a run that was interrupted does not decide.
//
// Whether fewer may pay is seen before they are tried: a run takes at least the time that all
// worked together, divided by them. Only where a run takes nearly as long as that now, the rest
// being waiting, is a program made for fewer. Long steps, which workers share well, never pay for a
// comparison. The fewest that may pay are tried first, since waiting takes about as long with two
// as with eight.
//
// Tried: a model of the barrier's cost, measured once when the process starts. The same process
// takes 0.2 or 0.8 ms for the same step, depending on where its threads are put.
#include "executor/engine/worker_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/base/plural.h"

namespace slipway {

namespace {

constexpr std::size_t window_runs = 12;
/// Of what fewer workers take at least: above, they may be as fast.
constexpr double worth_trying = 0.75;
/// Fewer workers leave a CPU to others; more must pay.
constexpr double fewer_may_lose = 1.02, more_must_gain = 0.95;
/// A pace that is another one.
constexpr double changed = 1.25;
constexpr double rest_s = 10, rest_of_changed_s = 1;
/// Of the time since the last comparison.
constexpr double comparison_share = 0.02;
constexpr double turn_s = 0.01, slow_run_s = 0.1;
constexpr int runs_a_turn_max = 8, turns = 6, turns_of_slow = 2;

double median(std::vector<double> values) {
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

double median_of(const std::vector<TimedRun>& runs, double TimedRun::*member) {
    std::vector<double> values;
    for (const TimedRun& run : runs)
        values.push_back(run.*member);
    return median(std::move(values));
}

int half_of(int workers) {
    return (workers + 1) / 2;
}

}    // namespace

void WorkerChoice::ran(const TimedRun& run) {
    if (granted_ == 1) return;
    if (is_comparing_)
        compare(run);
    else
        watch(run);
}

void WorkerChoice::cannot_run(int workers) {
    least_possible_ = std::max(least_possible_, workers + 1);
    // Chosen for another program, which takes less memory.
    if (workers_ <= workers) workers_ = granted_;
    is_comparing_ = runs_other_ = false;
    window_.clear();
}

void WorkerChoice::cannot_start(int workers) {
    restart();
    most_possible_ = std::min(most_possible_, std::max(1, workers - 1));
    workers_ = 1;
    why_ = fmt::format("1 of {}: the system refuses a further thread",
                       counted(granted_, "worker thread"));
    ++changes_;
}

void WorkerChoice::restart() {
    is_comparing_ = runs_other_ = false;
    window_.clear();
    settled_pace_s_ = 0;
    looks_up_ = false;
    slower_ = 0;
}

void WorkerChoice::watch(const TimedRun& run) {
    rested_s_ += run.seconds;
    if (to_skip_ > 0) {
        --to_skip_;
        return;
    }
    window_.push_back(run);
    if (window_.size() < window_runs) return;
    consider(median_of(window_, &TimedRun::seconds), median_of(window_, &TimedRun::working_s));
    window_.clear();
}

void WorkerChoice::consider(double pace_s, double working_s) {
    if (!may_compare(pace_s)) return;
    const int more = std::min(most_possible_, 2 * workers_);
    if (looks_up_ && more > workers_) return begin_comparison(more, pace_s);
    if (const int fewer = fewer_to_try(pace_s, working_s)) return begin_comparison(fewer, pace_s);
    settle(pace_s);
}

int WorkerChoice::fewer_to_try(double pace_s, double working_s) const {
    int fewest = 0;
    for (int fewer = half_of(workers_), before = workers_; fewer < before;
         before = fewer, fewer = half_of(fewer))
        if (fewer >= least_possible_ && fewer > slower_ &&
            pace_s >= worth_trying * working_s / double(fewer))
            fewest = fewer;
    return fewest;
}

void WorkerChoice::settle(double pace_s) {
    settled_pace_s_ = pace_s;
    looks_up_ = true;
    slower_ = 0;
}

bool WorkerChoice::may_compare(double pace_s) const {
    if (settled_pace_s_ == 0) return rested_s_ >= making_s_;
    const double ratio = pace_s / settled_pace_s_;
    const bool has_changed = ratio > changed || ratio < 1 / changed;
    const double rest = has_changed ? rest_of_changed_s : rest_s;
    return rested_s_ >= std::max(rest, comparison_s_ / comparison_share);
}

void WorkerChoice::begin_comparison(int other, double pace_s) {
    is_comparing_ = runs_other_ = true;
    other_ = other;
    turns_left_ = pace_s > slow_run_s ? turns_of_slow : turns;
    runs_a_turn_ = 1 + std::clamp(int(turn_s / pace_s), 1, runs_a_turn_max);
    left_of_turn_ = runs_a_turn_;
    times_.clear();
    times_of_other_.clear();
    comparison_s_ = 0;
}

void WorkerChoice::compare(const TimedRun& run) {
    comparison_s_ += run.seconds;
    const bool is_first = left_of_turn_-- == runs_a_turn_;
    if (!is_first) (runs_other_ ? times_of_other_ : times_).push_back(run.seconds);
    if (left_of_turn_ > 0) return;
    left_of_turn_ = runs_a_turn_;
    runs_other_ = !runs_other_;
    if (--turns_left_ == 0) end_comparison();
}

void WorkerChoice::end_comparison() {
    is_comparing_ = runs_other_ = false;
    const double mine_s = median(times_), other_s = median(times_of_other_);
    const bool is_fewer = other_ < workers_;
    const bool takes_other = other_s <= mine_s * (is_fewer ? fewer_may_lose : more_must_gain);
    const int few = std::min(workers_, other_), many = std::max(workers_, other_);
    const double few_s = is_fewer ? other_s : mine_s, many_s = is_fewer ? mine_s : other_s;
    if (takes_other) workers_ = other_;
    why_ = fmt::format("{} of {}: a step takes {:.3g} ms with {} and {:.3g} ms with {}", workers_,
                       counted(granted_, "worker thread"), 1e3 * few_s, few, 1e3 * many_s, many);
    ++changes_;
    rested_s_ = 0;
    to_skip_ = 2;
    window_.clear();
    settled_pace_s_ = 0;
    // The numbers between those compared, and those beyond, may be better still.
    if (is_fewer && !takes_other) slower_ = few;
    looks_up_ = takes_other && (is_fewer ? 2 * few < many : workers_ < most_possible_);
    if (!is_fewer && !takes_other) settle(mine_s);
}

}    // namespace slipway
