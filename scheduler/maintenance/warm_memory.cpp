#include "scheduler/maintenance/warm_memory.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slipway {

void WarmMemory::placed(const WaitingJob& job, const std::string& host, Instant now) {
    if (job.dataset_id.empty()) return;
    used_at_[{job.project, job.dataset_id, host}] = now;
    if (used_at_.size() > places_max) forget_oldest();
}

std::vector<WarmPlace> WarmMemory::places_of(const std::vector<WaitingJob>& queue,
                                             Instant now) const {
    std::set<std::pair<std::string, std::string>> wanted;
    for (const WaitingJob& job : queue)
        wanted.emplace(job.project, job.dataset_id);
    std::vector<WarmPlace> places;
    for (const auto& [project, dataset_id] : wanted) {
        for (auto at = used_at_.lower_bound({project, dataset_id, ""}); at != used_at_.end();
             ++at) {
            const auto& [of_project, of_dataset, host] = at->first;
            if (of_project != project || of_dataset != dataset_id) break;
            if (now - at->second < kept) places.push_back({project, dataset_id, host, at->second});
        }
    }
    return places;
}

void WarmMemory::forget_oldest() {
    used_at_.erase(
        std::ranges::min_element(used_at_, {}, [](const auto& place) { return place.second; }));
}

}    // namespace slipway
