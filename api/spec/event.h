#pragma once

#include <array>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway {

/// What a client of a job's stream gets. `gap` and `end` are made by the service.
enum class EventType { state, progress, metric, log, checkpoint, compile, warning, gap, end };

template <>
struct Spelling<EventType> {
    static constexpr std::array<std::string_view, 9> words{
        "state", "progress", "metric", "log", "checkpoint", "compile", "warning", "gap", "end"};
};

/// What a client of a project's stream gets: the events of its jobs, and what becomes of datasets,
/// splits and deleted objects. `gap` is made by the service.
enum class ProjectEventType {
    state,
    progress,
    metric,
    log,
    checkpoint,
    compile,
    warning,
    end,
    dataset,
    split,
    deleted,
    gap
};

template <>
struct Spelling<ProjectEventType> {
    static constexpr std::array<std::string_view, 12> words{
        "state",   "progress", "metric",  "log",   "checkpoint", "compile",
        "warning", "end",      "dataset", "split", "deleted",    "gap"};
};

/// Whether the body is a frame's. `state` and `end` are written by the database with the state,
/// `gap` by a stream.
constexpr bool is_relayed(EventType type) noexcept {
    return type != EventType::state && type != EventType::gap && type != EventType::end;
}

/// How an attempt ended, in its `done` frame.
enum class AttemptOutcome { succeeded, failed, cancelled, timed_out, orphaned };

template <>
struct Spelling<AttemptOutcome> {
    static constexpr std::array<std::string_view, 5> words{"succeeded", "failed", "cancelled",
                                                           "timed_out", "orphaned"};
};

/// The exit code of an executor that had no memory left and no frame to say so in.
constexpr int exit_code_out_of_memory = 12;

}    // namespace slipway
