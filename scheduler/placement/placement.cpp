// One pass over the queue in fair order, on a copy of the machine in which each decision is entered
// at once: a placed job holds its cores, a waiting job reserves what it waits for. Jobs behind see
// the cores that are left. A reservation has a time where the limits of all jobs in its way are
// known: until then its cores are lent. It is made again in each pass from what runs then, so that
// nothing has to be remembered, and who gives way has been asked to when the next pass looks
// (RunningJob::ending). The caller may hand in only as many jobs of each shape and project as there
// are cores (docs/decisions/0017): the jobs placed are the same as with the whole queue.
//
// What the functions keep: a core is given to one job and reserved for one job at most; a job that
// is not placed has exactly one reason, and the reason names what would have to change; only what
// running jobs alone keep from a job is reserved, never what an operator, a dataset, a quota or a
// time does; the order of the cores that are handed in does not matter. Tried: backfilling without
// limits, by the mean of a project's past runs; a wrong guess has the job that is ahead wait, and
// nobody can say how long.

#include "scheduler/placement/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "api/base/plural.h"
#include "scheduler/placement/fair_share.h"
#include "scheduler/placement/known_waits.h"
#include "scheduler/placement/machine.h"
#include "scheduler/placement/no_host.h"
#include "scheduler/placement/preemption.h"
#include "scheduler/placement/slice.h"

