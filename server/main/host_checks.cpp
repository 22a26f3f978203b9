#include "server/main/host_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/error.h"
#include "api/base/log.h"
#include "api/protocol/compatibility.h"
#include "migrations/migrate.h"
#include "scheduler/agent/home_id.h"
#include "scheduler/agent/shared_store.h"
#include "scheduler/agent/this_host.h"
#include "scheduler/launcher/slurm/node_reach.h"
#include "scheduler/store/hosts.h"
#include "server/main/check_options.h"
#include "server/main/first_start.h"

namespace slipway {

namespace {

constexpr std::chrono::seconds database_wait{60};

}    // namespace

Database open_service_database(const Options& options) {
    const std::vector<migrations::Status> steps = migrations::status(options.database);
    const auto wrong = std::ranges::find_if(steps, [](const migrations::Status& step) {
        return !step.applied_at || !step.problem.empty();
    });
    const Age age = wrong == steps.end() ? Age::same : wrong->is_older ? Age::older : Age::newer;
    if (answer_of(Program::agent, age) != Answer::serve) {
        throw Error{ErrorCode::conflict,
                    fmt::format("version mismatch: step {} ({}) of the database's schema is {}, "
                                "and this program has {} {}. Install the programs of the "
                                "service on this machine; to upgrade, begin with the service",
                                wrong->number, wrong->name,
                                wrong->problem.empty() ? "missing" : wrong->problem,
                                migrations::all().size(),
                                migrations::all().size() == 1 ? "step" : "steps")};
    }
    return {
        .cluster = nullptr,
        .store = std::make_unique<store::Store>(store::StoreOptions{.database = options.database}),
        .url = options.database};
}

void require_shared_store(store::Store& store, const Home& home, bool may_be_full) {
    wait_for_database(store, system_clock(), database_wait);
    const ArtifactStore artifacts(home.path());
    try {
        check_store_can_be_written(artifacts);
    } catch (const Error& error) {
        if (!may_be_full) throw;
        log_error("the store cannot be written", {{"reason", error.what()}});
        return;
    }
    check_store_is_shared(store, artifacts, home_id(home.path()), system_clock());
}

Options with_slice_address(Options options, store::Store& store) {
    if (!options.slice_address.empty()) return options;
    options.slice_address = "127.0.0.1";
    const std::string found = store::find_client(store).address;
    try {    // a proxy's address is none of ours
        if (found.empty()) return options;
        check_listening_port(found, 0);
        Options with_it = options;
        with_it.slice_address = found;
        check_slice_address(with_it);
        return with_it;
    } catch (const std::exception& error) {
        log_warn("slices of several machines need --slice-address here",
                 {{"address", found}, {"reason", error.what()}});
        return options;
    }
}

void register_hosts(store::Store& store, const std::vector<AgentOptions>& agents) {
    for (const AgentOptions& agent : agents)
        store::register_host(store, this_host(agent, "start"), host_silence_max, agent.join_token);
}

}    // namespace slipway
