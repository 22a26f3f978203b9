// In front of a full machine each pass looks at as many jobs of a shape as there are cores, and
// nearly all of them wait for the same reason. To look at every host for each is what made a pass
// cost the square of the machine: 0.5 s with 2,048 cores and 10,000 jobs.
//
// Two facts are kept. That no cores were found holds until the end of the pass, for every job that
// asks for as much: a pass gives cores away and takes none back. A reason holds as long as nothing
// was given away, reserved or asked to give way, and depends on what a job asks for, on its class
// (who gives way to it), and on its limit of time only as far as some reserved cores are lent for
// so long. Whose job it is, its age and its dataset are in no reason about cores.
#include "scheduler/placement/known_waits.h"

#include <algorithm>

namespace slipway {

KnownWaits::Request KnownWaits::request_of(const WaitingJob& job) {
    return {job.pool, job.cores, job.core_id.value_or(0), job.memory_bytes, job.avoided_hosts};
}

KnownWaits::Alike KnownWaits::alike(const WaitingJob& job) const {
    std::size_t kept = 0;
    if (job.runs_at_most) {
        const Instant end = now_ + *job.runs_at_most + backfill_margin;
        kept = std::size_t(deadlines_.end() - std::ranges::lower_bound(deadlines_, end));
    }
    return {request_of(job), job.class_rank, kept};
}

bool KnownWaits::cannot_start(const WaitingJob& job) const {
    const auto found = without_cores_.find(request_of(job));
    return found != without_cores_.end() &&
           job.runs_at_most.value_or(std::chrono::seconds::max()) >= found->second;
}

void KnownWaits::found_no_cores(const WaitingJob& job) {
    const std::chrono::seconds runs = job.runs_at_most.value_or(std::chrono::seconds::max());
    const auto [known, is_new] = without_cores_.try_emplace(request_of(job), runs);
    if (!is_new) known->second = std::min(known->second, runs);
}

std::optional<WaitReason> KnownWaits::find(const WaitingJob& job) const {
    const auto found = reasons_.find(alike(job));
    if (found == reasons_.end()) return std::nullopt;
    WaitReason reason = found->second;
    reason.job_id = job.job_id;
    return reason;
}

void KnownWaits::put(const WaitingJob& job, const WaitReason& reason) {
    reasons_.insert_or_assign(alike(job), reason);
}

void KnownWaits::add_deadline(Instant lent_until) {
    const auto at = std::ranges::lower_bound(deadlines_, lent_until);
    if (at == deadlines_.end() || *at != lent_until) deadlines_.insert(at, lent_until);
}

}    // namespace slipway