namespace slipway {

namespace {

/// What the pass works on.
struct Pass {
    Machine machine;
    std::vector<NamedHost> hosts;    // of the machine, near ones side by side
    std::set<std::string> pools;     // of the hosts
    RunningJobs running;
    std::map<std::string, ProjectShare> projects;
    std::map<std::string, int> cores_held;    // by the jobs of a project
    GroupCounts group_places;                 // by jobs that run or keep their place
    /// By project, dataset and host: when such a job has begun there last.
    std::map<std::tuple<std::string, std::string, std::string>, Instant> warm = {};
    Instant now{};
    KnownWaits known;
    Plan plan = {};
};

Pass pass_over(const Snapshot& snapshot) {
    Pass pass{.machine = machine_of(snapshot.cores),
              .hosts = {},
              .pools = {},
              .running = {},
              .projects = {},
              .cores_held = {},
              .group_places = count_groups(snapshot.running),
              .now = snapshot.now,
              .known = KnownWaits(snapshot.now)};
    pass.hosts = in_name_order(pass.machine);
    pass.pools = pools_of(pass.machine);
    for (const RunningJob& job : snapshot.running) {
        pass.running.emplace(job.job_id, job);
        pass.cores_held[job.project] += job.cores;
    }
    for (const ProjectShare& project : snapshot.projects)
        pass.projects.emplace(project.name, project);
    for (const WarmPlace& place : snapshot.warm) {
        Instant& used_at = pass.warm[{place.project, place.dataset_id, place.host}];
        used_at = std::max(used_at, place.used_at);
    }
    return pass;
}

void hold(const WaitingJob& job, Slot& slot, PlacedJob& placed) {
    slot.core.held_by = job.job_id;
    slot.core.held_memory_bytes = job.memory_bytes;
    if (placed.ahead_of.empty()) placed.ahead_of = slot.reserved_by;
    placed.cores.push_back(slot.core.core);
}

/// When a job of this project and dataset has begun on the host last; the epoch: not lately.
Instant warm_since(const WaitingJob& job, const std::string& host, const Pass& pass) {
    const auto found = pass.warm.find({job.project, job.dataset_id, host});
    return found == pass.warm.end() ? Instant{} : found->second;
}

/// The host with the fewest free cores that are still enough: small jobs pack, whole hosts stay
/// free. Of several, the one where such a job has begun last: less has to be started, decoded and
/// compiled there.
std::optional<PlacedJob> place_anywhere(const WaitingJob& job, Pass& pass) {
    std::pair<const std::string, HostSlots>* best = nullptr;
    std::int64_t best_free = 0;
    Instant best_warm{};
    for (auto& entry : pass.machine) {
        if (!is_in_pool(job, entry.second)) continue;
        const std::int64_t free = count_free(job, entry.second, pass.now);
        if (free < job.cores || !has_memory(job, entry.second)) continue;
        const Instant warm = warm_since(job, entry.first, pass);
        const bool is_better = free < best_free || (free == best_free && warm > best_warm);
        if (best != nullptr && !is_better) continue;
        best = &entry;
        best_free = free;
        best_warm = warm;
    }
    if (best == nullptr) return std::nullopt;
    PlacedJob placed{.job_id = job.job_id, .host = best->first, .cores = {}};
    for (Slot& slot : best->second) {
        if (int(placed.cores.size()) == job.cores) break;
        if (is_free_for(job, slot, pass.now)) hold(job, slot, placed);
    }
    return placed;
}

std::optional<PlacedJob> place_on_core(const WaitingJob& job, Pass& pass) {
    for (auto& [host, slots] : pass.machine) {
        if (!is_in_pool(job, slots)) continue;
        for (Slot& slot : slots) {
            if (slot.core.core != *job.core_id || !is_free_for(job, slot, pass.now)) continue;
            if (!has_memory(job, slots)) continue;
            PlacedJob placed{.job_id = job.job_id, .host = host, .cores = {}};
            hold(job, slot, placed);
            return placed;
        }
    }
    return std::nullopt;
}

/// On hosts of the job's pool.
std::optional<PlacedJob> place_slice_in_pool(const WaitingJob& job, Pass& pass) {
    const WaitingJob part = part_on_host(job);
    const std::vector<NamedHost> hosts =
        nearest_hosts(pass.hosts, host_count(job), [&](const HostSlots& slots) {
            return is_in_pool(job, slots) && is_whole(slots) &&
                   count_free(part, slots, pass.now) == part.cores && has_memory(part, slots);
        });
    if (hosts.empty()) return std::nullopt;
    PlacedJob placed{.job_id = job.job_id, .host = *hosts.front().name, .cores = {}};
    for (const NamedHost& host : hosts) {
        placed.cores.clear();    // they have the same ones
        for (Slot& slot : *host.slots)
            hold(job, slot, placed);
        if (&host != &hosts.front()) placed.other_hosts.push_back(*host.name);
    }
    return placed;
}

/// The job as one that waits for this pool.
WaitingJob in_pool(WaitingJob job, const std::string& pool) {
    job.pool = pool;
    return job;
}

/// All hosts of a slice are of one pool: what runs in one may not reach what runs in another.
std::optional<PlacedJob> place_slice(const WaitingJob& job, Pass& pass) {
    if (!job.pool.empty()) return place_slice_in_pool(job, pass);
    for (const std::string& pool : pass.pools)
        if (auto placed = place_slice_in_pool(in_pool(job, pool), pass)) return placed;
    return std::nullopt;
}

std::optional<PlacedJob> place(const WaitingJob& job, Pass& pass) {
    if (pass.known.cannot_start(job)) return std::nullopt;
    if (is_slice(job)) return place_slice(job, pass);
    return job.core_id ? place_on_core(job, pass) : place_anywhere(job, pass);
}

/// When the holder of the slot has ended; none: nobody knows.
std::optional<Instant> ends_by(const Slot& slot, const Pass& pass) {
    if (slot.core.held_by.empty()) return pass.now;
    const auto holder = pass.running.find(slot.core.held_by);
    if (holder == pass.running.end()) return std::nullopt;
    return holder->second.ends_by;
}

/// Keeps the slots for the job, and lends them until as many of them as it needs are free by the
/// limits of those who hold them.
void reserve(const WaitingJob& job, const std::vector<Slot*>& slots, Pass& pass) {
    std::vector<Instant> known;
    for (const Slot* slot : slots)
        if (const auto end = ends_by(*slot, pass)) known.push_back(*end);
    std::ranges::sort(known);
    std::optional<Instant> all_free;
    if (std::ssize(known) >= job.cores) all_free = known[std::size_t(job.cores) - 1];
    for (Slot* slot : slots) {
        slot->reserved_by = job.job_id;
        slot->lent_until = all_free;
    }
    if (all_free) pass.known.add_deadline(*all_free);
    pass.known.machine_changed();
}

WaitReason behind(const WaitingJob& job, const Slot& slot) {
    WaitReason reason =
        reason_for(job, "behind",
                   fmt::format("core {} is reserved for job {}, which is ahead in the queue",
                               slot.core.core, slot.reserved_by));
    reason.cores = {slot.core.core};
    reason.blocking_job = slot.reserved_by;
    return reason;
}

/// Enters who gives way, and says so; none when nobody has to or can.
std::optional<WaitReason> preempt(const WaitingJob& job,
                                  const std::optional<Preemption>& preemption, Pass& pass) {
    if (!preemption) return std::nullopt;
    if (preemption->give_way.empty() && preemption->ending.empty()) return std::nullopt;
    pass.known.machine_changed();
    for (const std::string& id : preemption->give_way) {
        pass.running.at(id).ending = true;
        pass.plan.preempt.push_back({.job_id = id, .for_job = job.job_id});
    }
    const std::string& first =
        preemption->give_way.empty() ? preemption->ending : preemption->give_way.front();
    WaitReason reason = reason_for(
        job, "preempting",
        fmt::format("job {} saves and gives its cores up; the job starts when it has", first));
    reason.blocking_job = first;
    return reason;
}

/// " (3 jobs in a row have crashed on it: …)" where the service has drained it.
std::string drained_core(const CoreSlot& core) {
    return core.core_drain_reason.empty() ? "" : fmt::format(" ({})", core.core_drain_reason);
}

/// Why core N of a host is not to be had, and keeps it for `job` when only a running job is in the
/// way.
WaitReason wait_for_core(const WaitingJob& job, Slot& slot, const HostSlots& slots, Pass& pass) {
    const int number = slot.core.core;
    WaitReason reason;
    if (!slot.core.alive) {
        reason = reason_for(job, "host_lost",
                            fmt::format("core {} belongs to host {}, which sends no heartbeat",
                                        number, slot.core.host));
    } else if (slot.core.host_drained) {
        reason =
            reason_for(job, "host_drained",
                       fmt::format("core {} takes no jobs: {}; undrain it or request another core",
                                   number, drained_host(slot.core)));
    } else if (slot.core.drained) {
        reason = reason_for(job, "core_drained",
                            fmt::format("core {} is drained{}; undrain it or request another",
                                        number, drained_core(slot.core)));
    } else if (!slot.reserved_by.empty()) {
        return behind(job, slot);
    } else {
        reason = reason_for(job, "core_busy",
                            fmt::format("core {} is busy with job {}", number, slot.core.held_by));
        reason.blocking_job = slot.core.held_by;
        if (auto gives_way = preempt(job, choose_preemption(job, slots, pass.running), pass))
            reason = std::move(*gives_way);
        reserve(job, {&slot}, pass);
    }
    reason.cores = {number};
    return reason;
}

/// Cores are free and memory is not. Keeps the cores: what jobs behind took would be given back
/// later still.
WaitReason wait_for_memory(const WaitingJob& job, HostSlots& slots, Pass& pass) {
    const std::int64_t wanted = limit_of(job.memory_bytes, job.cores, slots);
    WaitReason reason = reason_for(
        job, "waiting_for_memory",
        fmt::format("the job may use {} bytes of memory, and the running jobs of host {} "
                    "leave {} of {}",
                    wanted, slots.front().core.host,
                    std::max<std::int64_t>(memory_of(slots) - held_memory(slots), 0),
                    memory_of(slots)));
    for (Slot& slot : slots) {
        if (!slot.core.held_by.empty() && reason.blocking_job.empty())
            reason.blocking_job = slot.core.held_by;
        if (!has_ever_memory(job, slots) || !slot.usable() || !slot.reserved_by.empty()) continue;
        slot.reserved_by = job.job_id;
        pass.known.machine_changed();
    }
    return reason;
}

WaitReason explain_core(const WaitingJob& job, Pass& pass) {
    std::pair<Slot*, HostSlots*> best{};    // the one that is nearest to being free
    for (auto& [host, slots] : pass.machine) {
        if (!is_in_pool(job, slots)) continue;
        for (Slot& slot : slots) {
            if (slot.core.core != *job.core_id) continue;
            if (is_free_for(job, slot, pass.now)) return wait_for_memory(job, slots, pass);
            const auto rank = [](const Slot& s) {
                return std::tuple(!s.core.alive, s.drained(), !s.reserved_by.empty());
            };
            if (best.first == nullptr || rank(slot) < rank(*best.first)) best = {&slot, &slots};
        }
    }
    if (best.first != nullptr) return wait_for_core(job, *best.first, *best.second, pass);
    if (auto no_pool = explain_no_pool(job, pass.machine)) return *std::move(no_pool);
    WaitReason reason =
        reason_for(job, "no_such_core",
                   fmt::format("no host{} has a core {}", of_its_pool(job), *job.core_id));
    reason.cores = {*job.core_id};
    return reason;
}

/// The host where `job` will fit soonest: all its cores are usable in number; the fewest jobs give
/// way to it, and the fewest cores are held or kept by others.
HostSlots* host_to_wait_for(const WaitingJob& job, Pass& pass) {
    HostSlots* best = nullptr;
    using Rank = std::tuple<bool, bool, std::size_t, int, std::int64_t>;
    Rank best_rank;
    for (auto& [host, slots] : pass.machine) {
        if (!is_in_pool(job, slots)) continue;
        if (std::ranges::count_if(slots, &Slot::usable) < job.cores) continue;
        if (!has_ever_memory(job, slots)) continue;
        const bool kept = std::ranges::any_of(
            slots, [](const Slot& slot) { return slot.usable() && !slot.reserved_by.empty(); });
        const auto preemption = choose_preemption(job, slots, pass.running);
        const Rank rank{!preemption.has_value(), kept, preemption ? preemption->give_way.size() : 0,
                        preemption ? preemption->cores : 0, -count_free(job, slots, pass.now)};
        if (best != nullptr && rank >= best_rank) continue;
        best = &slots;
        best_rank = rank;
    }
    return best;
}

/// Free cores of one host would be enough, but for a job ahead that they are reserved for.
std::optional<WaitReason> behind_reserved_host(const WaitingJob& job, const Pass& pass) {
    for (const auto& [host, slots] : pass.machine) {
        if (!is_in_pool(job, slots) || !has_memory(job, slots)) continue;
        const Slot* reserved = nullptr;
        int free = 0;
        for (const Slot& slot : slots) {
            if (!slot.usable() || !slot.core.held_by.empty()) continue;
            ++free;
            if (!slot.reserved_by.empty() && reserved == nullptr) reserved = &slot;
        }
        if (free < job.cores || reserved == nullptr) continue;
        WaitReason reason = behind(job, *reserved);
        reason.message = fmt::format(
            "{} of host {} {} free and reserved for job {}, which is ahead in the queue",
            counted(free, "core"), host, free == 1 ? "is" : "are", reserved->reserved_by);
        return reason;
    }
    return std::nullopt;
}

/// Why a job without a core of its own is not to be had, and keeps for a job of several cores what
/// it waits for.
WaitReason explain_anywhere(const WaitingJob& job, Pass& pass) {
    HostSlots* slots = host_to_wait_for(job, pass);
    if (slots == nullptr) return explain_no_host(job, pass.machine);
    const std::int64_t free = count_free(job, *slots, pass.now);
    const auto gives_way = free < job.cores
                               ? preempt(job, choose_preemption(job, *slots, pass.running), pass)
                               : std::nullopt;
    if (!gives_way)
        for (const Slot& slot : *slots)
            if (slot.usable() && slot.core.held_by.empty() && !slot.reserved_by.empty())
                return behind(job, slot);
    if (free >= job.cores) return wait_for_memory(job, *slots, pass);
    WaitReason reason =
        gives_way
            ? *gives_way
            : reason_for(job, "waiting_for_cores",
                         fmt::format("the job needs {} and {} {} free", counted(job.cores, "core"),
                                     free, free == 1 ? "is" : "are"));
    std::vector<Slot*> kept;
    for (Slot& slot : *slots) {
        if (!slot.usable()) continue;
        if (!slot.core.held_by.empty()) {
            reason.cores.push_back(slot.core.core);
            if (reason.blocking_job.empty()) reason.blocking_job = slot.core.held_by;
        }
        // One core is free soon enough, unless somebody gives it up for this very job.
        if ((job.cores > 1 || gives_way) && slot.reserved_by.empty()) kept.push_back(&slot);
    }
    if (job.cores == 1 && gives_way) {
        std::erase_if(
            kept, [&](const Slot* slot) { return slot->core.held_by != gives_way->blocking_job; });
        kept.resize(std::min<std::size_t>(kept.size(), 1));
    }
    if (!gives_way)
        if (auto is_behind = behind_reserved_host(job, pass)) reason = *std::move(is_behind);
    if (!kept.empty()) reserve(job, kept, pass);
    return reason;
}

/// Who gives way on all of the hosts; none when that would not free each of them.
std::optional<Preemption> choose_for_hosts(const WaitingJob& job,
                                           const std::vector<NamedHost>& hosts, const Pass& pass) {
    const WaitingJob part = part_on_host(job);
    Preemption together;
    std::set<std::string> asked;
    for (const NamedHost& host : hosts) {
        const auto one = choose_preemption(part, *host.slots, pass.running);
        if (!one) return std::nullopt;
        for (const std::string& id : one->give_way)
            if (asked.insert(id).second) together.give_way.push_back(id);
        if (together.ending.empty()) together.ending = one->ending;
        together.cores += one->cores;
    }
    return together;
}

/// Where a slice without a pool will fit soonest: in the one with the most hosts for it.
std::string pool_to_wait_for(const WaitingJob& job, const Pass& pass) {
    std::string best;
    std::size_t most = 0;
    for (const std::string& pool : pass.pools) {
        const std::size_t able = hosts_for(in_pool(job, pool), pass.hosts).size();
        if (!best.empty() && able <= most) continue;
        best = pool;
        most = able;
    }
    return best;
}

/// Why a slice does not start; keeps the hosts that it waits for.
WaitReason explain_slice_in_pool(const WaitingJob& job, Pass& pass) {
    const std::vector<NamedHost> able = hosts_for(job, pass.hosts);
    if (std::ssize(able) < host_count(job)) {
        auto no_pool = explain_no_pool(job, pass.machine);
        return no_pool ? *std::move(no_pool) : explain_few_hosts(job, pass.hosts);
    }
    const std::vector<NamedHost> hosts = hosts_to_wait_for(job, able, pass.running);
    const auto gives_way = preempt(job, choose_for_hosts(job, hosts, pass), pass);
    std::vector<Slot*> kept;
    std::string held_by;
    for (const NamedHost& host : hosts)
        for (Slot& slot : *host.slots) {
            if (!gives_way && slot.core.held_by.empty() && !slot.reserved_by.empty()) {
                WaitReason reason = behind(job, slot);
                reason.message =
                    fmt::format("host {} is reserved for job {}, which is ahead in the queue",
                                *host.name, slot.reserved_by);
                return reason;
            }
            if (held_by.empty()) held_by = slot.core.held_by;
            if (slot.reserved_by.empty()) kept.push_back(&slot);
        }
    const WaitingJob part = part_on_host(job);
    const auto free = std::ranges::count_if(able, [&](const NamedHost& host) {
        return count_free(part, *host.slots, pass.now) == part.cores;
    });
    WaitReason reason = reason_for(
        job, "waiting_for_cores",
        fmt::format("{} and {} {} free", needs_hosts(job), free, free == 1 ? "is" : "are"));
    reason.blocking_job = held_by;
    if (gives_way) reason = *gives_way;
    if (!kept.empty()) reserve(job, kept, pass);
    return reason;
}

WaitReason explain_slice(const WaitingJob& job, Pass& pass) {
    const bool is_free = job.pool.empty() && pass.pools.size() > 1;
    return explain_slice_in_pool(is_free ? in_pool(job, pool_to_wait_for(job, pass)) : job, pass);
}

WaitReason explain_waiting(const WaitingJob& job, Pass& pass) {
    pass.known.found_no_cores(job);
    if (auto reason = pass.known.find(job)) return std::move(*reason);
    const std::int64_t before = pass.known.changes();
    WaitReason reason = is_slice(job) ? explain_slice(job, pass)
                        : job.core_id ? explain_core(job, pass)
                                      : explain_anywhere(job, pass);
    if (pass.known.changes() == before) pass.known.put(job, reason);
    return reason;
}

/// Reasons that have nothing to do with cores: such a job keeps nothing from others.
std::optional<WaitReason> not_ready(const WaitingJob& job, const Pass& pass) {
    if (!job.due)
        return reason_for(job, "start_after", fmt::format("the job starts after {}", job.due_at));
    if (job.dataset_state != "ready") {
        const std::string state = job.dataset_state.empty() ? "gone" : job.dataset_state;
        return reason_for(job, "waiting_for_dataset",
                          state == "checking"
                              ? "the dataset is still being checked"
                              : fmt::format("the dataset cannot be used: it is {}", state));
    }
    const auto project = pass.projects.find(job.project);
    if (project == pass.projects.end() || !project->second.cores_max) return std::nullopt;
    const auto held = pass.cores_held.find(job.project);
    const int cores = held == pass.cores_held.end() ? 0 : held->second;
    if (cores + job.cores <= *project->second.cores_max) return std::nullopt;
    return reason_for(
        job, "quota",
        fmt::format("the job needs {}; project {} holds {} and its quota is {}",
                    counted(job.cores, "core"), job.project, cores, *project->second.cores_max));
}

std::optional<WaitReason> group_is_full(const WaitingJob& job, const Pass& pass) {
    if (job.group.empty() || !job.group_limit) return std::nullopt;
    const auto found = pass.group_places.find({job.project, job.group});
    const int taken = found == pass.group_places.end() ? 0 : found->second;
    if (taken < *job.group_limit) return std::nullopt;
    return reason_for(job, "group_limit",
                      fmt::format("{} of group {} of project {} run{} or go{} first, and its "
                                  "limit is {}",
                                  counted(taken, "job"), job.group, job.project,
                                  taken == 1 ? "s" : "", taken == 1 ? "es" : "", *job.group_limit));
}

/// The job waits for nothing but the end of other jobs.
bool waits_its_turn(const WaitingJob& job, const WaitReason& reason, const Machine& machine) {
    if (reason.blocking_job.empty()) return false;
    const auto hosts = std::ranges::count_if(machine, [&](const auto& host) {
        return is_in_pool(job, host.second) &&
               std::int64_t(host.second.size()) >= part_on_host(job).cores &&
               has_ever_memory(job, host.second);
    });
    return hosts >= host_count(job);
}

/// The job as it is to be placed: hosts that could not start it are left out where others can.
WaitingJob without_faults(WaitingJob job, const Machine& machine) {
    const int cores = part_on_host(job).cores;
    const auto others = std::ranges::count_if(machine, [&](const auto& host) {
        return is_in_pool(job, host.second) && has_ever_memory(job, host.second) &&
               std::ranges::count_if(host.second, &Slot::usable) >= cores;
    });
    if (others < host_count(job)) job.avoided_hosts.clear();
    return job;
}

void decide(const WaitingJob& asked, Pass& pass) {
    std::optional<WaitingJob> changed;
    if (!asked.avoided_hosts.empty()) changed = without_faults(asked, pass.machine);
    const WaitingJob& job = changed ? *changed : asked;
    std::optional<WaitReason> reason = not_ready(job, pass);
    if (!reason) reason = group_is_full(job, pass);
    if (!reason) {
        auto placed = place(job, pass);
        if (!placed) reason = explain_waiting(job, pass);
        if (!job.group.empty() && (placed || waits_its_turn(job, *reason, pass.machine)))
            ++pass.group_places[{job.project, job.group}];
        if (placed) {
            pass.cores_held[job.project] += job.cores;
            pass.known.machine_changed();
            pass.plan.start.push_back(std::move(*placed));
            return;
        }
    }
    if (!job.avoided_hosts.empty())
        reason->message +=
            fmt::format("; it could not start on {}", fmt::join(job.avoided_hosts, ", "));
    pass.plan.waiting.push_back(std::move(*reason));
}

}    // namespace

Plan make_plan(const Snapshot& snapshot) {
    Pass pass = pass_over(snapshot);
    for (const WaitingJob& job :
         in_fair_order(snapshot.queue, snapshot.projects, CoreCounts(snapshot.cores),
                       pass.group_places, snapshot.now))
        decide(job, pass);
    return std::move(pass.plan);
}

std::optional<WaitReason> explain(Snapshot snapshot, const WaitingJob& job) {
    std::vector<WaitingJob>& queue = snapshot.queue;
    if (std::ranges::find(queue, job.job_id, &WaitingJob::job_id) == queue.end())
        queue.push_back(job);
    Plan plan = make_plan(snapshot);
    const auto found = std::ranges::find(plan.waiting, job.job_id, &WaitReason::job_id);
    if (found == plan.waiting.end()) return std::nullopt;
    return std::move(*found);
}

}    // namespace slipway
