#include "scheduler/maintenance/rescue_attempts.h"

#include "api/base/log.h"

namespace slipway {

std::optional<store::RescueRule> rescue_rule(std::optional<std::chrono::milliseconds> connected_for,
                                             const std::string& own_host,
                                             std::chrono::milliseconds lease) {
    if (!connected_for || *connected_for < lease) return std::nullopt;
    store::RescueRule rule{.own_host = own_host};
    if (*connected_for >= 2 * lease) rule.own_grace = lease;
    return rule;
}

std::int64_t rescue_attempts(store::Store& store, const std::string& own_host,
                             std::chrono::milliseconds lease, const store::LeaderTerm& term) {
    const auto rule = rescue_rule(store.connected_for(), own_host, lease);
    if (!rule) return 0;
    const auto rescued = store::rescue_expired(store, *rule, term);
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
