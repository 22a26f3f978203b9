#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "api/spec/job_state.h"
#include "api/spec/spelling.h"

namespace slipway {

/// What is asked of a live attempt: in its job's row, in the agent's `stop` frame and as the cause
/// of its end. One word everywhere.
enum class Intent {
    cancel,     ///< a user ends the job; what it has is saved
    kill,       ///< a user ends the job at once; nothing is saved
    pause,      ///< a user takes the cores back; the job waits for `resume`
    preempt,    ///< the cores are needed; the job saves and queues again
    timeout     ///< limits.max_wall_s or max_core_s passed; asked by the agent alone
};

template <>
struct Spelling<Intent> {
    static constexpr std::array<std::string_view, 5> words{"cancel", "kill", "pause", "preempt",
                                                           "timeout"};
};

/// What an intent means, once for the store, the agent and the executor.
struct IntentMeaning {
    Intent intent;
    std::optional<JobState> asked;    ///< of its job until the attempt has ended; none: as it was
    std::optional<JobState> rest;     ///< where a job goes that has no live attempt
    bool saves;                       ///< the executor is asked and given time; false: SIGKILL
};

const IntentMeaning& meaning_of(Intent intent) noexcept;

/// The intent that a job in `state` has when nobody named one; none where no end is asked.
std::optional<Intent> default_intent(JobState state) noexcept;

/// True when `next` replaces `present`: a request may become sharper, never milder.
bool is_sharper(Intent next, Intent present) noexcept;

}    // namespace slipway
