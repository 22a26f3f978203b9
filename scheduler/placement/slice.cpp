#include "scheduler/placement/slice.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "scheduler/placement/preemption.h"

namespace slipway {

namespace {

constexpr std::size_t digits_max = 18;    // of a number that fits

/// "rack-10": "rack-" and 10. A name without a number, the number of many names that is left out
/// ("rack", "rack-2"), goes before those with one.
struct HostName {
    std::string_view before;
    std::int64_t number = -1;
};

HostName name_of(std::string_view name) {
    std::size_t digits = 0;
    while (digits < std::min(name.size(), digits_max) && name[name.size() - digits - 1] >= '0' &&
           name[name.size() - digits - 1] <= '9')
        ++digits;
    HostName found{.before = name.substr(0, name.size() - digits)};
    if (digits > 0) found.number = std::stoll(std::string(name.substr(name.size() - digits)));
    // One machine with several hosts calls them NAME, NAME-2, …
    while (digits > 0 && found.before.ends_with('-'))
        found.before.remove_suffix(1);
    return found;
}

auto order_of(const NamedHost& host) {
    const HostName name = name_of(*host.name);
    return std::tuple(name.before, name.number, std::string_view(*host.name));
}

bool is_kept(const Slot& slot) {
    return !slot.reserved_by.empty();
}

}    // namespace

bool is_slice(const WaitingJob& job) {
    return job.cores > slice_host_cores;
}

int host_count(const WaitingJob& job) {
    return is_slice(job) ? job.cores / slice_host_cores : 1;
}

WaitingJob part_on_host(const WaitingJob& job) {
    WaitingJob part = job;
    part.cores = std::min(job.cores, slice_host_cores);
    return part;
}

std::vector<NamedHost> in_name_order(Machine& machine) {
    std::vector<NamedHost> hosts;
    for (auto& [name, slots] : machine)
        hosts.push_back({.name = &name, .slots = &slots});
    std::ranges::sort(hosts, {}, order_of);
    return hosts;
}

std::vector<NamedHost> nearest_hosts(const std::vector<NamedHost>& in_name_order, int count,
                                     const std::function<bool(const HostSlots&)>& fits) {
    struct Fitting {
        std::size_t place;    // among all hosts
        std::size_t names;    // that differ before the number, up to here
    };
    std::vector<Fitting> fitting;
    for (std::size_t place = 0; place < in_name_order.size(); ++place) {
        if (!fits(*in_name_order[place].slots)) continue;
        std::size_t names = 0;
        if (!fitting.empty()) {
            const auto before = [&](std::size_t at) {
                return name_of(*in_name_order[at].name).before;
            };
            names =
                fitting.back().names + std::size_t(before(fitting.back().place) != before(place));
        }
        fitting.push_back({.place = place, .names = names});
    }
    const auto wanted = std::size_t(count);
    if (wanted == 0 || fitting.size() < wanted) return {};
    std::size_t best = 0;
    const auto distance = [&](std::size_t first) {
        const Fitting& begin = fitting[first];
        const Fitting& end = fitting[first + wanted - 1];
        return std::pair(end.names - begin.names, end.place - begin.place);
    };
    for (std::size_t first = 1; first + wanted <= fitting.size(); ++first)
        if (distance(first) < distance(best)) best = first;
    std::vector<NamedHost> hosts;
    for (std::size_t i = best; i < best + wanted; ++i)
        hosts.push_back(in_name_order[fitting[i].place]);
    return hosts;
}

bool is_whole(const HostSlots& slots) {
    return std::ssize(slots) == slice_host_cores;
}

std::vector<NamedHost> hosts_for(const WaitingJob& job,
                                 const std::vector<NamedHost>& in_name_order) {
    std::vector<NamedHost> hosts;
    for (const NamedHost& host : in_name_order)
        if (is_in_pool(job, *host.slots) && is_whole(*host.slots) &&
            std::ranges::all_of(*host.slots, &Slot::usable) && has_ever_memory(job, *host.slots))
            hosts.push_back(host);
    return hosts;
}

std::vector<NamedHost> hosts_to_wait_for(const WaitingJob& job, std::vector<NamedHost> hosts,
                                         const RunningJobs& running) {
    const WaitingJob part = part_on_host(job);
    using Rank = std::tuple<bool, bool, std::size_t, int, std::int64_t>;
    std::vector<std::pair<Rank, NamedHost>> ranked;
    for (const NamedHost& host : hosts) {
        const auto preemption = choose_preemption(part, *host.slots, running);
        const auto held = std::ranges::count_if(
            *host.slots, [](const Slot& slot) { return !slot.core.held_by.empty(); });
        ranked.push_back({{std::ranges::any_of(*host.slots, is_kept), !preemption.has_value(),
                           preemption ? preemption->give_way.size() : 0,
                           preemption ? preemption->cores : 0, held},
                          host});
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<Rank, NamedHost>::first);
    hosts.clear();
    for (const auto& [rank, host] : ranked)
        if (std::ssize(hosts) < host_count(job)) hosts.push_back(host);
    return hosts;
}

}    // namespace slipway
