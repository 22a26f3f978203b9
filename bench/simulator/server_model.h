#pragma once

#include <functional>

#include "bench/simulator/store_model.h"
#include "scheduler/maintenance/lease_memory.h"

namespace slipway::simulator {

struct ServerTimes {
    Millis lease{10000};
    Millis leader_lease{6000};
    Millis host_silence_max{10000};
};

/// The maintenance of one server: what scheduler/maintenance does in a pass, cut in two, so that
/// anything may happen between what it reads and what it writes. It decides by the service's own
/// functions and by its memory of leases: make_plan and LeaseMemory.
class ServerModel {
public:
    ServerModel(int number, std::string own_host, ServerTimes times)
        : number_(number), own_host_(std::move(own_host)), times_(times) {}

    /// Its process begins: it has had the database for no time.
    void restart();
    void lose_database() { connected_since_.reset(); }
    /// Looks, when it leads: true when there is something to write.
    bool read(StoreModel& store, Tick now);
    /// Writes what it decided by what it saw; what somebody else has changed meanwhile is left.
    /// Returns how many jobs it placed. throws LeaderReplaced.
    int write(StoreModel& store, const std::function<std::uint64_t()>& draw_fence);

    int holder() const { return holder_; }

private:
    const int number_;
    const std::string own_host_;
    const ServerTimes times_;
    int incarnation_ = 0;
    int holder_ = -1;
    std::optional<Tick> connected_since_;
    std::int64_t seen_version_ = -1;
    Tick planned_at_{};
    // What the present pass has seen and decided.
    int term_ = 0;
    Plan plan_;
    LeaseMemory memory_;
    std::vector<store::HeldLease> lost_;
};

}    // namespace slipway::simulator
