#include "scheduler/placement/preemption.h"

#include <algorithm>
#include <tuple>

namespace slipway {

namespace {

struct Candidate {
    const RunningJob* job;
    int cores = 0;    // of this host, that nobody ahead has reserved
};

// What asking costs: the lowest class first, and in it who has the least to lose.
bool gives_way_before(const Candidate& a, const Candidate& b) {
    return std::tie(b.job->class_rank, b.job->started_at, b.job->job_id) <
           std::tie(a.job->class_rank, a.job->started_at, a.job->job_id);
}

bool is_wanted(const WaitingJob& job, const Slot& slot) {
    return slot.usable() && slot.reserved_by.empty() &&
           (!job.core_id || *job.core_id == slot.core.core);
}

}    // namespace

std::optional<Preemption> choose_preemption(const WaitingJob& job, const HostSlots& slots,
                                            const RunningJobs& running) {
    Preemption preemption;
    int missing = job.cores;
    std::map<std::string, Candidate> candidates;
    for (const Slot& slot : slots) {
        if (!is_wanted(job, slot)) continue;
        if (slot.core.held_by.empty()) {
            --missing;
            continue;
        }
        const auto holder = running.find(slot.core.held_by);
        if (holder == running.end()) continue;
        if (holder->second.ending) {
            --missing;
            preemption.ending = holder->first;
        } else if (holder->second.preemptible && holder->second.class_rank > job.class_rank) {
            Candidate& candidate = candidates[holder->first];
            candidate.job = &holder->second;
            ++candidate.cores;
        }
    }
    std::vector<Candidate> order;
    for (const auto& [id, candidate] : candidates)
        order.push_back(candidate);
    std::ranges::sort(order, gives_way_before);
    std::vector<Candidate> asked;
    for (const Candidate& candidate : order) {
        if (missing <= 0) break;
        missing -= candidate.cores;
        asked.push_back(candidate);
    }
    if (missing > 0) return std::nullopt;
    // Who was taken first may have become superfluous by a larger one.
    std::erase_if(asked, [&](const Candidate& candidate) {
        if (missing + candidate.cores > 0) return false;
        missing += candidate.cores;
        return true;
    });
    for (const Candidate& candidate : asked) {
        preemption.give_way.push_back(candidate.job->job_id);
        preemption.cores += candidate.cores;
    }
    return preemption;
}

}    // namespace slipway
