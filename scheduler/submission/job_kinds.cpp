#include "scheduler/submission/job_kinds.h"

#include <algorithm>
#include <array>

#include "scheduler/submission/evaluation_job.h"
#include "scheduler/submission/prediction_job.h"
#include "scheduler/submission/training_job.h"

namespace slipway::submission {

namespace {

template <class Request>
using Decode = Decoded<Request> (*)(const ParsedJson&);
template <class Request>
using Check = Decoded<CheckedJob> (*)(Decoded<Request>, const Submitter&, store::Store&);

/// A row of functions of the kind's own request.
template <class Request, Decode<Request> decode, Check<Request> check>
constexpr JobKindRow row(JobKind kind) {
    return {.kind = kind,
            .decode = [](const ParsedJson& body) -> Decoded<JobRequest> {
                Decoded<Request> decoded = decode(body);
                return {.value = std::move(decoded.value), .problems = std::move(decoded.problems)};
            },
            .check =
                [](Decoded<JobRequest> request, const Submitter& submitter, store::Store& store) {
                    return check({.value = std::get<Request>(std::move(request.value)),
                                  .problems = std::move(request.problems)},
                                 submitter, store);
                }};
}

constexpr std::array<JobKindRow, all_job_kinds.size()> rows{
    row<JobSpec, decode_job_spec, check_training>(JobKind::train),
    row<PredictionSpec, decode_prediction, check_prediction>(JobKind::predict),
    row<EvaluationSpec, decode_evaluation, check_evaluation>(JobKind::evaluate),
};

static_assert(std::ranges::equal(rows, all_job_kinds, {}, &JobKindRow::kind),
              "one row for each kind, in the order of job_kinds.def");
static_assert(std::variant_size_v<JobRequest> == all_job_kinds.size());

}    // namespace

const JobKindRow& row_of(JobKind kind) noexcept {
    return rows[std::size_t(kind)];
}

const std::string& project_of(const JobRequest& request) {
    return std::visit([](const auto& one) -> const std::string& { return one.project; }, request);
}

}    // namespace slipway::submission
