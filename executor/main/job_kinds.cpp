#include "executor/main/job_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "executor/predict/run_prediction.h"
#include "executor/train/run.h"

namespace slipway {

namespace {

void read_nothing(const AttemptOrder& order, AttemptPlan&) {
    if (order.payload.is_null()) return;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("payload must be null for the kind {}", to_string(order.kind))};
}

void read_prediction(const AttemptOrder& order, AttemptPlan& plan) {
    if (!order.checkpoint)
        throw Error{ErrorCode::invalid_argument, "checkpoint is null: the kind predict needs one"};
    Decoded<PredictionSpec> decoded = decode_prediction(order.payload);
    if (!decoded.ok())
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("payload: {}", joined_messages(decoded.problems))};
    plan.prediction =
        PredictionPlan{.checkpoint = *order.checkpoint, .spec = std::move(decoded.value)};
}

constexpr std::array<JobKindRow, all_job_kinds.size()> rows{{
    {JobKind::train, read_nothing, run_training},
    {JobKind::predict, read_prediction, run_prediction},
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
