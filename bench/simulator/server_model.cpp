#include "bench/simulator/server_model.h"

namespace slipway::simulator {

namespace {

/// The same snapshot gives the same plan; what time alone changes is looked at so often.
constexpr std::chrono::seconds plan_again_after{5};

}    // namespace

void ServerModel::restart() {
    holder_ = 1000 * ++incarnation_ + number_;
    connected_since_.reset();
    seen_version_ = -1;
    memory_ = {};
}

bool ServerModel::read(StoreModel& store, Tick now) {
    if (!connected_since_) connected_since_ = now;
    const std::optional<int> term = store.lead(holder_, times_.leader_lease);
    if (!term) return false;
    term_ = *term;
    memory_.look(store.leases(), now, std::chrono::duration_cast<Millis>(now - *connected_since_));
    lost_ = memory_.silent(own_host_, times_.lease);
    plan_ = {};
    if (seen_version_ != store.version() || now - planned_at_ >= plan_again_after) {
        seen_version_ = store.version();
        planned_at_ = now;
        plan_ = make_plan(store.snapshot(times_.host_silence_max));
    }
    return true;
}

int ServerModel::write(StoreModel& store, const std::function<std::uint64_t()>& draw_fence) {
    store.release_due(term_);
    for (const PreemptedJob& one : plan_.preempt)
        store.preempt(one.job_id, term_);
    int placed = 0;
    for (const PlacedJob& one : plan_.start)
        placed += store.place(one, draw_fence(), times_.lease, term_);
    for (const store::HeldLease& lease : lost_)
        store.rescue(lease, term_);
    store.expire_queued(term_);
    return placed;
}

}    // namespace slipway::simulator
