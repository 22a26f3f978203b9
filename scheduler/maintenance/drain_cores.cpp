#include "scheduler/maintenance/drain_cores.h"

#include "api/base/log.h"
#include "scheduler/store/hosts.h"

namespace slipway {

namespace {

/// Jobs that crash on a core in a row, with nothing that goes well there between.
constexpr int failures_min = 3;
constexpr int cores_at_once = 64;

}    // namespace

std::int64_t drain_failing_cores(store::Store& store, const store::LeaderTerm& term) {
    std::int64_t drained = 0;
    for (int i = 0; i < cores_at_once; ++i) {
        const auto found = store::drain_failing_core(store, failures_min, term);
        if (!found) break;
        log_warn("job after job crashes on a core", {{"host", found->host},
                                                     {"core", found->core},
                                                     {"drained", found->drained},
                                                     {"reason", found->reason}});
        if (!found->drained) break;
        ++drained;
    }
    return drained;
}

}    // namespace slipway
