#include "scheduler/maintenance/lease_memory.h"

#include <algorithm>
#include <utility>

namespace slipway {

void LeaseMemory::look(const std::vector<store::HeldLease>& leases, Tick now,
                       std::optional<std::chrono::milliseconds> connected_for) {
    const Tick::duration since = looked_at_ ? now - *looked_at_ : Tick::duration{0};
    const bool unbroken = looked_at_ && connected_for && *connected_for >= since;
    std::map<Name, Seen> seen;
    for (const store::HeldLease& lease : leases) {
        const Name name{lease.key.job_id, lease.key.attempt, lease.host};
        const auto before = seen_.find(name);
        Seen now_seen{.lease = lease};
        if (unbroken && before != seen_.end() &&
            before->second.lease.expires_at == lease.expires_at)
            now_seen.silent_for =
                before->second.silent_for + std::min<Tick::duration>(since, look_counts_max);
        seen.emplace(name, std::move(now_seen));
    }
    seen_ = std::move(seen);
    looked_at_ = now;
}

std::vector<store::HeldLease> LeaseMemory::silent(const std::string& own_host,
                                                  std::chrono::milliseconds lease) const {
    std::vector<store::HeldLease> silent;
    for (const auto& [name, seen] : seen_) {
        const auto silent_max = seen.lease.host == own_host ? 2 * lease : lease;
        if (seen.silent_for < silent_max) continue;
        if (silent.empty() || silent.back().key != seen.lease.key) silent.push_back(seen.lease);
    }
    return silent;
}

}    // namespace slipway
