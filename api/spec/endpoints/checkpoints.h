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
    {.name = "job", .summary = "Only checkpoints of this job (id)."},
});
inline constexpr auto weights_query = std::to_array<QueryParameter>({
    {.name = "dtype",
     .type = QueryType::word,
     .summary = "Data type of the exported weights.",
     .allowed = Words(weight_dtypes),
     .standard = "f32"},
    {.name = "weights",
     .type = QueryType::word,
     .summary = "average: the weights that evaluations use, the moving average if the job keeps "
                "one; raw: the weights that training continues with.",
     .allowed = Words(weight_kinds),
     .standard = "average"},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_checkpoints",
     .method = "GET",
     .path = "/v1/checkpoints",
     .group = "checkpoints",
     .summary = "List the checkpoints of all jobs, newest first.",
     .response = "CheckpointList",
     .errors = queries,
     .query = checkpoint_query},
    {.name = "get_checkpoint",
     .method = "GET",
     .path = "/v1/checkpoints/{id}",
     .group = "checkpoints",
     .summary = "Get a checkpoint.",
     .response = "Checkpoint",
     .errors = not_found},
    {.name = "delete_checkpoint",
     .method = "DELETE",
     .path = "/v1/checkpoints/{id}",
     .group = "checkpoints",
     .summary = "Delete a checkpoint that is not pinned and that no unfinished job needs.",
     .access = Access::write,
     .success = 204,
     .errors = acts},
    {.name = "pin_checkpoint",
     .method = "POST",
     .path = "/v1/checkpoints/{id}/pin",
     .group = "checkpoints",
     .summary = "Keep a checkpoint until it is unpinned or its job is deleted. Safe to repeat.",
     .access = Access::write,
     .response = "Checkpoint",
     .errors = acts,
     .idempotent_by_key = true},
    {.name = "unpin_checkpoint",
     .method = "POST",
     .path = "/v1/checkpoints/{id}/unpin",
     .group = "checkpoints",
     .summary = "Unpin a checkpoint, so that it may be pruned. Safe to repeat.",
     .access = Access::write,
     .response = "Checkpoint",
     .errors = acts,
     .idempotent_by_key = true},
    {.name = "get_checkpoint_file",
     .method = "GET",
     .path = "/v1/checkpoints/{id}/files/{name}",
     .group = "checkpoints",
     .summary = "Download a file of a checkpoint, or a range of it.",
     .errors = ranges,
     .media_type = "application/octet-stream"},
    {.name = "get_checkpoint_weights",
     .method = "GET",
     .path = "/v1/checkpoints/{id}/weights.safetensors",
     .group = "checkpoints",
     .summary = "Export the weights as one safetensors file, with the parameter names of the "
                "reference implementation.",
     .errors = exports,
     .query = weights_query,
     .media_type = "application/octet-stream"},
});

}    // namespace slipway::checkpoint_endpoints
