#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/placement/machine.h"

// What is different about a job of several whole hosts. Pure.
namespace slipway {

bool is_slice(const WaitingJob& job);
/// 1 for a job that is no slice.
int host_count(const WaitingJob& job);
/// What the job wants of each of its hosts.
WaitingJob part_on_host(const WaitingJob& job);

/// A host by its name. Both outlive it.
struct NamedHost {
    const std::string* name;
    HostSlots* slots;
};

/// The hosts in the order of their names, in which numbers count as numbers: rack-2 goes before
/// rack-10. What is next to each other here is near.
std::vector<NamedHost> in_name_order(Machine& machine);

/// Of the hosts that fit, `count` that are near each other: with the fewest different names before
/// the number, then with the fewest hosts between them, then the first. Empty when fewer fit.
std::vector<NamedHost> nearest_hosts(const std::vector<NamedHost>& in_name_order, int count,
                                     const std::function<bool(const HostSlots&)>& fits);

/// All cores of the host are there, as many as a host of a slice has.
bool is_whole(const HostSlots& slots);

/// The hosts where the slice could run, were no other job there: of its pool, whole, alive, not
/// drained, with memory enough.
std::vector<NamedHost> hosts_for(const WaitingJob& job,
                                 const std::vector<NamedHost>& in_name_order);

/// Of those, the ones where the slice will fit soonest: the fewest jobs give way, and the fewest
/// cores are held or kept by others.
std::vector<NamedHost> hosts_to_wait_for(const WaitingJob& job, std::vector<NamedHost> hosts,
                                         const RunningJobs& running);

}    // namespace slipway
