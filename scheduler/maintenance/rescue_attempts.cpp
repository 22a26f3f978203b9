#include "scheduler/maintenance/rescue_attempts.h"

#include "api/base/log.h"
#include "scheduler/store/attempts.h"

namespace slipway {

std::int64_t rescue_attempts(store::Store& store, const std::string& own_host,
                             std::chrono::milliseconds lease, const store::LeaderTerm& term) {
    const auto connected = store.connected_for();
    if (!connected || *connected < lease) return 0;
    store::RescueRule rule{.own_host = own_host};
    if (*connected >= 2 * lease) rule.own_grace = lease;
    const auto rescued = store::rescue_expired(store, rule, term);
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
