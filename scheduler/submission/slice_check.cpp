#include "scheduler/submission/slice_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/store/hosts.h"

namespace slipway::submission {

std::vector<Problem> check_slice(store::Store& store, const JobSpec& spec) {
    if (!spec.accelerator.slice) return {};
    const std::vector<store::Host> hosts = store::list_hosts(store);
    const std::int64_t whole = std::ranges::count(hosts, int(host_cores), &store::Host::cores);
    const std::int64_t cores = whole * host_cores;
    if (spec.accelerator.cores <= cores) return {};
    const std::string known =
        fmt::format("{} host{} of {} cores {} known", whole, whole == 1 ? "" : "s", host_cores,
                    whole == 1 ? "is" : "are");
    const std::string possible =
        whole < 2 ? fmt::format(
                        "a slice needs 2 hosts or more, and {}; set accelerator.cores, or "
                        "have more hosts join (slipwayd agent, --virtual-hosts)",
                        known)
                  : fmt::format("accelerator.slice.cores must be at most {}: {}", cores, known);
    return {{.pointer = "/accelerator/slice/cores",
             .code = "slice_unavailable",
             .message = fmt::format("{}, got {}", possible, spec.accelerator.cores)}};
}

}    // namespace slipway::submission
