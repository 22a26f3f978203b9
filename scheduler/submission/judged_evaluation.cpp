#include "scheduler/submission/judged_evaluation.h"

#include <algorithm>
#include <cmath>

#include "scheduler/store/jobs.h"
#include "scheduler/store/metrics/curve.h"

namespace slipway::submission {

namespace {

constexpr std::int64_t evaluations_max = 100'000;

bool is_better(MetricMode mode, double value, double than) {
    return mode == MetricMode::min ? value < than : value > than;
}

/// Takes the better evaluations of one job.
void take_better(store::Store& store, const std::string& job_id, const EarlyStoppingSpec& rule,
                 std::optional<JudgedEvaluation>& best) {
    const auto curve =
        store::read_curve(store, job_id, rule.metric, {},
                          {.buckets_max = evaluations_max, .points_max = evaluations_max});
    for (const store::MetricBucket& bucket : curve.buckets) {
        const double value = bucket.last.value;
        if (!std::isfinite(value) || (best && !is_better(rule.mode, value, best->value))) continue;
        best = {
            .job_id = job_id, .step = bucket.last.step, .epoch = bucket.last.epoch, .value = value};
    }
}

}    // namespace

std::optional<JudgedEvaluation> best_evaluation(store::Store& store, const std::string& job_id,
                                                const EarlyStoppingSpec& rule) {
    std::vector<std::string> jobs;    // the newest first
    for (auto job = store::find_job(store, job_id); job;) {
        jobs.push_back(job->id);
        const bool is_retry = job->origin && job->origin->action == "retry";
        job = is_retry ? store::find_job(store, job->origin->job_id) : std::nullopt;
    }
    std::optional<JudgedEvaluation> best;
    for (auto one = jobs.rbegin(); one != jobs.rend(); ++one)
        take_better(store, *one, rule, best);
    return best;
}

std::optional<double> value_of(store::Store& store, const JudgedEvaluation& evaluation,
                               const std::string& metric) {
    const auto curve = store::read_curve(store, evaluation.job_id, metric,
                                         {.first = evaluation.step, .last = evaluation.step},
                                         {.buckets_max = 1, .points_max = 1});
    if (curve.buckets.empty()) return std::nullopt;
    return curve.buckets.back().last.value;
}

std::optional<store::Checkpoint> checkpoint_of(store::Store& store,
                                               const JudgedEvaluation& evaluation) {
    const auto kept =
        store::list_checkpoints(store, {.job_id = evaluation.job_id}, {.limit = 200, .cursor = {}});
    const auto found = std::ranges::find_if(kept.items, [&](const store::Checkpoint& one) {
        return one.step == evaluation.step && one.metric_value.has_value();
    });
    return found == kept.items.end() ? std::nullopt : std::optional(*found);
}

}    // namespace slipway::submission
