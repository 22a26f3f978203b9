#include "scheduler/cross_validation/fold_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/check.h"
#include "api/spec/task_spec.h"
#include "scheduler/store/stored_json.h"

namespace slipway {

namespace {

using search::FoldState;

constexpr auto fold_words = std::to_array<std::string_view>(
    {"waiting", "training", "predicting", "succeeded", "failed", "cancelled"});

FoldState parse_fold_state(std::string_view text) {
    const auto* const found = std::ranges::find(fold_words, text);
    check(found != fold_words.end(), "the database's states of folds are ours");
    return static_cast<FoldState>(found - fold_words.begin());
}

std::string reason_text(const std::string& what, const store::FoldJob& job) {
    std::string text = fmt::format("{} {}", what, to_string(job.state));
    if (job.reason) text += fmt::format(": {}: {}", job.reason->code, job.reason->message);
    return text;
}

/// A job that ended otherwise than it should.
void put_failure(store::FoldSettlement& settlement, const std::string& what,
                 const store::FoldJob& job) {
    settlement.state = job.state == JobState::cancelled ? "cancelled" : "failed";
    settlement.reason = reason_text(what, job);
}

double nonfinite_value(const Json& result, const std::string& name) {
    const auto words = result.find("nonfinite");
    if (words == result.end() || !words->is_object())
        return std::numeric_limits<double>::quiet_NaN();
    const std::string word = words->value(name, "nan");
    const double infinity = std::numeric_limits<double>::infinity();
    if (word == "inf") return infinity;
    return word == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

}    // namespace

search::FoldProgress progress_of(const store::StoredFold& fold) {
    const FoldState state = parse_fold_state(fold.state);
    return {.fold = fold.fold,
            .state = state,
            .awaits_prediction = state == FoldState::predicting && !fold.predicts,
            .reason = fold.reason};
}

std::optional<store::FoldSettlement> settlement_of(const store::StoredFold& fold, bool predicts) {
    const FoldState state = parse_fold_state(fold.state);
    const bool trains = state == FoldState::training;
    if (!trains && !(state == FoldState::predicting && fold.predicts)) return std::nullopt;
    const std::string what = trains ? "training" : "the job of its predictions";
    const auto& job = trains ? fold.training : fold.prediction;
    store::FoldSettlement settlement{.fold = fold.fold, .from = fold.state};
    if (!job) {
        settlement.state = "failed";
        settlement.reason = what + " was deleted before its result was read";
        return settlement;
    }
    if (!is_final(job->state)) return std::nullopt;
    settlement.job_id = fold.job_id;
    settlement.prediction_id = fold.prediction_id;
    if (job->state != JobState::succeeded) {
        put_failure(settlement, what, *job);
        return settlement;
    }
    if (trains) settlement.result = job->result;
    const bool goes_on = trains && predicts && fold.fold != store::StoredFold::refit;
    settlement.state = goes_on ? "predicting" : "succeeded";
    return settlement;
}

bool has_trained(const store::StoredFold& fold) {
    return fold.training && fold.training->state == JobState::succeeded && !fold.result.empty();
}

std::optional<std::string> failure_code(const store::StoredFold& fold) {
    const FoldState state = parse_fold_state(fold.state);
    if (state != FoldState::failed && state != FoldState::cancelled) return std::nullopt;
    const bool of_prediction = has_trained(fold) && fold.prediction;
    const auto& job = of_prediction ? fold.prediction : fold.training;
    if (!job) return fold.job_id.empty() ? "not_made" : "job_deleted";
    if (job->state == JobState::succeeded) return "no_result";
    return job->reason ? job->reason->code : std::string(to_string(job->state));
}

void apply(const store::FoldSettlement& settlement, store::StoredFold& fold) {
    fold.state = settlement.state;
    fold.reason = settlement.reason;
    if (!settlement.result.empty()) fold.result = settlement.result;
}

std::map<std::string, double> metrics_of(const store::StoredFold& fold) {
    const Json result = store::stored_json(fold.result);
    if (!result.is_object()) return {};
    std::map<std::string, double> metrics;
    for (const auto& [name, value] : result.items()) {
        if (!validation_metric(name)) continue;
        metrics[name] = value.is_number() ? value.get<double>() : nonfinite_value(result, name);
    }
    return metrics;
}

namespace {

MetricMode mode_of(const std::string& name) {
    const auto metric = validation_metric(name);
    const auto mode = metric ? better(*metric) : std::nullopt;
    return mode.value_or(MetricMode::min);
}

const store::StoredFold& fold_numbered(const std::vector<store::StoredFold>& folds,
                                       std::int64_t number) {
    return *std::ranges::find(folds, number, &store::StoredFold::fold);
}

}    // namespace

std::vector<std::int64_t> shared_folds(const std::vector<store::StoredFold>& first,
                                       const std::vector<store::StoredFold>& second) {
    std::vector<std::int64_t> shared;
    for (const store::StoredFold& fold : first) {
        if (fold.fold < 0 || fold.state != "succeeded") continue;
        const auto other = std::ranges::find(second, fold.fold, &store::StoredFold::fold);
        if (other != second.end() && other->state == "succeeded") shared.push_back(fold.fold);
    }
    return shared;
}

std::vector<ComparedMetric> compare(const std::vector<store::StoredFold>& first,
                                    const std::vector<store::StoredFold>& second) {
    const std::vector<std::int64_t> shared = shared_folds(first, second);
    std::map<std::string, std::vector<search::PairedFold>> pairs;
    for (const std::int64_t number : shared) {
        const store::StoredFold& fold = fold_numbered(first, number);
        const auto others = metrics_of(fold_numbered(second, number));
        for (const auto& [name, value] : metrics_of(fold)) {
            const auto other = others.find(name);
            if (other == others.end()) continue;
            pairs[name].push_back({.fold = number,
                                   .train_samples = fold.train_samples,
                                   .val_samples = fold.val_samples,
                                   .first = value,
                                   .second = other->second});
        }
    }
    std::vector<ComparedMetric> compared;
    for (auto& [name, folds] : pairs) {
        if (folds.size() != shared.size()) continue;
        const MetricMode mode = mode_of(name);
        const search::FoldComparison result = search::compare_folds(folds, mode);
        compared.push_back({name, mode, std::move(folds), result});
    }
    return compared;
}

std::vector<MetricOverFolds> summarize(const std::vector<store::StoredFold>& folds) {
    std::map<std::string, std::vector<search::FoldValue>> values;
    std::size_t succeeded = 0;
    for (const store::StoredFold& fold : folds) {
        if (fold.fold < 0 || fold.state != "succeeded") continue;
        ++succeeded;
        for (const auto& [name, value] : metrics_of(fold))
            values[name].push_back({fold.fold, fold.train_samples, fold.val_samples, value});
    }
    std::vector<MetricOverFolds> summary;
    for (const auto& [name, of_folds] : values) {
        if (of_folds.size() != succeeded) continue;
        summary.push_back(
            {.name = name, .mode = mode_of(name), .statistics = search::summarize_folds(of_folds)});
    }
    return summary;
}

}    // namespace slipway
