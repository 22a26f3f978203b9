#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "api/spec/spelling.h"

namespace slipway::simulator {

/// A rule of the service that a run breaks on purpose, to see that the checker notices.
enum class BrokenRule {
    none,
    fence_ignored,               ///< a replaced attempt may write
    leases_freed_by_core,        ///< a replaced attempt frees its cores, whoever has them now
    leased_cores_given,          ///< nobody looks whether a core is leased
    rescue_without_a_look,       ///< an attempt whose lease was renewed meanwhile is ended
    queue_row_forgotten,         ///< a job that is queued again is in no queue
    lost_host_counted,           ///< the loss of a host is a restart
    frames_stored_twice,         ///< a batch that is sent again is stored again
    older_checkpoint_resumed,    ///< not the newest
    term_ignored,                ///< a replaced leader may write
    newest_job_first,            ///< the queue is served from its end
    cores_freed_early,           ///< an attempt ends before its process
    key_forgotten,               ///< a submission that is sent again makes another job
    intent_dropped               ///< an end by the agent forgets that the user has cancelled
};

}    // namespace slipway::simulator

template <>
struct slipway::Spelling<slipway::simulator::BrokenRule> {
    static constexpr std::array<std::string_view, 14> words{"none",
                                                            "fence_ignored",
                                                            "leases_freed_by_core",
                                                            "leased_cores_given",
                                                            "rescue_without_a_look",
                                                            "queue_row_forgotten",
                                                            "lost_host_counted",
                                                            "frames_stored_twice",
                                                            "older_checkpoint_resumed",
                                                            "term_ignored",
                                                            "newest_job_first",
                                                            "cores_freed_early",
                                                            "key_forgotten",
                                                            "intent_dropped"};
};

namespace slipway::simulator {

/// A promise of the service that a run has broken; ends the run.
class Violation : public std::runtime_error {
public:
    Violation(std::string promise, const std::string& detail)
        : std::runtime_error(promise + ": " + detail), promise_(std::move(promise)) {}
    const std::string& promise() const { return promise_; }

private:
    std::string promise_;
};

}    // namespace slipway::simulator
