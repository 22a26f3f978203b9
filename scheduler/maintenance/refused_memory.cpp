#include "scheduler/maintenance/refused_memory.h"

namespace slipway {

bool RefusedMemory::refused(const std::string& job_id, Instant now) {
    Refused& known = refused_[job_id];
    known.last = now;
    return ++known.count == refusals_max;
}

void RefusedMemory::filter(std::vector<WaitingJob>& queue, Instant now) {
    // Also when the clock was set back.
    std::erase_if(refused_, [now](const auto& each) {
        const auto since = now - each.second.last;
        return since > passed_over_for || since < -passed_over_for;
    });
    std::erase_if(queue, [this](const WaitingJob& job) {
        const auto known = refused_.find(job.job_id);
        return known != refused_.end() && known->second.count >= refusals_max;
    });
}

}    // namespace slipway
