#pragma once

#include <string>
#include <variant>

#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// What is asked for, decoded: the request of each kind, in the order of job_kinds.def.
using JobRequest = std::variant<JobSpec, PredictionSpec, EvaluationSpec>;

/// What submission knows of a kind: from the text of a request to a job that can be stored.
struct JobKindRow {
    JobKind kind;
    Decoded<JobRequest> (*decode)(const ParsedJson& body);
    /// Finds the artifacts that the request names, of those that the submitter sees, and fills in
    /// what they tell. The problems of the decoding stay first. errors  throws OldJobSpec
    Decoded<CheckedJob> (*check)(Decoded<JobRequest> request, const Submitter& submitter,
                                 store::Store& store);
};

const JobKindRow& row_of(JobKind kind) noexcept;

const std::string& project_of(const JobRequest& request);

}    // namespace slipway::submission
