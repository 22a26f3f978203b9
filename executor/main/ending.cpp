#include "executor/main/ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "api/base/metric_value.h"
#include "api/protocol/frames.h"
#include "executor/checkpoint/checkpoint.h"
#include "executor/main/frame_reporter.h"
#include "executor/main/private_memory.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

/// One row: why a run stopped before its end, as users see it.
struct StopRow {
    StopReason reason;
    AttemptOutcome outcome;
    const char* message;
    int exit_code;
};

constexpr StopRow stop_rows[] = {
    {StopReason::none, AttemptOutcome::succeeded, "", exit_done},
    {StopReason::cancel, AttemptOutcome::cancelled, "cancelled on request", exit_done},
    {StopReason::timeout, AttemptOutcome::timed_out,
     "the time of limits.max_wall_s or limits.max_core_s is used up", exit_done},
    {StopReason::drain, AttemptOutcome::orphaned, "saved and exited on request", exit_orphaned},
    {StopReason::orphaned, AttemptOutcome::orphaned, "the agent did not answer; saved and exited",
     exit_orphaned},
};

Ending ending_of(const TrainOutcome& outcome) {
    Json result{{"step", outcome.step}, {"epoch", outcome.epoch}};
    Json nonfinite = Json::object();
    for (const auto& [name, value] : outcome.final_values)
        put_named_value(result, nonfinite, name, value);
    if (!nonfinite.empty()) result["nonfinite"] = std::move(nonfinite);
    if (outcome.best) {
        result["best"] = {{"metric", outcome.best->first}, {"value", outcome.best->second}};
    }
    for (const StopRow& row : stop_rows) {
        if (row.reason != outcome.stopped) continue;
        if (!outcome.stopped_early.empty()) {
            return {.outcome = row.outcome,
                    .code = "early_stopping",
                    .message = bounded(outcome.stopped_early),
                    .result = result.dump(),
                    .exit_code = row.exit_code};
        }
        return {.outcome = row.outcome,
                .code = {},
                .message = row.message,
                .result = result.dump(),
                .exit_code = row.exit_code};
    }
    check(false, "every stop reason has a row");
    return {};
}

Ending failure(std::string code, const std::string& message) {
    return {.outcome = AttemptOutcome::failed,
            .code = std::move(code),
            .message = bounded(message),
            .result = {},
            .exit_code = exit_failed};
}

/// Failures that leave a process as it was. The trainer looks at the numbers of a step that has
/// ended (nan_loss) or at what it was asked for (spec_error) and throws; what the attempt had ends
/// with it, as at a good end. Not here, because something else than the job may be wrong, or may
/// have been left: memory or disk that ran out, files that a decoder took for damaged, checkpoints,
/// whatever is unexpected.
constexpr std::array<std::string_view, 2> clean_failures{"nan_loss", "spec_error"};

Ending failure_of(const TrainError& error) {
    Ending ending = failure(error.reason(), error.what());
    ending.is_clean_failure =
        std::ranges::find(clean_failures, error.reason()) != clean_failures.end();
    return ending;
}

std::string memory_message(std::int64_t limit_bytes) {
    const std::int64_t used = private_memory_bytes();
    if (limit_bytes == 0) {
        return fmt::format("the machine has no memory left for the job, which uses {} bytes", used);
    }
    return fmt::format(
        "the job needs more memory than it may use: its limit is {} bytes, and {} bytes are in use "
        "with the executor's own; a larger accelerator.memory_bytes or more cores raise the limit, "
        "a smaller batch or network needs less",
        limit_bytes, used);
}

/// The failure code of an error that did not say its own.
std::string code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "spec_error";
        case ErrorCode::not_found:
        case ErrorCode::data_loss:
            return "data_error";
        case ErrorCode::exhausted:
            return "disk_full";
        default:
            return "internal";
    }
}

/// Checkpoints are written as NAME.tmp and renamed; only one attempt of a job runs at a time.
void remove_unfinished(const std::filesystem::path& checkpoints) {
    std::error_code absent;
    std::vector<std::filesystem::path> unfinished;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints, absent))
        if (entry.path().extension() == ".tmp") unfinished.push_back(entry.path());
    for (const std::filesystem::path& path : unfinished)
        std::filesystem::remove_all(path, absent);
}

}    // namespace

Ending train_to_the_end(const Trainer& trainer, AttemptPlan plan, Reporter& reporter) {
    std::string where;
    plan.on_failure = [&where](const std::string& place) { where = place; };
    const auto failed = [&where](Ending ending) {
        if (!where.empty())
            ending.result = Json{{"failure", Json::parse(where, nullptr, false)}}.dump();
        return ending;
    };
    try {
        if (!plan.member || plan.member->rank == 0) remove_unfinished(plan.checkpoint_folder);
        return ending_of(trainer(plan, reporter));
    } catch (const TrainError& error) {
        // Members begin at one checkpoint, all or none: another one is the agents' to choose.
        const bool may_choose = plan.resume_from && !plan.member;
        const auto other = may_choose && error.reason() == "checkpoint_corrupt"
                               ? newest_checkpoint(plan.checkpoint_folder)
                               : std::nullopt;
        if (!other || *other == *plan.resume_from) return failed(failure_of(error));
        reporter.warning("checkpoint_corrupt",
                         fmt::format("{}; continuing from {} instead", error.what(),
                                     other->filename().string()));
        plan.resume_from = other;
        return train_to_the_end(trainer, std::move(plan), reporter);
    } catch (const Error& error) {
        return failed(failed_with(error));
    } catch (const std::bad_alloc&) {
        return failure("oom_host", memory_message(plan.memory_bytes_max));
    } catch (const std::exception& error) {
        return failure("internal", error.what());
    }
}

Ending failed_with(const Error& error) {
    return failure(code_of(error.code()), error.what());
}

Ending of_another_build(const Error& error) {
    return failure(
        "wrong_build",
        fmt::format("the executor of this host cannot read the order of the service, and "
                    "is of another build: install one build on all hosts: {}",
                    error.what()));
}

Json done_frame(const Ending& ending) {
    const Json result = ending.result.empty() ? Json() : Json::parse(ending.result);
    return to_json(DoneFrame{.outcome = ending.outcome,
                             .code = ending.code,
                             .message = ending.message,
                             .result = result});
}

}    // namespace slipway
