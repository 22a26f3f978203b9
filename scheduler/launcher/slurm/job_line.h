#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/launcher/launcher.h"

namespace slipway {

/// A job as squeue knows it.
struct SlurmJobLine {
    std::int64_t number = 0;
    std::string state;      ///< Slurm's word: PENDING, RUNNING, NODE_FAIL, …
    int wait_status = 0;    ///< of its script, as waitpid gives it; meaningful at the end
    std::string reason;     ///< why it waits, or how it ended: Resources, JobHeldUser, …
    std::string comment;
    std::string node;          ///< that its script runs on; empty: none yet
    std::string nodes = {};    ///< all of them, as Slurm writes a list; cut when it is long
    bool operator==(const SlurmJobLine&) const = default;
};

/// Where a job stands, as far as it matters here.
enum class SlurmStage { waiting, running, ended };

/// Words that a later Slurm may add count as running: who is not known to have ended has not.
SlurmStage stage_of(std::string_view state);

/// It was submitted held, and is.
bool is_held(const SlurmJobLine& job);

/// Arguments of squeue for what parse_job_lines() reads: this user's jobs, also those that ended
/// lately.
std::vector<std::string> job_line_command();

/// A line that is not of that form (somebody's comment has a line break) becomes a job of which the
/// number alone is known, or nothing: it hides no other one.
std::vector<SlurmJobLine> parse_job_lines(std::string_view text);

/// Whether the cluster ended a job in this state, for reasons of its own: its node failed, another
/// job took its place.
bool was_taken_away(std::string_view state);

/// "node[1-3,7],big" as names in this order. What is cut off or of another form is left out.
std::vector<std::string> expand_nodes(std::string_view list);

/// How a job ended; none when Slurm does not know how its program did (its node failed, it never
/// ran).
std::optional<ProcessExit> exit_of_job(const SlurmJobLine& job);

}    // namespace slipway
