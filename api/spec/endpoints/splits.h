#pragma once

#include <array>

#include "api/spec/endpoints/parts.h"

/// The endpoints of stored splits of a dataset.
namespace slipway::split_endpoints {

using namespace endpoint_parts;

inline constexpr auto creates_below = std::to_array<int>({404, 409, 413, 415, 422, 429});
inline constexpr auto deletes_below = std::to_array<int>({404, 409, 422});
inline constexpr auto manifest_errors = std::to_array<int>({404, 409, 410, 416, 422});

inline constexpr auto split_query = std::to_array<QueryParameter>({limit, cursor, project});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_split",
     .method = "POST",
     .path = "/v1/datasets/{id}/splits",
     .group = "datasets",
     .summary = "Create a stored split, which never changes; it is generated in the background. "
                "Jobs refer to it by id and fold.",
     .access = Access::write,
     .request = "SplitCreate",
     .response = "Split",
     .success = 201,
     .errors = creates_below,
     .query = of_project,
     .idempotent_by_key = true},
    {.name = "list_splits",
     .method = "GET",
     .path = "/v1/datasets/{id}/splits",
     .group = "datasets",
     .summary = "List the splits of a dataset, newest first, without their reports.",
     .response = "SplitList",
     .errors = finds,
     .query = split_query},
    {.name = "get_split",
     .method = "GET",
     .path = "/v1/datasets/{id}/splits/{sid}",
     .group = "datasets",
     .summary = "Get a split with its counts and its certificate. `Prefer: wait=N` waits up to N "
                "seconds until it is generated.",
     .response = "Split",
     .errors = finds,
     .query = of_project},
    {.name = "get_split_manifest",
     .method = "GET",
     .path = "/v1/datasets/{id}/splits/{sid}/manifest",
     .group = "datasets",
     .summary = "Download the manifest: the validation fold of each sample. See docs/formats.md, "
                "Stored splits.",
     .errors = manifest_errors,
     .query = of_project},
    {.name = "delete_split",
     .method = "DELETE",
     .path = "/v1/datasets/{id}/splits/{sid}",
     .group = "datasets",
     .summary = "Delete a split that no unfinished job uses.",
     .access = Access::write,
     .success = 204,
     .errors = deletes_below,
     .query = of_project},
});

}    // namespace slipway::split_endpoints
