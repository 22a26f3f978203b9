#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of predictions.
namespace slipway::prediction_endpoints {

using namespace endpoint_parts;

inline constexpr auto prediction_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    job_states,
    dataset,
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_prediction",
     .method = "POST",
     .path = "/v1/predictions",
     .group = "predictions",
     .summary = "Submit a prediction: a job of kind predict that runs a checkpoint over a dataset. "
                "With dry_run, returns a PredictionPreview with status 200.",
     .access = Access::write,
     .request = "PredictionSpec",
     .response = "Job",
     .preview = "PredictionPreview",
     .success = 201,
     .errors = creates,
     .query = creating,
     .idempotent_by_key = true},
    {.name = "list_predictions",
     .method = "GET",
     .path = "/v1/predictions",
     .group = "predictions",
     .summary = "List predictions (jobs of kind predict), newest first.",
     .response = "JobList",
     .errors = queries,
     .query = prediction_list},
    {.name = "get_prediction",
     .method = "GET",
     .path = "/v1/predictions/{id}",
     .group = "predictions",
     .summary = "Get a prediction. `Prefer: wait=N` waits up to N seconds for its state to change.",
     .response = "Job",
     .errors = not_found},
    {.name = "get_prediction_result",
     .method = "GET",
     .path = "/v1/predictions/{id}/result.csv",
     .group = "predictions",
     .summary = "Download the result: one row per sample, in dataset order. 404 `no_result` until "
                "the job has succeeded.",
     .errors = ranges,
     .media_type = "text/csv"},
});

}    // namespace slipway::prediction_endpoints
