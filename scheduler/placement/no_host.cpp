#include "scheduler/placement/no_host.h"
#include "api/base/plural.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace slipway {

WaitReason reason_for(const WaitingJob& job, std::string code, std::string message) {
    return {
        .job_id = job.job_id, .code = std::move(code), .message = std::move(message), .cores = {}};
}

std::string drained_host(const CoreSlot& core) {
    const std::string reason =
        core.drain_reason.empty() ? "" : fmt::format(" ({})", core.drain_reason);
    return fmt::format("host {} is drained{}", core.host, reason);
}

std::string of_its_pool(const WaitingJob& job) {
    return job.pool.empty() ? "" : fmt::format(" of pool {}", job.pool);
}

std::optional<WaitReason> explain_no_pool(const WaitingJob& job, const Machine& machine) {
    if (job.pool.empty()) return std::nullopt;
    bool is_known = false;
    for (const auto& [host, slots] : machine) {
        if (!is_in_pool(job, slots)) continue;
        is_known = true;
        if (slots.front().core.alive) return std::nullopt;
    }
    if (is_known)
        return reason_for(job, "host_lost", fmt::format("no host of pool {} is up", job.pool));
    const std::set<std::string> pools = pools_of(machine);
    return reason_for(job, "no_such_pool",
                      pools.empty() ? fmt::format("no host is of pool {}: none is known", job.pool)
                                    : fmt::format("no host is of pool {}; the pools are {}",
                                                  job.pool, fmt::join(pools, ", ")));
}

WaitReason explain_no_host(const WaitingJob& job, const Machine& machine) {
    if (auto no_pool = explain_no_pool(job, machine)) return *std::move(no_pool);
    WaitReason reason = reason_for(job, "waiting_for_cores", "");
    const std::string pool = of_its_pool(job);
    std::size_t largest = 0;
    std::int64_t most_memory = 0;
    bool fits = false;
    std::vector<std::string> drained_hosts;
    for (const auto& [host, slots] : machine) {
        if (!is_in_pool(job, slots)) continue;
        largest = std::max(largest, slots.size());
        if (slots.size() < std::size_t(job.cores)) continue;
        most_memory = std::max(most_memory, memory_of(slots));
        if (!has_ever_memory(job, slots)) continue;
        fits = true;
        if (slots.front().core.alive && slots.front().core.host_drained) {
            drained_hosts.push_back(drained_host(slots.front().core));
            continue;
        }
        for (const Slot& slot : slots)
            if (slot.core.alive && slot.core.drained) reason.cores.push_back(slot.core.core);
    }
    if (largest < std::size_t(job.cores)) {
        reason.message = fmt::format("the job needs {} of one host; the largest host{} has {}",
                                     counted(job.cores, "core"), pool, largest);
    } else if (!fits) {
        reason.code = "waiting_for_memory";
        reason.message =
            fmt::format("the job may use {} bytes of memory; the largest host{} has {} for jobs",
                        *job.memory_bytes, pool, most_memory);
    } else if (!drained_hosts.empty()) {
        reason.code = "host_drained";
        reason.message =
            fmt::format("the job needs {} of one host{}, and {}", counted(job.cores, "core"), pool,
                        fmt::join(drained_hosts, ", "));
    } else if (!reason.cores.empty()) {
        reason.code = "core_drained";
        reason.message =
            fmt::format("the job needs {} of one host{}; drained: {}", counted(job.cores, "core"),
                        pool, fmt::join(reason.cores, ", "));
    } else {
        reason.code = "host_lost";
        reason.message = fmt::format("the job needs {} of one host{}; a host sends no heartbeat",
                                     counted(job.cores, "core"), pool);
    }
    return reason;
}

std::string needs_hosts(const WaitingJob& job) {
    return fmt::format("the job needs {} of {}", counted(host_count(job), "whole host"),
                       counted(slice_host_cores, "core"));
}

WaitReason explain_few_hosts(const WaitingJob& job, const std::vector<NamedHost>& hosts) {
    std::vector<std::string> drained;
    std::vector<std::string> silent;
    std::vector<std::string> drained_cores;
    std::set<int> cores;
    int whole = 0, with_memory = 0;
    for (const NamedHost& host : hosts) {
        const CoreSlot& first = host.slots->front().core;
        if (!is_in_pool(job, *host.slots) || !is_whole(*host.slots)) continue;
        ++whole;
        if (!has_ever_memory(job, *host.slots)) continue;
        ++with_memory;
        if (!first.alive) {
            silent.push_back(fmt::format("host {} sends no heartbeat", first.host));
        } else if (first.host_drained) {
            drained.push_back(drained_host(first));
        } else {
            for (const Slot& slot : *host.slots) {
                if (!slot.core.drained) continue;
                cores.insert(slot.core.core);
                drained_cores.push_back(
                    fmt::format("core {} of host {} is drained", slot.core.core, first.host));
            }
        }
    }
    WaitReason reason = reason_for(job, "waiting_for_cores", needs_hosts(job));
    if (whole < host_count(job)) {
        reason.message +=
            fmt::format(", and {} {} known{}", whole, whole == 1 ? "is" : "are", of_its_pool(job));
        return reason;
    }
    if (with_memory < host_count(job)) {
        reason.code = "waiting_for_memory";
        reason.message += fmt::format(" with {} bytes of memory each, and {}{} {} as much for jobs",
                                      *job.memory_bytes, with_memory, of_its_pool(job),
                                      with_memory == 1 ? "has" : "have");
        return reason;
    }
    reason.code = !drained.empty()         ? "host_drained"
                  : !drained_cores.empty() ? "core_drained"
                                           : "host_lost";
    reason.cores.assign(cores.begin(), cores.end());
    for (const auto* more : {&drained_cores, &silent})
        drained.insert(drained.end(), more->begin(), more->end());
    reason.message += fmt::format(", and {}", fmt::join(drained, ", "));
    return reason;
}

}    // namespace slipway
