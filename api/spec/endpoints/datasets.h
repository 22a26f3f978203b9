#pragma once

#include <array>
#include <string_view>

#include "api/spec/endpoints/parts.h"

/// The endpoints of datasets.
namespace slipway::dataset_endpoints {

using namespace endpoint_parts;

inline constexpr auto dataset_states =
    std::to_array<std::string_view>({"checking", "ready", "failed"});
inline constexpr auto dataset_query = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    {.name = "state",
     .type = QueryType::word,
     .summary = "Only datasets in this state.",
     .allowed = Words(dataset_states)},
    {.name = "format", .summary = "Only datasets of this format."},
    {.name = "name", .summary = "Only datasets whose name contains this text; case-insensitive."},
});
inline constexpr auto preview_query = std::to_array<QueryParameter>({
    project,
    {.name = "n",
     .type = QueryType::integer,
     .summary = "Maximum number of samples.",
     .min = 1,
     .max = 32,
     .standard = "8"},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_dataset",
     .method = "POST",
     .path = "/v1/datasets",
     .group = "datasets",
     .summary = "Create a dataset from a folder or an upload. It is checked in the background.",
     .access = Access::write,
     .request = "DatasetCreate",
     .response = "Dataset",
     .preview = "DatasetCreate",
     .success = 201,
     .errors = creates,
     .query = creating,
     .idempotent_by_key = true},
    {.name = "list_datasets",
     .method = "GET",
     .path = "/v1/datasets",
     .group = "datasets",
     .summary = "List datasets, newest first.",
     .response = "DatasetList",
     .errors = queries,
     .query = dataset_query},
    {.name = "get_dataset",
     .method = "GET",
     .path = "/v1/datasets/{id}",
     .group = "datasets",
     .summary = "Get a dataset by id or name. `Prefer: wait=N` waits up to N seconds while it is "
                "being checked.",
     .response = "Dataset",
     .errors = finds,
     .query = of_project},
    {.name = "delete_dataset",
     .method = "DELETE",
     .path = "/v1/datasets/{id}",
     .group = "datasets",
     .summary = "Delete a dataset that no unfinished job uses.",
     .access = Access::write,
     .success = 204,
     .errors = acts},
    {.name = "get_dataset_preview",
     .method = "GET",
     .path = "/v1/datasets/{id}/preview",
     .group = "datasets",
     .summary = "Get a few samples, spread evenly over the dataset.",
     .response = "DatasetPreview",
     .errors = finds,
     .query = preview_query},
});

}    // namespace slipway::dataset_endpoints
