#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "api/spec/endpoints.h"
#include "api/spec/event.h"
#include "api/spec/job_state.h"

/// The query parameters of the endpoints: for the rows of endpoints.cpp only.
namespace slipway::endpoint_parameters {

using Words = std::span<const std::string_view>;

inline constexpr auto job_orders = std::to_array<std::string_view>(
    {"created_at", "-created_at", "name", "-name", "finished_at", "-finished_at"});
inline constexpr auto dataset_states =
    std::to_array<std::string_view>({"checking", "ready", "failed"});
inline constexpr auto spec_forms = std::to_array<std::string_view>({"json", "curl"});
inline constexpr auto csv_forms = std::to_array<std::string_view>({"points", "table"});
inline constexpr auto report_forms = std::to_array<std::string_view>({"json", "text"});
inline constexpr auto graph_forms =
    std::to_array<std::string_view>({"json", "ir", "stablehlo", "dot", "program"});
inline constexpr auto weight_dtypes = std::to_array<std::string_view>({"f32", "bf16"});
inline constexpr auto weight_kinds = std::to_array<std::string_view>({"average", "raw"});
inline constexpr auto job_kinds = std::to_array<std::string_view>({"train", "predict"});
inline constexpr auto log_levels = std::to_array<std::string_view>({"info", "warn", "error"});

inline constexpr QueryParameter limit{.name = "limit",
                                      .type = QueryType::integer,
                                      .summary = "How many items at most.",
                                      .min = 1,
                                      .max = 200,
                                      .standard = "50"};
inline constexpr QueryParameter cursor{.name = "cursor",
                                       .summary = "next_cursor of the page before."};
inline constexpr QueryParameter project{.name = "project", .summary = "Only of this project."};
inline constexpr QueryParameter dry_run{
    .name = "dry_run",
    .type = QueryType::flag,
    .summary = "Answer with the normalised body and its consequences; store nothing.",
    .standard = "false"};
inline constexpr QueryParameter job_states{.name = "state",
                                           .type = QueryType::words,
                                           .summary = "Only in these states.",
                                           .allowed = Words(Spelling<JobState>::words)};
inline constexpr QueryParameter dataset{.name = "dataset", .summary = "Only of this dataset (id)."};

inline constexpr auto creating = std::to_array({dry_run});
inline constexpr auto revoking = std::to_array<QueryParameter>({
    {.name = "keep_made",
     .type = QueryType::flag,
     .summary = "Leave the tokens that it made: for a token that was lost, not stolen.",
     .standard = "false"},
});
inline constexpr auto paging = std::to_array({limit, cursor});
inline constexpr auto job_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    job_states,
    {.name = "name", .summary = "Only with this text in the name; letter case is ignored."},
    {.name = "label", .type = QueryType::pairs, .summary = "Only with all of these labels."},
    dataset,
    {.name = "kind",
     .type = QueryType::word,
     .summary = "Only those that train, or that predict.",
     .allowed = Words(job_kinds)},
    {.name = "order_by",
     .type = QueryType::word,
     .summary = "The order; a minus turns it round.",
     .allowed = Words(job_orders),
     .standard = "-created_at"},
});
inline constexpr auto prediction_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    job_states,
    dataset,
});
inline constexpr auto event_query = std::to_array<QueryParameter>({
    {.name = "after",
     .type = QueryType::integer,
     .summary = "Only events after this sequence number. Last-Event-ID says the same.",
     .max = INT64_MAX,
     .standard = "0"},
    {.name = "types",
     .type = QueryType::words,
     .summary = "Only events of these types; `end` always comes.",
     .allowed = Words(Spelling<EventType>::words)},
    {.name = "limit",
     .type = QueryType::integer,
     .summary = "How many events at most (JSON only).",
     .min = 1,
     .max = 5000,
     .standard = "500"},
});
inline constexpr auto log_query = std::to_array<QueryParameter>({
    {.name = "after",
     .type = QueryType::integer,
     .summary = "Only lines after this sequence number.",
     .max = INT64_MAX,
     .standard = "0"},
    {.name = "level",
     .type = QueryType::word,
     .summary = "Only lines of this level or a more serious one.",
     .allowed = Words(log_levels),
     .standard = "info"},
    {.name = "limit",
     .type = QueryType::integer,
     .summary = "How many lines at most.",
     .min = 1,
     .max = 5000,
     .standard = "500"},
});
inline constexpr auto metric_query = std::to_array<QueryParameter>({
    {.name = "names", .type = QueryType::words, .summary = "Only these metrics."},
    {.name = "step_min",
     .type = QueryType::integer,
     .summary = "Only from this step on.",
     .max = INT64_MAX},
    {.name = "step_max",
     .type = QueryType::integer,
     .summary = "Only up to this step.",
     .max = INT64_MAX},
    {.name = "resolution",
     .type = QueryType::integer,
     .summary =
         "At most this many points of each metric, evenly over the steps; 0: all, up to 200,000 of "
         "all metrics together.",
     .max = 100000,
     .standard = "0"},
});
inline constexpr auto csv_query = std::to_array<QueryParameter>({
    {.name = "names", .type = QueryType::words, .summary = "Only these metrics, of `points`."},
    {.name = "form",
     .type = QueryType::word,
     .summary = "points: a row for each number; table: a row for each step, as the sink csv of "
                "monitor.sinks writes it.",
     .allowed = Words(csv_forms),
     .standard = "points"},
});
inline constexpr auto link_query = std::to_array<QueryParameter>({
    {.name = "keep_s",
     .type = QueryType::integer,
     .summary = "How long the link is good.",
     .min = 60,
     .max = 600,
     .standard = "600"},
});
inline constexpr auto spec_query = std::to_array<QueryParameter>({
    {.name = "as",
     .type = QueryType::word,
     .summary = "json: the spec with every default filled in; curl: the command that submits it.",
     .allowed = Words(spec_forms),
     .standard = "json"},
});
inline constexpr auto report_query = std::to_array<QueryParameter>({
    {.name = "format",
     .type = QueryType::word,
     .summary =
         "json, or text in the form of PyTorch/XLA's metrics report; without it Accept says.",
     .allowed = Words(report_forms)},
    {.name = "epoch",
     .type = QueryType::integer,
     .summary = "That of when this epoch had ended; kept with monitor.metrics_report epoch.",
     .min = 1,
     .max = 999999},
});
inline constexpr auto graph_query = std::to_array<QueryParameter>({
    {.name = "format",
     .type = QueryType::word,
     .summary = "json: all of it; ir: the graph as text; stablehlo: the same as an MLIR module; "
                "dot: what was fused of it, for Graphviz; program: what it was made into, as text.",
     .allowed = Words(graph_forms),
     .standard = "json"},
});
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
inline constexpr auto dataset_query = std::to_array<QueryParameter>({
    limit,
    cursor,
    project,
    {.name = "state",
     .type = QueryType::word,
     .summary = "Only in this state.",
     .allowed = Words(dataset_states)},
    {.name = "format", .summary = "Only of this format."},
});
inline constexpr auto split_query = std::to_array<QueryParameter>({limit, cursor, project});
inline constexpr auto preview_query = std::to_array<QueryParameter>({
    project,
    {.name = "n",
     .type = QueryType::integer,
     .summary = "How many samples at most.",
     .min = 1,
     .max = 32,
     .standard = "8"},
});
inline constexpr auto core_query = std::to_array<QueryParameter>({
    {.name = "host", .summary = "Only of this host."},
});
inline constexpr auto ticket_query = std::to_array<QueryParameter>({
    {.name = "ticket", .summary = "The secret of a one-time link."},
});

}    // namespace slipway::endpoint_parameters
