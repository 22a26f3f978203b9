#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api/base/result.h"
#include "executor/train/attempt_plan.h"

namespace slipway {

/// What an AttemptOrder comes to.
struct ResolvedAttempt {
    AttemptPlan plan;
    std::string job_id;
    std::string fence;    ///< what an agent must say to be listened to
    double grace_s = 60;
    std::int64_t saves_requested = 0;    ///< before the attempt began
    std::string traceparent = {};        ///< that the job belongs to; empty: none
};

/// Reads run_folder/attempt.json, written by the agent.
/// errors  not_found without file; invalid_argument when it is no JSON; conflict, naming the field,
///         when one is missing, wrong or unknown: who wrote it has checked it, by another build
Result<ResolvedAttempt> read_attempt(const std::filesystem::path& run_folder);

/// A job spec's text, decoded. The error's message holds every problem, one per line.
Result<JobSpec> read_job_spec(const std::string& text);

}    // namespace slipway
