// A search is a fold over its events. The sampler chooses points, the policy compares trials; this
// file is the only one that changes trials, and does so by the decisions that it returns, so the
// log of decisions says everything that was done. Keeping the state of samplers and policies in the
// database was the alternative: every algorithm would need a format of its own, and a defect in one
// would be restored with it.

#include "scheduler/search/search.h"

#include <fmt/format.h>

#include "api/base/error.h"
#include "scheduler/search/asha.h"
#include "scheduler/search/hyperband.h"
#include "scheduler/search/median_stop.h"
#include "scheduler/search/pbt.h"

namespace slipway::search {

namespace {

std::unique_ptr<TrialPolicy> make_policy(const SearchPlan& plan, const Space& space) {
    if (plan.folds) return fold_policy(*plan.folds, plan.mode);
    switch (plan.algorithm.name) {
        case SearchMethod::asha:
            return asha_policy(plan.algorithm, plan.selection);
        case SearchMethod::hyperband:
            return hyperband_policy(plan.algorithm, plan.selection);
        case SearchMethod::median_stop:
            return median_stop_policy(plan.algorithm, plan.mode);
        case SearchMethod::pbt:
            return pbt_policy(plan.algorithm, space, plan.seed);
        case SearchMethod::grid:
        case SearchMethod::random:
        case SearchMethod::sobol:
        case SearchMethod::tpe:
            break;
    }
    return run_all_policy(to_string(plan.algorithm.name));
}

}    // namespace

Search::Search(Space space, SearchPlan plan)
    : space_(std::make_unique<const Space>(std::move(space))), plan_(std::move(plan)) {
    sampler_ = make_sampler(sampler_of(plan_.algorithm), {.space = *space_,
                                                          .seed = plan_.seed,
                                                          .mode = plan_.mode,
                                                          .selection = plan_.selection,
                                                          .known = plan_.known});
    policy_ = make_policy(plan_, *space_);
    points_max_ = space_->points_max();
}

std::vector<Decision> Search::on(const SearchEvent& event) {
    if (const auto* reported = std::get_if<ReportEvent>(&event)) return report(*reported);
    if (const auto* ended = std::get_if<EndEvent>(&event)) return end(*ended);
    if (const auto* retried = std::get_if<RetryEvent>(&event)) return retry(*retried);
    if (const auto* extended = std::get_if<ExtendEvent>(&event)) {
        plan_.max_trials = std::max(plan_.max_trials, extended->max_trials);
        return {};
    }
    return ask(std::get<AskEvent>(event));
}

std::vector<double> Search::unit_for_log(const Decision& answer) const {
    return answer.action == Action::start && sampler_->is_dear() ? answer.unit
                                                                 : std::vector<double>();
}

/// worst_loss for a trial that cannot be the best one.
double Search::judged_loss(const Trial& one) const {
    if (one.reports.empty()) return worst_loss;
    if (plan_.folds && one.reports.size() < plan_.folds->sizes.size()) return worst_loss;
    return judged_report(one, plan_.selection).loss;
}

void Search::find_best() {
    best_.reset();
    least_ = worst_loss;
    for (const Trial& one : trials_)
        compare_with_best(one);
}

/// Each report asks for this, so it looks at one trial, unless the best one has become worse.
void Search::compare_with_best(const Trial& one) {
    const double loss = judged_loss(one);
    if (best_ == one.number && loss > least_) return find_best();
    if (loss < least_ || (loss == least_ && best_ > one.number)) {
        best_ = one.number;
        least_ = loss;
    }
}

std::vector<Decision> Search::ask(const AskEvent& event) {
    std::vector<Decision> decisions;
    Decision answer = policy_->next(trials_, startable(), decisions);
    if (answer.action == Action::start) {
        const std::int64_t number = std::int64_t(trials_.size());
        const Proposal proposal = propose(number, event.unit);
        effort_ += proposal.effort;
        if (proposal.exists) {
            start(answer, proposal);
        } else {
            exhausted_ = proposal.reason;
            answer = policy_->next(trials_, 0, decisions);
            if (answer.action == Action::finish) answer.reason = exhausted_;
        }
    }
    decisions.push_back(std::move(answer));
    for (const Decision& decision : decisions)
        apply(decision);
    return decisions;
}

std::int64_t Search::startable() const {
    return exhausted_.empty() ? plan_.max_trials - std::int64_t(trials_.size()) : 0;
}

Proposal Search::propose(std::int64_t number, const std::vector<double>& unit) {
    if (std::size_t(number) >= plan_.start_points.size())
        return unit.size() == space_->dimension() ? sampler_->repeat(trials_, number, unit)
                                                  : sampler_->propose(trials_, number);
    return completed_proposal(*space_, plan_.start_points[std::size_t(number)], plan_.seed,
                              std::uint64_t(number));
}

void Search::start(Decision& answer, const Proposal& proposal) {
    answer.trial = std::int64_t(trials_.size());
    answer.reason = proposal.reason;
    if (points_max_ && trials_.size() >= *points_max_)
        answer.reason +=
            fmt::format("; the space has {} points, so values come again", *points_max_);
    answer.unit = proposal.unit;
    answer.point = proposal.point;
    trials_.push_back({.number = answer.trial,
                       .unit = proposal.unit,
                       .point = proposal.point,
                       .until = answer.until,
                       .bracket = answer.bracket});
    policy_->on_start(trials_.back());
}

std::vector<Decision> Search::report(const ReportEvent& event) {
    Trial& one = trial(event.trial);
    if (one.state != TrialState::running || !add_report(one, event)) return {};
    std::vector<Decision> decisions = policy_->on_report(trials_, event.trial);
    for (const Decision& decision : decisions)
        apply(decision);
    return decisions;
}

/// False: it is not the next one.
bool Search::add_report(Trial& one, const ReportEvent& event) {
    double value = event.value;
    if (plan_.folds) {
        const std::size_t done = one.fold_values.size();
        if (event.time != std::int64_t(done) + 1 || done >= plan_.folds->sizes.size()) return false;
        one.fold_values.push_back(event.value);
        value = fold_mean(*plan_.folds, one.fold_values);
    } else if (!one.reports.empty() && event.time <= one.reports.back().time) {
        return false;
    }
    one.reports.push_back({event.time, value, loss_of(value, plan_.mode)});
    compare_with_best(one);
    return true;
}

std::vector<Decision> Search::end(const EndEvent& event) {
    Trial& one = trial(event.trial);
    if (one.state != TrialState::running && one.state != TrialState::paused) return {};
    one.state = event.failed ? TrialState::failed : TrialState::completed;
    std::vector<Decision> decisions = policy_->on_end(trials_, event.trial);
    for (const Decision& decision : decisions)
        apply(decision);
    return decisions;
}

bool can_retry(SearchMethod method, bool races) {
    return !races && method != SearchMethod::hyperband && method != SearchMethod::pbt;
}

std::vector<Decision> Search::retry(const RetryEvent& event) {
    Trial& one = trial(event.trial);
    const bool races = plan_.folds && plan_.folds->pruning;
    if (one.state != TrialState::failed || !can_retry(plan_.algorithm.name, races)) return {};
    Decision decision{.action = Action::retry,
                      .rule = to_string(plan_.algorithm.name),
                      .trial = one.number,
                      .reason = "it failed before its first value and is retried"};
    if (!one.reports.empty()) {
        decision.time = one.reports.back().time;
        decision.value = one.reports.back().value;
        decision.reason = fmt::format("it failed after {} {} and is retried",
                                      plan_.folds ? "fold" : to_string(plan_.algorithm.time_attr),
                                      *decision.time);
    }
    apply(decision);
    return {std::move(decision)};
}

void Search::apply(const Decision& decision) {
    if (decision.trial < 0) return;
    Trial& one = trials_[std::size_t(decision.trial)];
    switch (decision.action) {
        case Action::retry:
            one.state = TrialState::running;
            break;
        case Action::resume:
            one.state = TrialState::running;
            one.until = decision.until;
            break;
        case Action::pause:
            one.state = TrialState::paused;
            break;
        case Action::stop:
            one.state = TrialState::stopped;
            break;
        case Action::complete:
            one.state = TrialState::completed;
            break;
        case Action::exploit:
            one.unit = decision.unit;
            one.point = decision.point;
            one.lineage.push_back({*decision.time, *decision.source, *decision.source_time});
            break;
        case Action::start:
        case Action::keep:
        case Action::wait:
        case Action::finish:
            break;
    }
}

Trial& Search::trial(std::int64_t number) {
    if (number < 0 || number >= std::int64_t(trials_.size())) {
        throw Error{ErrorCode::not_found,
                    fmt::format("there is no trial {}; there are {}, counted from 0", number,
                                trials_.size())};
    }
    return trials_[std::size_t(number)];
}

Search replayed(Space space, SearchPlan plan, std::span<const SearchEvent> events) {
    Search search(std::move(space), std::move(plan));
    for (const SearchEvent& event : events)
        search.on(event);
    return search;
}

}    // namespace slipway::search
