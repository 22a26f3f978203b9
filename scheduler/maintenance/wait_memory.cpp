#include "scheduler/maintenance/wait_memory.h"

#include <utility>

namespace slipway {

std::vector<store::NewDecision> WaitMemory::to_record(const std::vector<WaitReason>& waiting,
                                                      Instant now) {
    std::vector<store::NewDecision> decisions;
    std::map<std::string, Seen> present;
    for (const WaitReason& reason : waiting) {
        Seen& seen = present[reason.job_id];
        const auto before = seen_.find(reason.job_id);
        seen = before != seen_.end() && before->second.code == reason.code
                   ? before->second
                   : Seen{.code = reason.code, .since = now};
        if (seen.recorded || now - seen.since < lasting || decisions.size() == at_once) continue;
        seen.recorded = true;
        decisions.push_back({.job_id = reason.job_id,
                             .kind = "wait",
                             .reason = {.code = reason.code,
                                        .message = reason.message,
                                        .related_job = reason.blocking_job}});
    }
    seen_ = std::move(present);
    return decisions;
}

}    // namespace slipway
