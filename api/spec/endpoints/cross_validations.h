#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of cross-validations.
namespace slipway::cross_validation_endpoints {

using namespace endpoint_parts;

inline constexpr auto cross_validation_states = std::to_array<std::string_view>(
    {"preparing", "running", "cancelling", "succeeded", "failed", "cancelled"});
inline constexpr auto cross_validation_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    {.name = "state",
     .type = QueryType::words,
     .summary = "Only cross-validations in these states.",
     .allowed = cross_validation_states},
});

inline constexpr auto compared_with = std::to_array<QueryParameter>({
    {.name = "with", .summary = "Id of the other cross-validation."},
});
inline constexpr auto cross_validation_event_types =
    std::to_array<std::string_view>({"state", "progress", "end"});
inline constexpr auto cross_validation_events = std::to_array<QueryParameter>({
    sequence_cursor,
    {.name = "after",
     .type = QueryType::integer,
     .summary = "Only events after this sequence number; same as Last-Event-ID.",
     .max = INT64_MAX,
     .standard = "0"},
    {.name = "types",
     .type = QueryType::words,
     .summary = "Only events of these types; `end` is always sent.",
     .allowed = cross_validation_event_types},
    {.name = "limit",
     .type = QueryType::integer,
     .summary = "Maximum number of events (JSON only).",
     .min = 1,
     .max = 5000,
     .standard = "500"},
});
inline constexpr auto retries = std::to_array<int>({404, 409, 413, 415, 422});
inline constexpr auto compares = std::to_array<int>({404, 409, 422});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_cross_validation",
     .method = "POST",
     .path = "/v1/cross-validations",
     .group = "cross-validations",
     .summary = "Create a cross-validation: its split is created, then a job is submitted for each "
                "fold. With dry_run, returns a CrossValidationPreview with status 200.",
     .access = Access::write,
     .request = "CrossValidationSpec",
     .response = "CrossValidation",
     .preview = "CrossValidationPreview",
     .success = 201,
     .errors = creates,
     .query = creating,
     .idempotent_by_key = true},
    {.name = "list_cross_validations",
     .method = "GET",
     .path = "/v1/cross-validations",
     .group = "cross-validations",
     .summary = "List cross-validations, newest first.",
     .response = "CrossValidationList",
     .errors = queries,
     .query = cross_validation_list},
    {.name = "get_cross_validation",
     .method = "GET",
     .path = "/v1/cross-validations/{id}",
     .group = "cross-validations",
     .summary = "Get a cross-validation. `Prefer: wait=N` waits up to N seconds for its state to "
                "change.",
     .response = "CrossValidation",
     .errors = not_found},
    {.name = "delete_cross_validation",
     .method = "DELETE",
     .path = "/v1/cross-validations/{id}",
     .group = "cross-validations",
     .summary = "Delete a cross-validation that has ended, with its jobs, their checkpoints and "
                "its out-of-fold predictions. Its split stays with the dataset.",
     .access = Access::write,
     .success = 204,
     .errors = acts},
    {.name = "cancel_cross_validation",
     .method = "POST",
     .path = "/v1/cross-validations/{id}/cancel",
     .group = "cross-validations",
     .summary = "Cancel the jobs of a cross-validation, and start no further ones. Folds that have "
                "ended keep their results.",
     .access = Access::write,
     .response = "CrossValidation",
     .errors = acts,
     .idempotent_by_key = true},
    {.name = "retry_cross_validation",
     .method = "POST",
     .path = "/v1/cross-validations/{id}/retry",
     .group = "cross-validations",
     .summary = "Retry all folds that failed or were cancelled, or those that failed for certain "
                "reasons; a cross-validation that has ended continues. Folds that have succeeded "
                "keep their results. Safe to repeat.",
     .access = Access::write,
     .request = "RetryFailed",
     .response = "CrossValidationRetry",
     .errors = retries,
     .query = creating,
     .idempotent_by_key = true},
    {.name = "list_cross_validation_folds",
     .method = "GET",
     .path = "/v1/cross-validations/{id}/folds",
     .group = "cross-validations",
     .summary = "List all folds in their order: state, jobs, counts and metrics.",
     .response = "CrossValidationFolds",
     .errors = not_found},
    {.name = "get_cross_validation_summary",
     .method = "GET",
     .path = "/v1/cross-validations/{id}/summary",
     .group = "cross-validations",
     .summary = "Mean, spread and errors of each metric over the folds that have succeeded so far.",
     .response = "CrossValidationSummary",
     .errors = not_found},
    {.name = "list_cross_validation_events",
     .method = "GET",
     .path = "/v1/cross-validations/{id}/events",
     .group = "cross-validations",
     .summary =
         "List the events of a cross-validation in order: its states, and those of its folds "
         "(progress). A page as JSON, or a live stream for `Accept: text/event-stream`.",
     .response = "EventList",
     .errors = finds,
     .query = cross_validation_events,
     .other_media_type = "text/event-stream"},
    {.name = "compare_cross_validations",
     .method = "GET",
     .path = "/v1/cross-validations/{id}/compare",
     .group = "cross-validations",
     .summary = "Compare another cross-validation of the same split with this one, fold by fold. "
                "409 if their splits differ.",
     .response = "CrossValidationComparison",
     .errors = compares,
     .query = compared_with},
    {.name = "get_cross_validation_oof",
     .method = "GET",
     .path = "/v1/cross-validations/{id}/oof",
     .group = "cross-validations",
     .summary =
         "Download the out-of-fold predictions: each sample, predicted by the fold that validates "
         "on it, in dataset order. 404 `no_result` until every fold has succeeded.",
     .errors = ranges,
     .media_type = "text/csv"},
});

}    // namespace slipway::cross_validation_endpoints
