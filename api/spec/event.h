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

/// What an executor writes: numbered frames ("n": 1, 2, 3 …) except `beat`. `done` is the last.
enum class FrameType { state, progress, metric, log, checkpoint, compile, warning, done, beat };

template <>
struct Spelling<FrameType> {
    static constexpr std::array<std::string_view, 9> words{
        "state", "progress", "metric", "log", "checkpoint", "compile", "warning", "done", "beat"};
};

/// What an agent writes to an executor. `hello` is the first; `stop` names an Intent.
enum class AgentFrameType { hello, beat, stop };

template <>
struct Spelling<AgentFrameType> {
    static constexpr std::array<std::string_view, 3> words{"hello", "beat", "stop"};
};

/// How an attempt ended, in its `done` frame.
enum class AttemptOutcome { succeeded, failed, cancelled, timed_out, orphaned };

template <>
struct Spelling<AttemptOutcome> {
    static constexpr std::array<std::string_view, 5> words{"succeeded", "failed", "cancelled",
                                                           "timed_out", "orphaned"};
};

/// Why a job failed: `reason.code`. Only `executor_lost` counts restarts first.
enum class FailureCode {
    data_error,            ///< a file, row or field of the dataset cannot be used
    nan_loss,              ///< the loss is not a number any more
    out_of_memory,         ///< the program's plan needs more than the attempt's memory limit
    oom_host,              ///< the executor reached that limit, or the machine's memory
    spec_error,            ///< the spec does not fit the dataset
    checkpoint_corrupt,    ///< no stored checkpoint loads
    disk_full,
    executor_lost,    ///< its executor ended without a word, more often than limits.max_restarts
    internal          ///< ours
};

template <>
struct Spelling<FailureCode> {
    static constexpr std::array<std::string_view, 9> words{
        "data_error",         "nan_loss",  "out_of_memory", "oom_host", "spec_error",
        "checkpoint_corrupt", "disk_full", "executor_lost", "internal"};
};

/// The exit code of an executor that had no memory left and no frame to say so in.
constexpr int exit_code_out_of_memory = 12;

}    // namespace slipway
