#pragma once

#include <optional>
#include <string>

#include "api/protocol/run_position.h"
#include "scheduler/agent/attempt_watch.h"
#include "scheduler/agent/frame_tail.h"
#include "scheduler/agent/supervisor.h"
#include "scheduler/store/attempts.h"

namespace slipway {

/// Of an executor that cannot read the order, although it is JSON.
inline constexpr const char* wrong_build_code = "wrong_build";

/// All that is known when a process is gone.
struct EndFacts {
    std::optional<DoneFrame> done;     ///< its last frame, when it sent one
    std::optional<int> exit_status;    ///< exit code or 128 + signal; none for an adopted process
    EndCause cause = EndCause::none;
    std::optional<MemoryEnd> memory = {};    ///< it was ended for its memory
    JobState job_state{};                    ///< of the job, as last heard
    int restarts = 0;
    std::string problem;        ///< why it could not be started; empty: it was
    std::string output_tail;    ///< the last lines of output.log
    /// Its executor had waited for it, and ended before it said a word: it never knew of it.
    bool unheard = false;
    /// This build of the agent can read the order (known_order.h): asked of an executor that
    /// cannot.
    bool knows_order = false;
    EndNote note = {};                           ///< of the launcher
    std::optional<RunPosition> position = {};    ///< where the run was, as its executor left it
    std::string host = {};                       ///< of the agent
    bool spoke = true;                           ///< its executor has sent a frame
    bool stepped = true;                         ///< and has trained
    /// What it could not start for is missing here: another host may have it.
    bool is_host_fault = false;
};

/// What to tell the store. The executor's own report counts most, then why we ended it; a process
/// that vanished without a done frame is lost: its job runs again, later each time, and the store
/// ends it when it vanishes for the third time in the same way at the same step. One that could not
/// be started runs again, as often as that takes: the machine's fault is not the job's. So does one
/// whose executor, which had waited, ended before it began: at once, and each time there is one
/// such executor less. One whose place the cluster took away, or that was ended with a member of
/// its slice, runs again and loses no restart. So does one whose order the executor's build cannot
/// read, later each time; it fails after some such ends in a row when the agent's own build can
/// read the order: then the host has no older build, but programs that do not fit each other. One
/// that was ended for its memory has failed: it would need as much again. A start that failed for a
/// reason of the host names it (AttemptEnd::fault_host): what is missing there, data that is not
/// what was checked, a program that did not begin. Pure.
store::AttemptEnd decide_end(const EndFacts& facts);

}    // namespace slipway
