#include "server/routes/tenant_limits.h"

#include <fmt/format.h>

#include "scheduler/store/jobs.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds count_good_for{1};
constexpr std::size_t projects_kept = 1000;

}    // namespace

void QueuedJobs::add(const std::string& project, std::int64_t limit) {
    if (limit == 0) return;
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find(project);
    const bool fresh =
        found != counts_.end() && clock_.tick() - found->second.read_at < count_good_for;
    if (!fresh) {
        // Whoever names a thousand projects gets them counted again, and no memory of ours.
        if (counts_.size() >= projects_kept) counts_.clear();
        counts_[project] = {.jobs = store::count_queued_jobs(store_, project),
                            .read_at = clock_.tick()};
    }
    Count& count = counts_[project];
    if (count.jobs >= limit) {
        throw Error{ErrorCode::exhausted,
                    fmt::format("project {} has {} queued jobs, and {} is the most that it may "
                                "have (--queued-jobs-max); wait until some have started, or "
                                "cancel some",
                                project, count.jobs, limit)};
    }
    ++count.jobs;
}

}    // namespace slipway
