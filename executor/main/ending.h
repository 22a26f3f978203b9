#pragma once

#include <functional>
#include <string>

#include "api/base/json.h"
#include "api/spec/event.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/train_outcome.h"

namespace slipway {

/// run_training, or a stand-in for it in tests.
using Trainer = std::function<TrainOutcome(const AttemptPlan& plan, Reporter& reporter)>;

/// Exit codes of the executor: what the agent goes by when there is no `done` frame.
inline constexpr int exit_done = 0;         ///< succeeded, cancelled, timed out
inline constexpr int exit_failed = 1;       ///< the reason is in the `done` frame
inline constexpr int exit_orphaned = 75;    ///< saved and left; may be resumed
// exit_disk_full (api/protocol/exit_codes.h): not even the `done` frame could be written

/// How an attempt ended.
struct Ending {
    AttemptOutcome outcome = AttemptOutcome::failed;
    std::string code;    ///< of a failure; "early_stopping" of a success before its end; else empty
    std::string message;
    std::string result;    ///< JSON object: step, epoch, best, the last evaluation's metrics
    int exit_code = exit_done;
    /// Of a failure: the trainer found it, between two steps or before the first one, and nothing
    /// of the attempt is left in the process.
    bool is_clean_failure = false;
};

/// Whether the next attempt may have the process.
inline bool leaves_process_clean(const Ending& ending) {
    return ending.exit_code == exit_done || ending.is_clean_failure;
}

/// Trains and turns whatever happens into an ending; throws nothing. What an earlier attempt left
/// half-written in the checkpoint folder goes first. When the checkpoint to resume from is damaged,
/// the newest whole one of the plan's checkpoint folder is tried, with a warning.
Ending train_to_the_end(const Trainer& trainer, AttemptPlan plan, Reporter& reporter);

/// An ending for an error that came before training.
Ending failed_with(const Error& error);

/// An ending for an order that this build cannot read: the job waits for the same build as the
/// service's.
Ending of_another_build(const Error& error);

/// The `done` frame.
Json done_frame(const Ending& ending);

}    // namespace slipway
