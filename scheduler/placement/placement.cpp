// One pass over the queue in its order, on a copy of the machine in which each decision is entered
// at once: a placed job holds its cores, a waiting job reserves what it waits for. Younger jobs see
// the cores that are left. Reservation instead of backfilling: nobody says how long a job runs, so
// a younger job cannot be let pass without risking that the older one waits for ever; the price is
// cores that idle while an eight-core job waits. The caller may hand in only as many jobs of each
// shape as there are cores (docs/decisions/0017): the jobs placed are the same as with the whole
// queue.
//
// What the functions keep: a core is given to one job and reserved for one job at most; a job that
// is not placed has exactly one reason, and the reason names what would have to change; only what
// running jobs alone keep from a job is reserved, never what an operator, a dataset or a time does;
// the order of the cores that are handed in does not matter.

#include "scheduler/placement/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace slipway {

namespace {

struct Slot {
    CoreSlot core;
    std::string reserved_by;    // an older waiting job; empty: nobody

    bool usable() const { return core.alive && !core.drained; }
    bool free() const { return usable() && core.held_by.empty() && reserved_by.empty(); }
};

/// The cores of one host, by number.
using HostSlots = std::vector<Slot>;
using Machine = std::map<std::string, HostSlots>;

/// Of all jobs of a host together; 0: no limit.
std::int64_t memory_of(const HostSlots& slots) {
    return slots.front().core.host_memory_bytes;
}

/// What counts for a job on so many cores of the host; never more than all, as its limit is not.
std::int64_t limit_of(std::optional<std::int64_t> counted, int cores, const HostSlots& slots) {
    const std::int64_t share = memory_of(slots) / std::int64_t(slots.size()) * cores;
    return std::min(counted.value_or(share), memory_of(slots));
}

std::int64_t held_memory(const HostSlots& slots) {
    std::map<std::string, std::pair<std::optional<std::int64_t>, int>> jobs;
    for (const Slot& slot : slots) {
        if (slot.core.held_by.empty()) continue;
        auto& [asked, cores] = jobs[slot.core.held_by];
        asked = slot.core.held_memory_bytes;
        ++cores;
    }
    std::int64_t held = 0;
    for (const auto& [job, wanted] : jobs)
        held += limit_of(wanted.first, wanted.second, slots);
    return held;
}

/// Whether the memory of the host is enough, were no other job there. What counts is at most a
/// quarter more than what was asked for.
bool has_ever_memory(const WaitingJob& job, const HostSlots& slots) {
    const std::int64_t counted = job.memory_bytes.value_or(0);
    return memory_of(slots) == 0 || counted - counted / 5 <= memory_of(slots);
}

/// Whether the limits of all leave room for the job's.
bool has_memory(const WaitingJob& job, const HostSlots& slots) {
    if (memory_of(slots) == 0) return true;
    if (!has_ever_memory(job, slots)) return false;
    return held_memory(slots) + limit_of(job.memory_bytes, job.cores, slots) <= memory_of(slots);
}

Machine machine_of(const std::vector<CoreSlot>& cores) {
    Machine machine;
    for (const CoreSlot& core : cores)
        machine[core.host].push_back({.core = core, .reserved_by = {}});
    for (auto& [host, slots] : machine)
        std::ranges::sort(slots, {}, [](const Slot& slot) { return slot.core.core; });
    return machine;
}

std::int64_t count_free(const HostSlots& slots) {
    return std::ranges::count_if(slots, &Slot::free);
}

/// Takes the `count` lowest free cores of the host.
PlacedJob take(const WaitingJob& job, const std::string& host, HostSlots& slots) {
    PlacedJob placed{.job_id = job.job_id, .host = host, .cores = {}};
    for (Slot& slot : slots) {
        if (int(placed.cores.size()) == job.cores) break;
        if (!slot.free()) continue;
        slot.core.held_by = job.job_id;
        slot.core.held_memory_bytes = job.memory_bytes;
        placed.cores.push_back(slot.core.core);
    }
    return placed;
}

/// The host with the fewest free cores that are still enough: small jobs pack, whole hosts stay
/// free.
std::optional<PlacedJob> place_anywhere(const WaitingJob& job, Machine& machine) {
    std::pair<const std::string, HostSlots>* best = nullptr;
    for (auto& entry : machine) {
        const std::int64_t free_count = count_free(entry.second);
        if (free_count < job.cores || !has_memory(job, entry.second)) continue;
        if (best == nullptr || free_count < count_free(best->second)) best = &entry;
    }
    if (best == nullptr) return std::nullopt;
    return take(job, best->first, best->second);
}

std::optional<PlacedJob> place_on_core(const WaitingJob& job, Machine& machine) {
    for (auto& [host, slots] : machine) {
        for (Slot& slot : slots) {
            if (slot.core.core != *job.core_id || !slot.free() || !has_memory(job, slots)) continue;
            slot.core.held_by = job.job_id;
            slot.core.held_memory_bytes = job.memory_bytes;
            return PlacedJob{.job_id = job.job_id, .host = host, .cores = {slot.core.core}};
        }
    }
    return std::nullopt;
}

WaitReason behind(const WaitingJob& job, const Slot& slot) {
    return {.job_id = job.job_id,
            .code = "behind",
            .message = fmt::format("core {} is kept for job {}, which is ahead in the queue",
                                   slot.core.core, slot.reserved_by),
            .cores = {slot.core.core},
            .blocking_job = slot.reserved_by};
}

/// Why core N of a host is not to be had, and keeps it for `job` when only a running job is in the
/// way.
WaitReason wait_for_core(const WaitingJob& job, Slot& slot) {
    const int number = slot.core.core;
    WaitReason reason{.job_id = job.job_id, .code = {}, .message = {}, .cores = {number}};
    if (!slot.core.alive) {
        reason.code = "host_lost";
        reason.message = fmt::format("core {} belongs to host {}, which sends no heartbeat", number,
                                     slot.core.host);
        return reason;
    }
    if (slot.core.drained) {
        reason.code = "core_drained";
        reason.message = fmt::format("core {} is drained; undrain it or ask for another", number);
        return reason;
    }
    if (!slot.reserved_by.empty()) return behind(job, slot);
    slot.reserved_by = job.job_id;
    reason.code = "core_busy";
    reason.message = fmt::format("core {} is busy with job {}", number, slot.core.held_by);
    reason.blocking_job = slot.core.held_by;
    return reason;
}

/// Cores are free and memory is not. Keeps the cores: what younger jobs took would be given back
/// later still.
WaitReason wait_for_memory(const WaitingJob& job, HostSlots& slots) {
    const std::int64_t wanted = limit_of(job.memory_bytes, job.cores, slots);
    WaitReason reason{
        .job_id = job.job_id,
        .code = "waiting_for_memory",
        .message = fmt::format(
            "the job may use {} bytes of memory, and the running jobs of host {} "
            "leave {} of {}",
            wanted, slots.front().core.host,
            std::max<std::int64_t>(memory_of(slots) - held_memory(slots), 0), memory_of(slots)),
        .cores = {}};
    for (Slot& slot : slots) {
        if (!slot.core.held_by.empty() && reason.blocking_job.empty())
            reason.blocking_job = slot.core.held_by;
        if (has_ever_memory(job, slots) && slot.usable() && slot.reserved_by.empty())
            slot.reserved_by = job.job_id;
    }
    return reason;
}

WaitReason explain_core(const WaitingJob& job, Machine& machine) {
    Slot* best = nullptr;    // the one that is nearest to being free
    for (auto& [host, slots] : machine) {
        for (Slot& slot : slots) {
            if (slot.core.core != *job.core_id) continue;
            if (slot.free()) return wait_for_memory(job, slots);
            const auto rank = [](const Slot& s) {
                return std::tuple(!s.core.alive, s.core.drained, !s.reserved_by.empty());
            };
            if (best == nullptr || rank(slot) < rank(*best)) best = &slot;
        }
    }
    if (best != nullptr) return wait_for_core(job, *best);
    return {.job_id = job.job_id,
            .code = "no_such_core",
            .message = fmt::format("no host has a core {}", *job.core_id),
            .cores = {*job.core_id}};
}

/// The host where `job` will fit soonest: all its cores are usable in number, and the fewest are
/// held or kept by others.
HostSlots* host_to_wait_for(const WaitingJob& job, Machine& machine) {
    HostSlots* best = nullptr;
    const auto ahead = [](const HostSlots& slots) {
        return std::tuple(
            std::ranges::any_of(
                slots, [](const Slot& slot) { return slot.usable() && !slot.reserved_by.empty(); }),
            -count_free(slots));
    };
    for (auto& [host, slots] : machine) {
        if (std::ranges::count_if(slots, &Slot::usable) < job.cores) continue;
        if (!has_ever_memory(job, slots)) continue;
        if (best == nullptr || ahead(slots) < ahead(*best)) best = &slots;
    }
    return best;
}

WaitReason explain_no_host(const WaitingJob& job, const Machine& machine) {
    WaitReason reason{
        .job_id = job.job_id, .code = "waiting_for_cores", .message = {}, .cores = {}};
    std::size_t largest = 0;
    std::int64_t most_memory = 0;
    bool fits = false;
    for (const auto& [host, slots] : machine) {
        largest = std::max(largest, slots.size());
        if (slots.size() < std::size_t(job.cores)) continue;
        most_memory = std::max(most_memory, memory_of(slots));
        if (!has_ever_memory(job, slots)) continue;
        fits = true;
        for (const Slot& slot : slots)
            if (slot.core.alive && slot.core.drained) reason.cores.push_back(slot.core.core);
    }
    if (largest < std::size_t(job.cores)) {
        reason.message = fmt::format("the job needs {} cores of one host; the largest host has {}",
                                     job.cores, largest);
    } else if (!fits) {
        reason.code = "waiting_for_memory";
        reason.message =
            fmt::format("the job may use {} bytes of memory; the largest host has {} for jobs",
                        *job.memory_bytes, most_memory);
    } else if (!reason.cores.empty()) {
        reason.code = "core_drained";
        reason.message = fmt::format("the job needs {} cores of one host; drained: {}", job.cores,
                                     fmt::join(reason.cores, ", "));
    } else {
        reason.code = "host_lost";
        reason.message =
            fmt::format("the job needs {} cores of one host; a host sends no heartbeat", job.cores);
    }
    return reason;
}

/// Why a job without a core of its own is not to be had, and keeps for a job of several cores what
/// it waits for.
WaitReason explain_anywhere(const WaitingJob& job, Machine& machine) {
    HostSlots* slots = host_to_wait_for(job, machine);
    if (slots == nullptr) return explain_no_host(job, machine);
    for (const Slot& slot : *slots) {
        const bool taken = slot.core.held_by.empty() && !slot.reserved_by.empty();
        if (slot.usable() && taken) return behind(job, slot);
    }
    const std::int64_t free = count_free(*slots);
    if (free >= job.cores) return wait_for_memory(job, *slots);
    WaitReason reason{
        .job_id = job.job_id, .code = "waiting_for_cores", .message = {}, .cores = {}};
    for (Slot& slot : *slots) {
        if (!slot.usable()) continue;
        if (!slot.core.held_by.empty()) {
            reason.cores.push_back(slot.core.core);
            if (reason.blocking_job.empty()) reason.blocking_job = slot.core.held_by;
        }
        if (job.cores > 1 && slot.reserved_by.empty()) slot.reserved_by = job.job_id;
    }
    reason.message = fmt::format("the job needs {} core{} and {} {} free", job.cores,
                                 job.cores == 1 ? "" : "s", free, free == 1 ? "is" : "are");
    return reason;
}

/// Reasons that have nothing to do with cores: such a job keeps nothing from others.
std::optional<WaitReason> not_ready(const WaitingJob& job) {
    if (!job.due) {
        return WaitReason{.job_id = job.job_id,
                          .code = "start_after",
                          .message = fmt::format("the job starts after {}", job.due_at),
                          .cores = {}};
    }
    if (job.dataset_state == "ready") return std::nullopt;
    const std::string state = job.dataset_state.empty() ? "gone" : job.dataset_state;
    return WaitReason{.job_id = job.job_id,
                      .code = "waiting_for_dataset",
                      .message = state == "checking"
                                     ? "the dataset is still being checked"
                                     : fmt::format("the dataset cannot be used: it is {}", state),
                      .cores = {}};
}

}    // namespace

