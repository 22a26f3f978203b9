#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of evaluations.
namespace slipway::evaluation_endpoints {

using namespace endpoint_parts;

inline constexpr auto evaluation_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    job_states,
    dataset,
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_evaluation",
     .method = "POST",
     .path = "/v1/evaluations",
     .group = "evaluations",
     .summary = "Submit an evaluation: a job of kind evaluate that measures a checkpoint on "
                "labelled samples. With dry_run, returns an EvaluationPreview with status 200.",
     .access = Access::write,
     .request = "EvaluationSpec",
     .response = "Job",
     .preview = "EvaluationPreview",
     .success = 201,
     .errors = creates,
     .query = creating,
     .idempotent_by_key = true},
    {.name = "list_evaluations",
     .method = "GET",
     .path = "/v1/evaluations",
     .group = "evaluations",
     .summary = "List evaluations (jobs of kind evaluate), newest first.",
     .response = "JobList",
     .errors = queries,
     .query = evaluation_list},
    {.name = "get_evaluation",
     .method = "GET",
     .path = "/v1/evaluations/{id}",
     .group = "evaluations",
     .summary = "Get an evaluation: its metrics are `result`. `Prefer: wait=N` waits up to N "
                "seconds for its state to change.",
     .response = "Job",
     .errors = not_found},
});

}    // namespace slipway::evaluation_endpoints
