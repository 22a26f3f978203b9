#include "server/routes/tenant_limits.h"

#include <fmt/format.h>

#include "scheduler/store/jobs.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds count_good_for{1};
constexpr std::size_t counts_kept = 1000;

void require_below(const std::string& who, std::int64_t jobs, std::int64_t limit) {
    if (jobs < limit) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("{} has {} queued jobs, and {} is the most that it may have "
                            "(--queued-jobs-max); wait until some have started, or cancel some",
                            who, jobs, limit)};
}

}    // namespace

bool QueuedJobs::is_fresh(const Count& count) const {
    return count.read && clock_.tick() - count.read_at < count_good_for;
}

void QueuedJobs::add(const std::string& project, const std::string& token_id, std::int64_t limit) {
    if (limit == 0) return;
    const std::scoped_lock lock(mutex_);
    // Whoever names a thousand projects gets them counted again, and no memory of ours.
    for (auto* counts : {&of_projects_, &of_tokens_})
        if (counts->size() >= counts_kept) counts->clear();
    Count& of_project = of_projects_[project];
    Count& of_token = of_tokens_[token_id];
    const bool project_is_fresh = is_fresh(of_project);
    const bool token_is_fresh = is_fresh(of_token);
    if (!project_is_fresh || !token_is_fresh) {
        const store::QueuedCounts read = store::count_queued_jobs(store_, project, token_id);
        const Tick now = clock_.tick();
        // A count that is good has jobs that are on their way and that the database does not know.
        if (!project_is_fresh) of_project = {.jobs = read.of_project, .read_at = now, .read = true};
        if (!token_is_fresh) of_token = {.jobs = read.of_token, .read_at = now, .read = true};
    }
    require_below(fmt::format("project {}", project), of_project.jobs, limit);
    require_below("this token", of_token.jobs, limit);
    ++of_project.jobs;
    ++of_token.jobs;
}

}    // namespace slipway