bool goes_before(const WaitingJob& a, const WaitingJob& b) {
    return std::tie(a.class_rank, a.queued_at, a.job_id) <
           std::tie(b.class_rank, b.queued_at, b.job_id);
}

Plan make_plan(const Snapshot& snapshot) {
    Machine machine = machine_of(snapshot.cores);
    Plan plan;
    for (const WaitingJob& job : snapshot.queue) {
        std::optional<WaitReason> reason = not_ready(job);
        if (!reason) {
            auto placed = job.core_id ? place_on_core(job, machine) : place_anywhere(job, machine);
            if (placed) {
                plan.start.push_back(std::move(*placed));
                continue;
            }
            reason = job.core_id ? explain_core(job, machine) : explain_anywhere(job, machine);
        }
        plan.waiting.push_back(std::move(*reason));
    }
    return plan;
}

std::optional<WaitReason> explain(Snapshot snapshot, const WaitingJob& job) {
    std::vector<WaitingJob>& queue = snapshot.queue;
    if (std::ranges::find(queue, job.job_id, &WaitingJob::job_id) == queue.end())
        queue.insert(std::ranges::upper_bound(queue, job, goes_before), job);
    Plan plan = make_plan(snapshot);
    const auto found = std::ranges::find(plan.waiting, job.job_id, &WaitReason::job_id);
    if (found == plan.waiting.end()) return std::nullopt;
    return std::move(*found);
}

}    // namespace slipway
