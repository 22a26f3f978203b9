#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/store/attempts.h"

namespace slipway {

/// How long each lease has stayed as it was, by the monotonic clock of the process that looks: the
/// clocks of machines may be set back or forward by hours. Time in which nothing was seen (a frozen
/// process, a database that is down) is not silence of the hosts. Not safe from several threads.
class LeaseMemory {
public:
    /// Of the time between two looks, this much counts at most.
    static constexpr std::chrono::seconds look_counts_max{3};

    /// `connected_for`: how long the database has answered without a break; none: it does not.
    void look(const std::vector<store::HeldLease>& leases, Tick now,
              std::optional<std::chrono::milliseconds> connected_for);

    /// Those of hosts that were silent for `lease`; of the own host for twice as long, since its
    /// agent may just have begun to take its attempts over. One of each attempt.
    std::vector<store::HeldLease> silent(const std::string& own_host,
                                         std::chrono::milliseconds lease) const;

private:
    using Name = std::tuple<std::string, int, std::string>;    // job, attempt, host
    struct Seen {
        store::HeldLease lease;
        Tick::duration silent_for{0};
    };
    std::map<Name, Seen> seen_;    // as at the last look
    std::optional<Tick> looked_at_;
};

}    // namespace slipway
