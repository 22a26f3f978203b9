#include "scheduler/submission/queued_jobs.h"

#include <fmt/format.h>

#include "scheduler/store/jobs.h"

namespace slipway::submission {

namespace {

constexpr std::chrono::seconds count_good_for{1};
constexpr std::size_t counts_kept = 1000;

void require_place(const std::string& who, std::int64_t jobs, std::int64_t more,
                   std::int64_t limit) {
    if (jobs + more <= limit) return;
    throw Error{
        ErrorCode::exhausted,
        fmt::format("{} has {} queued jobs{}, and the maximum is {} (--queued-jobs-max); wait "
                    "until some have started, or cancel some",
                    who, jobs, more == 1 ? "" : fmt::format(" and submits {}", more), limit)};
}

}    // namespace

bool QueuedJobs::is_fresh(const Count& count) const {
    return count.read && clock_.tick() - count.read_at < count_good_for;
}

/// Whoever names a thousand projects gets them counted again, and no memory of ours.
void QueuedJobs::evict(std::map<std::string, Count>& counts) const {
    if (counts.size() < counts_kept) return;
    std::erase_if(counts, [this](const auto& each) { return !is_fresh(each.second); });
    if (counts.size() >= counts_kept) counts.clear();
}

/// A count that is good has jobs that are on their way and that the database does not know; so has
/// what was added while it was read.
void QueuedJobs::update(Count& count, const Count& before, std::int64_t read) {
    if (is_fresh(count)) return;
    count.jobs = read + count.added - before.added;
    count.read_at = clock_.tick();
    count.read = true;
}

void QueuedJobs::refresh(const std::string& project, const std::string& token_id,
                         std::int64_t limit) {
    if (limit == 0) return;
    const std::scoped_lock one_reader(reading_);
    Count project_before;
    Count token_before;
    {
        const std::scoped_lock lock(mutex_);
        evict(of_projects_);
        evict(of_tokens_);
        project_before = of_projects_[project];
        token_before = of_tokens_[token_id];
    }
    if (is_fresh(project_before) && is_fresh(token_before)) return;
    const store::QueuedCounts read = store::count_queued_jobs(store_, project, token_id);
    const std::scoped_lock lock(mutex_);
    update(of_projects_[project], project_before, read.of_project);
    update(of_tokens_[token_id], token_before, read.of_token);
}

void QueuedJobs::add(const std::string& project, const std::string& token_id, std::size_t jobs,
                     std::int64_t limit) {
    if (limit == 0) return;
    const std::scoped_lock lock(mutex_);
    Count& of_project = of_projects_[project];
    Count& of_token = of_tokens_[token_id];
    const auto more = std::int64_t(jobs);
    require_place(fmt::format("project {}", project), of_project.jobs, more, limit);
    require_place("this token", of_token.jobs, more, limit);
    for (Count* count : {&of_project, &of_token}) {
        count->jobs += more;
        count->added += more;
    }
}

}    // namespace slipway::submission
