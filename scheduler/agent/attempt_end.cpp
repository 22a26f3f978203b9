#include "scheduler/agent/attempt_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/protocol/exit_codes.h"
#include "scheduler/agent/memory_guard.h"
#include "scheduler/agent/slice_end.h"

namespace slipway {

namespace {

using enum JobState;

/// The second loss may have a cause that needs time: a full disk, memory taken by others.
constexpr std::array<std::chrono::milliseconds, 4> retry_after{
    std::chrono::seconds{0}, std::chrono::seconds{5}, std::chrono::seconds{15},
    std::chrono::seconds{60}};

constexpr std::chrono::seconds start_again_after{10};
constexpr std::chrono::seconds disk_again_after{120};
constexpr const char* disk_full = "disk_full";
constexpr std::chrono::seconds other_build_after_max{300};
/// In a row, about a quarter of an hour: longer than an upgrade of one host takes.
constexpr int refusals_max = 8;
/// In a row: members that do not find each other, programs that do not begin.
constexpr int failed_starts_max = 8;
constexpr const char* data_changed = "data_changed";
/// Of slipway-slurm-start, slipway-confine and a shell, when the program itself did not begin.
constexpr int never_began_min = 125;
constexpr int never_began_max = 127;

/// Back to the queue, or wherever the job was on its way to.
JobState let_go(JobState present) {
    return present == pausing ? paused : queued;
}

store::AttemptEnd ended(std::string kind, std::string message) {
    store::AttemptEnd end;
    end.exit_kind = std::move(kind);
    end.message = std::move(message);
    return end;
}

/// The disk is the machine's, and somebody may make room: the job goes on from its last checkpoint.
/// What no room is enough for ends when it is full for the third time in a row.
void wait_for_disk(store::AttemptEnd& end, JobState present) {
    end.job_state = let_go(present);
    end.counts_as_restart = false;
    end.retry_after = disk_again_after;
    end.crash_key = disk_full;
}

/// Nothing is wrong with the job: it goes on from its last checkpoint, as often as that takes.
void restart_with_others(store::AttemptEnd& end, JobState present) {
    end.job_state = let_go(present);
    end.counts_as_restart = false;
    end.retry_after = start_again_after;
}

store::AttemptEnd stopped_for_others(const EndFacts& facts) {
    const std::string message = "it was stopped because another member of the slice had ended";
    store::AttemptEnd end = ended(member_lost_code, message);
    end.reason = store::Reason{.code = member_lost_code, .message = message};
    restart_with_others(end, facts.job_state);
    return end;
}

/// In the middle of an upgrade of the hosts one after another, those that have the old build cannot
/// read orders with new fields: the job waits for one that can, for as long as the upgrade takes.
/// An agent that can read what its executor cannot is of another build than its executor, which no
/// upgrade of other hosts changes.
void wait_for_build(store::AttemptEnd& end, const EndFacts& facts) {
    restart_with_others(end, facts.job_state);
    end.exit_kind = wrong_build_code;
    end.retry_after_max = other_build_after_max;
    end.crash_key = wrong_build_code;
    end.repeats_max = facts.knows_order ? refusals_max : 0;
    if (!facts.knows_order) return;
    end.reason->message +=
        "; slipwayd of this host can read it, so its slipwayd and "
        "slipway-executor are of different builds";
    end.message = end.reason->message;
}

/// Another host may be able to start it.
void blame_host(store::AttemptEnd& end, const EndFacts& facts) {
    end.job_state = let_go(facts.job_state);
    end.counts_as_restart = false;
    end.retry_after = start_again_after;
    // Which node of a cluster it was is the launcher's to remember.
    if (facts.note.node.empty()) end.fault_host = facts.host;
}

/// What is there to be read is not what was checked.
void refuse_data(store::AttemptEnd& end, const EndFacts& facts) {
    blame_host(end, facts);
    end.exit_kind = "not_started";
    end.fails_everywhere = facts.note.node.empty();
    if (end.fails_everywhere) return;
    // Slurm chooses the next node, perhaps this one.
    end.message += "; it was read by " + facts.note.where;
    end.reason->message = end.message;
    end.crash_key = data_changed;
}

store::AttemptEnd reported(const EndFacts& facts) {
    const DoneFrame& done = *facts.done;
    const JobState present = facts.job_state;
    const std::string outcome(to_string(done.outcome));
    store::AttemptEnd end = ended(outcome, done.message);
    if (done.outcome == AttemptOutcome::orphaned) {
        end.job_state = let_go(present);
        end.counts_as_restart = false;    // nothing was wrong with it
        return end;
    }
    end.job_state = parse_word<JobState>(outcome).value_or(failed);
    if (done.result.is_object()) end.result = done.result.dump();
    if (end.job_state == failed) {
        end.reason = store::Reason{.code = done.code.empty() ? "internal" : done.code,
                                   .message = done.message};
        if (done.code == disk_full) wait_for_disk(end, present);
        if (done.code == member_lost_code) {
            restart_with_others(end, present);
            if (!facts.stepped) {
                end.crash_key = member_lost_code;
                end.repeats_max = failed_starts_max;
            }
        }
        if (done.code == data_changed || facts.is_host_fault) refuse_data(end, facts);
        if (done.code == wrong_build_code) wait_for_build(end, facts);
    } else if (end.job_state == timed_out || !done.code.empty()) {
        end.reason =
            store::Reason{.code = done.code.empty() ? outcome : done.code, .message = done.message};
    }
    return end;    // a cancelled job keeps the reason that came with the request
}

std::string exit_text(int status) {
    return status > 128 ? fmt::format(" (signal {})", status - 128)
                        : fmt::format(" (exit code {})", status);
}

/// The program did not begin: the node or host lacks something that it needs, or is too slow.
bool has_never_begun(const EndFacts& facts) {
    if (facts.cause == EndCause::not_started) return true;
    return !facts.spoke && facts.exit_status && *facts.exit_status >= never_began_min &&
           *facts.exit_status <= never_began_max;
}

std::string how_it_went(const EndFacts& facts) {
    if (!facts.problem.empty()) return facts.problem;
    std::string text = has_never_begun(facts) ? "the executor could not be started"
                                              : "the executor ended without a done frame";
    switch (facts.cause) {
        case EndCause::silent:
            text = "the executor sent nothing for too long and was killed";
            break;
        case EndCause::not_started:
            text = "the executor sent no first frame in time and was killed";
            break;
        default:
            if (facts.exit_status) text += exit_text(*facts.exit_status);
    }
    if (!facts.note.where.empty()) text += " as " + facts.note.where;
    if (facts.position) text += " " + describe(*facts.position);
    if (!facts.output_tail.empty()) text += "; its output ends: " + facts.output_tail;
    return text;
}

store::AttemptEnd failed_for_memory(const MemoryEnd& memory) {
    const std::string message = describe(memory);
    store::AttemptEnd end = ended("failed", message);
    end.job_state = failed;
    end.reason = store::Reason{.code = "oom_host", .message = message};
    return end;
}

/// Two crashes with one key are the same: how it ended, and in which step.
std::string crash_key(const EndFacts& facts) {
    if (!facts.position) return {};
    return fmt::format("{} {} {}", to_string(facts.cause), facts.exit_status.value_or(-1),
                       facts.position->step);
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

store::JsonText failure_of(const RunPosition& position) {
    return Json{{"failure",
                 {{"step", position.step},
                  {"epoch", position.epoch > 0 ? Json(position.epoch) : Json()},
                  {"batch", position.epoch > 0 ? Json(position.batch) : Json()},
                  {"phase", phase_of(position)},
                  {"program", text_or_null(program_of(position))},
                  {"operation", text_or_null(operation_of(position))},
                  {"replica", position.replica >= 0 ? Json(position.replica) : Json()}}}}
        .dump();
}

/// The machine could not run it: nothing that the job does is known to be wrong.
store::AttemptEnd never_started(const EndFacts& facts) {
    store::AttemptEnd end = ended("not_started", facts.problem);
    end.job_state = let_go(facts.job_state);
    end.counts_as_restart = false;
    end.retry_after = start_again_after;
    end.reason = store::Reason{.code = "not_started", .message = facts.problem};
    if (facts.is_host_fault) end.fault_host = facts.host;
    return end;
}

store::AttemptEnd never_began(const EndFacts& facts) {
    store::AttemptEnd end = ended("not_started", how_it_went(facts));
    blame_host(end, facts);
    end.crash_key = "never_began";
    end.repeats_max = failed_starts_max;
    end.reason = store::Reason{.code = "not_started", .message = end.message};
    return end;
}

/// Nothing of the attempt was tried.
store::AttemptEnd never_heard(const EndFacts& facts) {
    store::AttemptEnd end =
        ended("not_started", "the executor that had waited for an attempt ended before it began");
    end.job_state = let_go(facts.job_state);
    end.counts_as_restart = false;
    return end;
}

/// By whoever runs the cluster: the job is not the cause.
store::AttemptEnd taken_away(const EndFacts& facts) {
    store::AttemptEnd end =
        ended("lost",
              fmt::format("the cluster took the place of the executor away: {}", facts.note.where));
    restart_with_others(end, facts.job_state);
    return end;
}

/// It could not even say so.
store::AttemptEnd stopped_by_full_disk(const EndFacts& facts) {
    const std::string message =
        "the disk of the host is full: the executor could not write how it ended";
    store::AttemptEnd end = ended("failed", message);
    end.reason = store::Reason{.code = disk_full, .message = message};
    wait_for_disk(end, facts.job_state);
    return end;
}

store::AttemptEnd lost(const EndFacts& facts) {
    store::AttemptEnd end = ended("crashed", how_it_went(facts));
    end.crash_key = crash_key(facts);
    if (facts.position) end.result = failure_of(*facts.position);
    end.job_state = let_go(facts.job_state);
    const auto tries = std::size_t(std::max(facts.restarts, 0));
    end.retry_after = retry_after[std::min(tries, retry_after.size() - 1)];
    return end;
}

}    // namespace

store::AttemptEnd decide_end(const EndFacts& facts) {
    store::AttemptEnd end;
    const std::string killed =
        facts.problem.empty() ? "it did not end on request and was killed" : facts.problem;
    if (facts.done) {
        end = reported(facts);
    } else if (facts.cause == EndCause::kill) {
        end = ended("cancelled", facts.problem.empty() ? "it was killed" : facts.problem);
        end.job_state = cancelled;
    } else if (facts.cause == EndCause::cancel) {
        end = ended("cancelled", killed);
        end.job_state = cancelled;
    } else if (facts.cause == EndCause::timeout) {
        end = ended("timed_out", killed);
        end.job_state = timed_out;
        end.reason = store::Reason{
            .code = "timed_out",
            .message = "the time of limits.max_wall_s or limits.max_core_s is used up"};
    } else if (facts.cause == EndCause::member_lost || facts.note.by == EndedBy::others) {
        end = stopped_for_others(facts);
    } else if (facts.note.by == EndedBy::cluster) {
        end = taken_away(facts);
    } else if (facts.exit_status == exit_disk_full) {
        end = stopped_by_full_disk(facts);
    } else if (facts.unheard) {
        end = never_heard(facts);
    } else if (facts.memory) {
        end = failed_for_memory(*facts.memory);
    } else if (facts.cause == EndCause::not_started && !facts.problem.empty()) {
        end = never_started(facts);
    } else if (has_never_begun(facts)) {
        end = never_began(facts);
    } else {
        end = lost(facts);
        if (facts.cause == EndCause::pause || facts.cause == EndCause::preempt) {
            end.counts_as_restart = false;
            end.crash_key.clear();    // it was killed for being slow
        }
    }
    end.exit_status = facts.exit_status;
    return end;
}

}    // namespace slipway
