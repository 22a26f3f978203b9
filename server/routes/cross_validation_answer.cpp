#include "server/routes/cross_validation_answer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "scheduler/cross_validation/fold_progress.h"
#include "server/routes/render.h"

namespace slipway {

namespace {

Json known_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json number_or_null(const std::optional<double>& number) {
    return number && std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

Json render_fold_counts(const store::CrossValidation& one) {
    Json counts{{"total", nullptr}};
    std::int64_t total = 0;
    for (const char* state :
         {"waiting", "training", "predicting", "succeeded", "failed", "cancelled"}) {
        const auto found = one.fold_states.find(state);
        const std::int64_t folds = found == one.fold_states.end() ? 0 : found->second;
        counts[state] = folds;
        total += folds;
    }
    if (total > 0) counts["total"] = total;
    return counts;
}

Json render_metrics(const store::StoredFold& fold) {
    if (fold.result.empty()) return nullptr;
    Json metrics = Json::object();
    for (const auto& [name, value] : metrics_of(fold))
        metrics[name] = number_or_null(value);
    return metrics;
}

Json epoch_of(const store::StoredFold& fold) {
    const Json result = stored_json(fold.result);
    return result.is_object() && result.contains("epoch") ? result.at("epoch") : Json(nullptr);
}

/// The metric that has chosen each fold's epoch on the samples that the fold is measured on.
Json chosen_by(const store::CrossValidation& of) {
    const Json spec = stored_json(of.spec);
    const Json::json_pointer place("/job/train/early_stopping/metric");
    return spec.contains(place) ? spec.at(place) : Json(nullptr);
}

/// Of the split's report: what is in both sides of a fold.
Json counts_of_fold(const Json& report, std::int64_t fold) {
    if (!report.is_object() || !report.contains("parts")) return nullptr;
    const Json& parts = report.at("parts");
    if (!parts.is_array() || fold >= std::int64_t(parts.size())) return nullptr;
    return parts.at(std::size_t(fold));
}

Json render_statistics(const MetricOverFolds& metric) {
    const search::FoldStatistics& of = metric.statistics;
    return {{"name", metric.name},
            {"mode", to_string(metric.mode)},
            {"folds", of.folds},
            {"nonfinite", of.nonfinite},
            {"mean", number_or_null(of.mean)},
            {"std", number_or_null(of.std)},
            {"standard_error", number_or_null(of.standard_error)},
            {"corrected_error", number_or_null(of.corrected_error)},
            {"weighted_mean", number_or_null(of.weighted_mean)},
            {"weighted_standard_error", number_or_null(of.weighted_standard_error)},
            {"min", number_or_null(of.min)},
            {"max", number_or_null(of.max)}};
}

Json render_pair(const search::PairedFold& fold) {
    return {{"fold", fold.fold},
            {"first", number_or_null(fold.first)},
            {"second", number_or_null(fold.second)},
            {"difference", number_or_null(fold.second - fold.first)}};
}

Json render_compared(const ComparedMetric& metric) {
    const search::FoldComparison& of = metric.comparison;
    Json values = Json::array();
    for (const search::PairedFold& fold : metric.folds)
        values.push_back(render_pair(fold));
    return {{"name", metric.name},
            {"mode", to_string(metric.mode)},
            {"folds", of.folds},
            {"nonfinite", of.nonfinite},
            {"first_better", of.first_better},
            {"second_better", of.second_better},
            {"mean_difference", number_or_null(of.mean_difference)},
            {"std", number_or_null(of.std)},
            {"standard_error", number_or_null(of.standard_error)},
            {"t", number_or_null(of.t)},
            {"p_value", number_or_null(of.p_value)},
            {"low", number_or_null(of.low)},
            {"high", number_or_null(of.high)},
            {"values", std::move(values)}};
}

}    // namespace

Json render(const store::CrossValidation& one) {
    Json out{{"id", one.id},
             {"name", one.name},
             {"project", one.project},
             {"labels", one.labels},
             {"state", to_string(one.state)},
             {"reason", nullptr},
             {"spec", stored_json(one.spec)},
             {"dataset_id", one.dataset_id},
             {"split_id", one.split_id},
             {"split_hash", known_or_null(one.split_hash)},
             {"folds", render_fold_counts(one)},
             {"refit_job_id", known_or_null(one.refit_job_id)},
             {"oof", nullptr},
             {"created_by", known_or_null(one.created_by)},
             {"created_at", to_rfc3339(one.created_at)},
             {"started_at", render_time(one.started_at)},
             {"finished_at", render_time(one.finished_at)}};
    if (one.reason) out["reason"] = {{"code", one.reason->code}, {"message", one.reason->message}};
    if (one.oof) {
        out["oof"] = {
            {"rows", one.oof->rows}, {"bytes", one.oof->bytes}, {"sha256", one.oof->sha256}};
    }
    return out;
}

Json render_folds(const store::CrossValidation& of, const std::vector<store::StoredFold>& folds,
                  const Json& report) {
    const auto count = std::ranges::count_if(folds, [](const auto& one) { return one.fold >= 0; });
    Json items = Json::array();
    for (const store::StoredFold& fold : folds) {
        if (fold.fold < 0) continue;
        const auto& job = fold.training;
        items.push_back({{"fold", fold.fold},
                         {"repeat", fold.fold * std::max<std::int64_t>(of.repeats, 1) / count},
                         {"state", fold.state},
                         {"reason", known_or_null(fold.reason)},
                         {"job_id", known_or_null(fold.job_id)},
                         {"job_state", job ? Json(to_string(job->state)) : Json(nullptr)},
                         {"prediction_id", known_or_null(fold.prediction_id)},
                         {"train_samples", fold.train_samples},
                         {"val_samples", fold.val_samples},
                         {"counts", counts_of_fold(report, fold.fold)},
                         {"metrics", render_metrics(fold)},
                         {"epoch", epoch_of(fold)},
                         {"finished_at", render_time(fold.finished_at)}});
    }
    return {{"items", std::move(items)}};
}

Json render_comparison(const store::CrossValidation& first,
                       const std::vector<store::StoredFold>& first_folds,
                       const store::CrossValidation& second,
                       const std::vector<store::StoredFold>& second_folds) {
    Json metrics = Json::array();
    for (const ComparedMetric& metric : compare(first_folds, second_folds))
        metrics.push_back(render_compared(metric));
    return {{"first", first.id},
            {"second", second.id},
            {"split_hash", first.split_hash},
            {"folds", shared_folds(first_folds, second_folds)},
            {"metrics", std::move(metrics)}};
}

Json render_summary(const store::CrossValidation& of, const std::vector<store::StoredFold>& folds) {
    Json metrics = Json::array();
    for (const MetricOverFolds& metric : summarize(folds))
        metrics.push_back(render_statistics(metric));
    Json failed = Json::array();
    bool complete = !folds.empty();
    for (const store::StoredFold& fold : folds) {
        if (fold.fold < 0) continue;
        complete = complete && fold.state == "succeeded";
        if (fold.state == "failed" || fold.state == "cancelled") failed.push_back(fold.fold);
    }
    return {{"id", of.id},
            {"state", to_string(of.state)},
            {"complete", complete},
            {"folds", render_fold_counts(of)},
            {"failed_folds", std::move(failed)},
            {"split_hash", known_or_null(of.split_hash)},
            {"epochs_chosen_by", chosen_by(of)},
            {"metrics", std::move(metrics)}};
}

}    // namespace slipway
