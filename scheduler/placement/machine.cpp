#include "scheduler/placement/machine.h"

#include <algorithm>
#include <utility>

#include "scheduler/placement/placement.h"

namespace slipway {

Machine machine_of(const std::vector<CoreSlot>& cores) {
    Machine machine;
    for (const CoreSlot& core : cores)
        machine[core.host].push_back({.core = core});
    for (auto& [host, slots] : machine)
        std::ranges::sort(slots, {}, [](const Slot& slot) { return slot.core.core; });
    return machine;
}

bool is_in_pool(const WaitingJob& job, const HostSlots& slots) {
    const CoreSlot& first = slots.front().core;
    return (job.pool.empty() || job.pool == first.pool) && !job.avoided_hosts.contains(first.host);
}

std::set<std::string> pools_of(const Machine& machine) {
    std::set<std::string> pools;
    for (const auto& [host, slots] : machine)
        pools.insert(slots.front().core.pool);
    return pools;
}

bool is_free_for(const WaitingJob& job, const Slot& slot, Instant now) {
    if (!slot.usable() || !slot.core.held_by.empty()) return false;
    if (slot.reserved_by.empty()) return true;
    return slot.lent_until && job.runs_at_most &&
           now + *job.runs_at_most + backfill_margin <= *slot.lent_until;
}

std::int64_t count_free(const WaitingJob& job, const HostSlots& slots, Instant now) {
    return std::ranges::count_if(slots,
                                 [&](const Slot& slot) { return is_free_for(job, slot, now); });
}

std::int64_t memory_of(const HostSlots& slots) {
    return slots.front().core.host_memory_bytes;
}

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

bool has_ever_memory(const WaitingJob& job, const HostSlots& slots) {
    const std::int64_t counted = job.memory_bytes.value_or(0);
    return memory_of(slots) == 0 || counted - counted / 5 <= memory_of(slots);
}

bool has_memory(const WaitingJob& job, const HostSlots& slots) {
    if (memory_of(slots) == 0) return true;
    if (!has_ever_memory(job, slots)) return false;
    return held_memory(slots) + limit_of(job.memory_bytes, job.cores, slots) <= memory_of(slots);
}

}    // namespace slipway
