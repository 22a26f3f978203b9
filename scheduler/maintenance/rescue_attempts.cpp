#include "scheduler/maintenance/rescue_attempts.h"

#include "api/base/log.h"

namespace slipway {

std::int64_t rescue_attempts(store::Store& store, const std::string& own_host,
                             std::chrono::milliseconds lease, LeaseMemory& memory, Tick now,
                             const store::LeaderTerm& term) {
    const std::vector<store::HeldLease> leases = store::list_leases(store);
    memory.look(leases, now, store.connected_for());
    const auto rescued = store::rescue_lost(store, memory.silent(own_host, lease), term);
    for (const store::Rescued& each : rescued) {
        log_warn("an attempt was taken from a lost host",
                 {{"job_id", each.key.job_id},
                  {"attempt", each.key.attempt},
                  {"host", each.host},
                  {"job_state", to_string(each.job_state)}});
    }
    return std::int64_t(rescued.size());
}

}    // namespace slipway
