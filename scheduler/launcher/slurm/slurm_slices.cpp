// The members of a slice are launched by the agents of its hosts, each for itself, and are one job
// of Slurm: so all begin together or none does, and Slurm ends all when one has failed. Whoever
// comes first submits the job, held; each puts its order, and lets it go once it is recorded who
// the member is; whoever lets the last one go releases the job. What has been done stands in the
// slice's folder and in Slurm's queue, and nowhere else: a service that is killed between any two
// steps is continued by the next one, and a job whose members do not all come is cancelled with
// those that are held for too long. A port for the members to find each other was not needed: they
// are in one process.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "api/base/error.h"
#include "scheduler/launcher/slurm/slurm_launcher.h"
#include "scheduler/launcher/slurm/start_order.h"

namespace slipway {

namespace {

std::string program_path() {
    const char* path = std::getenv("PATH");
    return path == nullptr ? "/usr/bin:/bin" : path;
}

}    // namespace

std::unique_ptr<LaunchedProcess> SlurmLauncher::launch_member(const LaunchRequest& request) const {
    const std::scoped_lock one_by_one(slices_);
    const MarkedMember member{.mark = slice_mark(request.member->slice),
                              .rank = request.member->rank};
    const std::int64_t number = find_or_submit_slice(request, member.mark);
    try {
        folder_of_slice(member.mark).hold_order(member.rank, order_text(request));
        const ProcessId id = id_of_member(number, member);
        auto process = watch(request.name, id);
        if (request.process.before_start) request.process.before_start(id);
        let_member_go(number, member, request.member->count);
        return process;
    } catch (const std::exception&) {
        // The others see that the job has ended.
        queue_->cancel(number);
        folder_of_slice(member.mark).remove(member.rank);
        slice_jobs_.erase(member.mark);
        throw;
    }
}

/// The number of the slice's job.
std::int64_t SlurmLauncher::find_or_submit_slice(const LaunchRequest& request,
                                                 std::int64_t mark) const {
    if (const auto known = slice_jobs_.find(mark); known != slice_jobs_.end()) return known->second;
    const SliceFolder folder = folder_of_slice(mark);
    if (std::filesystem::exists(folder.path())) {
        // A member of it has come before: to the service before this one, or without success.
        const std::vector<SlurmJobLine> jobs = queue_->look();
        const auto job = std::ranges::find(jobs, comment_of(mark), &SlurmJobLine::comment);
        if (job != jobs.end() && !is_held(*job))
            throw Error{ErrorCode::unavailable,
                        fmt::format("job {} of Slurm, which was to run all members of {}, is {}",
                                    job->number, request.member->slice, job->state)};
        if (job != jobs.end()) return slice_jobs_[mark] = job->number;
    }
    const std::int64_t number = submit_batch({.name = request.member->slice,
                                              .comment = comment_of(mark),
                                              .cores = request.cores,
                                              .memory_bytes = memory_of(request),
                                              .starter = options_.starter,
                                              .order = folder.path(),
                                              .nodes = request.member->count,
                                              .program_path = program_path()});
    return slice_jobs_[mark] = number;
}

/// Releases the job when it was the last one.
void SlurmLauncher::let_member_go(std::int64_t number, const MarkedMember& member,
                                  int count) const {
    const SliceFolder folder = folder_of_slice(member.mark);
    folder.let_go(member.rank);
    if (folder.count_let_go() < count) return;
    queue_->release(number);
    slice_jobs_.erase(member.mark);
}

/// What the service before this one had recorded. False: its order is not there.
bool SlurmLauncher::let_held_member_go(std::int64_t number, const MarkedMember& member) const {
    const std::optional<StartOrder> order = folder_of_slice(member.mark).read_order(member.rank);
    if (!order) return false;
    slice_jobs_[member.mark] = number;
    let_member_go(number, member, order->members);
    return true;
}

}    // namespace slipway
