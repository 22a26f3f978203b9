#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "api/spec/endpoints/parts.h"
#include "api/spec/event.h"

/// The endpoints of what a job produces: events, logs, curves, checkpoints, reports, programs.
namespace slipway::job_output_endpoints {

using namespace endpoint_parts;

inline constexpr auto csv_forms = std::to_array<std::string_view>({"points", "table"});
inline constexpr auto report_forms = std::to_array<std::string_view>({"json", "text"});
inline constexpr auto graph_forms =
    std::to_array<std::string_view>({"json", "ir", "stablehlo", "dot", "program"});
inline constexpr auto log_levels = std::to_array<std::string_view>({"info", "warn", "error"});
inline constexpr auto event_query = std::to_array<QueryParameter>({
    sequence_cursor,
    {.name = "after",
     .type = QueryType::integer,
     .summary = "Only events after this sequence number; same as Last-Event-ID.",
     .max = INT64_MAX,
     .standard = "0"},
    {.name = "types",
     .type = QueryType::words,
     .summary = "Only events of these types; `end` is always sent.",
     .allowed = Words(Spelling<EventType>::words)},
    {.name = "limit",
     .type = QueryType::integer,
     .summary = "Maximum number of events (JSON only).",
     .min = 1,
     .max = 5000,
     .standard = "500"},
});
inline constexpr auto log_query = std::to_array<QueryParameter>({
    sequence_cursor,
    {.name = "after",
     .type = QueryType::integer,
     .summary = "Only lines after this sequence number.",
     .max = INT64_MAX,
     .standard = "0"},
    {.name = "level",
     .type = QueryType::word,
     .summary = "Only lines of this level or a more severe one.",
     .allowed = Words(log_levels),
     .standard = "info"},
    {.name = "q",
     .type = QueryType::text,
     .summary = "Only lines whose message contains this text; the case of A to Z is ignored. A "
                "request reads at most 20,000 lines, so a page may have few lines or none and "
                "still have a next_cursor."},
    {.name = "limit",
     .type = QueryType::integer,
     .summary = "Maximum number of lines.",
     .min = 1,
     .max = 5000,
     .standard = "500"},
});
inline constexpr auto metric_query = std::to_array<QueryParameter>({
    {.name = "names",
     .type = QueryType::words,
     .summary = "Only these metrics, at most 1,000. Default: all; if there are more than 1,000, "
                "the first 1,000 by name."},
    {.name = "step_min",
     .type = QueryType::integer,
     .summary = "Only points at or after this step.",
     .max = INT64_MAX},
    {.name = "step_max",
     .type = QueryType::integer,
     .summary = "Only points at or before this step.",
     .max = INT64_MAX},
    {.name = "resolution",
     .type = QueryType::integer,
     .summary = "Maximum number of points per metric. A longer curve is summarised: each point "
                "stands for the same number of values, a power of two. 0: all points, up to "
                "200,000 for all metrics together.",
     .max = 100000,
     .standard = "0"},
});
inline constexpr auto csv_query = std::to_array<QueryParameter>({
    {.name = "names",
     .type = QueryType::words,
     .summary = "Only these metrics, at most 1,000; for `points` only. Default: all; if there are "
                "more than 1,000, the first 1,000 by name."},
    {.name = "form",
     .type = QueryType::word,
     .summary = "points: one row per value; table: one row per step, as the csv sink of "
                "monitor.sinks writes it.",
     .allowed = Words(csv_forms),
     .standard = "points"},
});
inline constexpr auto report_query = std::to_array<QueryParameter>({
    {.name = "format",
     .type = QueryType::word,
     .summary = "json, or text in the format of PyTorch/XLA's metrics report. Default: chosen by "
                "the Accept header.",
     .allowed = Words(report_forms)},
    {.name = "epoch",
     .type = QueryType::integer,
     .summary = "The report as of the end of this epoch; kept with monitor.metrics_report epoch.",
     .min = 1,
     .max = 999999},
});
inline constexpr auto graph_query = std::to_array<QueryParameter>({
    {.name = "format",
     .type = QueryType::word,
     .summary = "json: everything; ir: the graph as text; stablehlo: the graph as an MLIR module; "
                "dot: the fused graph for Graphviz; program: the compiled program as text.",
     .allowed = Words(graph_forms),
     .standard = "json"},
});

inline constexpr auto many_metrics_query = std::to_array<QueryParameter>({
    {.name = "jobs", .type = QueryType::words, .summary = "The jobs (ids), at most 100. Required."},
    {.name = "names", .type = QueryType::words, .summary = "Only these metrics."},
    {.name = "resolution",
     .type = QueryType::integer,
     .summary = "Maximum number of points of each curve. A longer curve is summarised: each point "
                "stands for the same number of values, a power of two.",
     .min = 1,
     .max = 10000,
     .standard = "500"},
});

inline constexpr auto of_whole_reports = std::to_array<int>({404, 410, 422});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "list_job_events",
     .method = "GET",
     .path = "/v1/jobs/{id}/events",
     .group = "jobs",
     .summary = "List the events of a job in order: a page as JSON, or a live stream for `Accept: "
                "text/event-stream`.",
     .response = "EventList",
     .errors = finds,
     .query = event_query,
     .other_media_type = "text/event-stream"},
    {.name = "list_job_logs",
     .method = "GET",
     .path = "/v1/jobs/{id}/logs",
     .group = "jobs",
     .summary = "List the log lines of a job in order. As text, a page that is not the last has a "
                "Link header with rel=next.",
     .response = "LogList",
     .errors = finds,
     .query = log_query,
     .other_media_type = "text/plain"},
    {.name = "list_job_metrics",
     .method = "GET",
     .path = "/v1/jobs/{id}/metrics",
     .group = "jobs",
     .summary = "Get the metric curves of a job.",
     .response = "MetricList",
     .errors = finds,
     .query = metric_query},
    {.name = "list_metrics",
     .method = "GET",
     .path = "/v1/metrics",
     .group = "jobs",
     .summary = "Get the metric curves of several jobs, to compare them.",
     .response = "JobMetricList",
     .errors = finds,
     .query = many_metrics_query},
    {.name = "get_job_metrics_csv",
     .method = "GET",
     .path = "/v1/jobs/{id}/metrics.csv",
     .group = "jobs",
     .summary = "Get the metric curves as CSV: all points; curves with more than 200,000 points in "
                "all are thinned evenly. The header X-Thinned is true if they are thinned.",
     .errors = finds,
     .query = csv_query,
     .media_type = "text/csv"},
    {.name = "get_job_tensorboard",
     .method = "GET",
     .path = "/v1/jobs/{id}/tensorboard",
     .group = "jobs",
     .summary = "Download the metric curves of all attempts as one TensorBoard event file. 404 "
                "until the job runs.",
     .errors = finds,
     .media_type = "application/octet-stream"},
    {.name = "list_job_checkpoints",
     .method = "GET",
     .path = "/v1/jobs/{id}/checkpoints",
     .group = "jobs",
     .summary = "List the checkpoints of a job, newest first.",
     .response = "CheckpointList",
     .errors = finds,
     .query = paging},
    {.name = "get_job_report",
     .method = "GET",
     .path = "/v1/jobs/{id}/report",
     .group = "jobs",
     .summary = "Report where the job spends its time, and how to make it faster. 404 until the "
                "job has run.",
     .response = "Report",
     .errors = finds,
     .query = report_query,
     .other_media_type = "text/plain"},
    {.name = "get_job_evaluation",
     .method = "GET",
     .path = "/v1/jobs/{id}/evaluation",
     .group = "jobs",
     .summary = "Get the last evaluation in full: every metric, the values per label and the "
                "confusion matrix. 404 until there is one.",
     .response = "Evaluation",
     .errors = not_found},
    {.name = "list_job_graphs",
     .method = "GET",
     .path = "/v1/jobs/{id}/graphs",
     .group = "jobs",
     .summary = "List the compiled programs of a job.",
     .response = "GraphList",
     .errors = finds},
    {.name = "get_job_graph",
     .method = "GET",
     .path = "/v1/jobs/{id}/graphs/{hash}",
     .group = "jobs",
     .summary = "Get a compiled program: graph, kernels and memory plan.",
     .response = "Graph",
     .errors = of_whole_reports,
     .query = graph_query,
     .other_media_type = "text/plain"},
    {.name = "get_job_trace",
     .method = "GET",
     .path = "/v1/jobs/{id}/trace",
     .group = "jobs",
     .summary = "Download a timeline in the trace event format, for chrome://tracing or Perfetto.",
     .errors = of_whole_reports},
});

}    // namespace slipway::job_output_endpoints
