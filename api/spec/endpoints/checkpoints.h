#pragma once

#include <array>
#include <string_view>

#include "api/spec/endpoints/parts.h"

/// The endpoints of checkpoints.
namespace slipway::checkpoint_endpoints {

using namespace endpoint_parts;

inline constexpr auto exports = std::to_array<int>({404, 410, 416, 422, 429});

inline constexpr auto weight_dtypes = std::to_array<std::string_view>({"f32", "bf16"});
inline constexpr auto weight_kinds = std::to_array<std::string_view>({"average", "raw"});
inline constexpr auto checkpoint_query = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    {.name = "job", .summary = "Only of this job (id)."},
});
inline constexpr auto weights_query = std::to_array<QueryParameter>({
    {.name = "dtype",
     .type = QueryType::word,
     .summary = "What numbers are stored as.",
     .allowed = Words(weight_dtypes),
     .standard = "f32"},
    {.name = "weights",
     .type = QueryType::word,
     .summary = "average: those that evaluations measured, the moving average where the job keeps "
                "one; raw: those that training goes on with.",
     .allowed = Words(weight_kinds),
     .standard = "average"},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_checkpoints",
     .method = "GET",
     .path = "/v1/checkpoints",
     .group = "checkpoints",
     .summary = "Checkpoints of all jobs, newest first.",
     .response = "CheckpointList",
     .errors = queries,
     .query = checkpoint_query},
    {.name = "get_checkpoint",
     .method = "GET",
     .path = "/v1/checkpoints/{id}",
     .group = "checkpoints",
     .summary = "One checkpoint.",
     .response = "Checkpoint",
     .errors = not_found},
    {.name = "get_checkpoint_file",
     .method = "GET",
     .path = "/v1/checkpoints/{id}/files/{name}",
     .group = "checkpoints",
     .summary = "One of its files, or a range of it.",
     .errors = ranges,
     .media_type = "application/octet-stream"},
    {.name = "get_checkpoint_weights",
     .method = "GET",
     .path = "/v1/checkpoints/{id}/weights.safetensors",
     .group = "checkpoints",
     .summary = "Its weights as one file for other frameworks, by their reference's names.",
     .errors = exports,
     .query = weights_query,
     .media_type = "application/octet-stream"},
});

}    // namespace slipway::checkpoint_endpoints
