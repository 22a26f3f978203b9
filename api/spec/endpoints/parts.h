#pragma once

#include <array>
#include <span>
#include <string_view>

#include "api/spec/endpoints.h"
#include "api/spec/job_state.h"

/// Errors and query parameters that several resources share: for the headers of this folder only.
namespace slipway::endpoint_parts {

using Words = std::span<const std::string_view>;

inline constexpr auto not_found = std::to_array<int>({404});
inline constexpr auto finds = std::to_array<int>({404, 422});
inline constexpr auto queries = std::to_array<int>({422});
inline constexpr auto creates = std::to_array<int>({409, 413, 415, 422, 429});
inline constexpr auto acts = std::to_array<int>({404, 409});
inline constexpr auto ranges = std::to_array<int>({404, 410, 416});

inline constexpr QueryParameter limit{.name = "limit",
                                      .type = QueryType::integer,
                                      .summary = "Maximum number of items.",
                                      .min = 1,
                                      .max = 200,
                                      .standard = "50"};
inline constexpr QueryParameter cursor{.name = "cursor",
                                       .summary = "The next_cursor of the previous page."};
/// Of lists whose order is that of sequence numbers; these also have `after`.
inline constexpr QueryParameter sequence_cursor{
    .name = "cursor",
    .type = QueryType::integer,
    .summary = "The next_cursor of the previous page; same as after.",
    .min = 0,
    .max = INT64_MAX};
inline constexpr QueryParameter project{.name = "project",
                                        .summary = "Only items of this project."};
inline constexpr QueryParameter dry_run{
    .name = "dry_run",
    .type = QueryType::flag,
    .summary = "Validate only: return the normalised body and its effect, and store nothing.",
    .standard = "false"};
inline constexpr QueryParameter job_states{.name = "state",
                                           .type = QueryType::words,
                                           .summary = "Only jobs in these states.",
                                           .allowed = Words(Spelling<JobState>::words)};
inline constexpr QueryParameter dataset{.name = "dataset",
                                        .summary = "Only jobs that use this dataset (id)."};
inline constexpr auto creating = std::to_array({dry_run});
inline constexpr auto paging = std::to_array({limit, cursor});
inline constexpr auto of_project = std::to_array({project});

}    // namespace slipway::endpoint_parts
