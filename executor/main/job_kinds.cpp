#include "executor/main/job_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "executor/predict/run_evaluation.h"
#include "executor/predict/run_prediction.h"
#include "executor/train/run.h"

namespace slipway {

namespace {

void read_nothing(const AttemptOrder& order, AttemptPlan&) {
    if (order.payload.is_null()) return;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("payload must be null for the kind {}", to_string(order.kind))};
}

std::vector<std::filesystem::path> required_checkpoints(const AttemptOrder& order) {
    if (!order.checkpoints.empty()) return {order.checkpoints.begin(), order.checkpoints.end()};
    throw Error{ErrorCode::invalid_argument,
                fmt::format("checkpoints is empty: the kind {} needs one", to_string(order.kind))};
}

template <class Spec>
Spec required_payload(Decoded<Spec> decoded) {
    if (decoded.ok()) return std::move(decoded.value);
    throw Error{ErrorCode::invalid_argument,
                fmt::format("payload: {}", joined_messages(decoded.problems))};
}

void read_prediction(const AttemptOrder& order, AttemptPlan& plan) {
    std::vector<std::filesystem::path> checkpoints = required_checkpoints(order);
    const PredictionSpec spec = required_payload(decode_prediction(order.payload));
    plan.inference = InferencePlan{.checkpoints = std::move(checkpoints),
                                   .data = spec.data,
                                   .needs_labels = false,
                                   .batch_size_per_core = spec.batch_size_per_core};
}

void read_evaluation(const AttemptOrder& order, AttemptPlan& plan) {
    std::vector<std::filesystem::path> checkpoints = required_checkpoints(order);
    const EvaluationSpec spec = required_payload(decode_evaluation(order.payload));
    plan.inference = InferencePlan{
        .checkpoints = std::move(checkpoints), .data = samples_of(spec), .needs_labels = true};
}

constexpr std::array<JobKindRow, all_job_kinds.size()> rows{{
    {JobKind::train, read_nothing, run_training},
    {JobKind::predict, read_prediction, run_prediction},
    {JobKind::evaluate, read_evaluation, run_evaluation},
}};

static_assert(std::ranges::equal(rows, all_job_kinds, {}, &JobKindRow::kind),
              "one row for each kind, in the order of job_kinds.def");

}    // namespace

const JobKindRow& row_of(JobKind kind) noexcept {
    return rows[std::size_t(kind)];
}

TrainOutcome run_job(const AttemptPlan& plan, Reporter& reporter) {
    return row_of(plan.kind).run(plan, reporter);
}

}    // namespace slipway
