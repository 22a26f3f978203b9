#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "api/base/error.h"
#include "scheduler/launcher/confine/features.h"
#include "scheduler/launcher/slurm/cluster.h"
#include "scheduler/launcher/slurm/node_reach.h"
#include "scheduler/store/cluster/layout.h"
#include "scheduler/store/hosts.h"
#include "server/main/commands.h"
#include "server/main/findings.h"
#include "server/main/home.h"
#include "server/main/host_checks.h"
#include "server/main/launcher_options.h"

namespace slipway {
namespace {

Finding kernel() {
    utsname system{};
    uname(&system);
    return {"kernel", true, fmt::format("{} {}", system.sysname, system.release)};
}

Finding database(const Options& options) {
    if (!options.database.empty()) return {"database", true, "external, set by --database"};
    try {
        const auto tools = store::find_tools(store::layout_of(home_folder(options.home)), {});
        return {"database", true, fmt::format("private, by the programs in {}", tools.string())};
    } catch (const Error& error) {
        return {"database", false, error.what()};
    }
}

Finding home(const Options& options) {
    const std::filesystem::path folder = home_folder(options.home);
    std::filesystem::path present = folder;
    while (!std::filesystem::exists(present) && present.has_relative_path())
        present = present.parent_path();
    if (access(present.c_str(), W_OK | X_OK) != 0)
        return {"home", false,
                fmt::format("{} cannot be written; choose another with --home", present.string())};
    struct statvfs disk {};
    statvfs(present.c_str(), &disk);
    const double free_gib = double(disk.f_bavail) * double(disk.f_frsize) / double(1 << 30);
    return {"home", true, fmt::format("{}, {:.1f} GiB free", folder.string(), free_gib)};
}

/// With a database of the operator, whose service may run.
std::vector<Finding> drained_hosts(const Options& options) {
    std::vector<Finding> findings;
    if (options.database.empty()) return findings;
    try {
        const Database database = open_service_database(options);
        for (const store::Host& host : store::list_hosts(*database.store))
            if (host.drain)
                findings.push_back(
                    {"host " + host.name, false, "drained: " + host.drain->reason, false});
    } catch (const Error& error) {
        findings.push_back({"hosts", false, error.what(), false});
    }
    return findings;
}

std::string words_for(const std::vector<ClusterNode>& nodes) {
    const std::size_t others = nodes.size() - 1;
    if (others == 0) return fmt::format("node {} is another machine", nodes.front().name);
    return fmt::format("node {} and {} more are other machines", nodes.front().name, others);
}

Finding slurm_address(const Options& options) {
    constexpr const char* name = "slurm address";
    const std::string& address = options.slurm_address;
    const auto port = std::uint16_t(options.slurm_port);
    const auto elsewhere = nodes_elsewhere(cluster_nodes(options.slurm_partition));
    if (address.empty() && elsewhere.empty())
        return {name, true, "not needed: all nodes are this machine"};
    if (address.empty())
        return {name, false,
                words_for(elsewhere) +
                    ": give --slurm-address, an address of this machine that "
                    "the nodes reach"};
    try {
        check_node_reach(address, elsewhere);
        // The service that runs with this home folder listens at the port itself.
        const bool runs = is_home_in_use(home_folder(options.home));
        if (!runs) check_listening_port(address, port);
        const std::string where = port == 0 ? address : fmt::format("{} port {}", address, port);
        return {name, true, where + (runs ? ", slipwayd is running" : "")};
    } catch (const Error& error) {
        return {name, false, error.what()};
    }
}

/// Nothing where no attempt is a job of Slurm.
std::vector<Finding> slurm(const Options& options) {
    if (!uses_slurm(options)) return {};
    try {
        const std::string nodes = describe_cluster(options.slurm_partition);
        const bool kept = keeps_memory();
        return {{"slurm", true, nodes},
                {"slurm memory", kept,
                 kept ? "kept by cgroups of the nodes"
                      : "not kept by Slurm (task/cgroup with ConstrainRAMSpace would): only the "
                        "limit that confinement sets holds",
                 false},
                slurm_address(options)};
    } catch (const Error& error) {
        return {{"slurm", false, error.what()}};
    }
}

}    // namespace

int doctor(const Options& options) {
    std::vector<Finding> findings{kernel(), home(options), database(options)};
    for (const ConfinementFeature& feature : confinement_features(find_cgroup_tree(options.cgroup)))
        findings.push_back(
            {feature.name, feature.enforced, feature.detail, feature.name != "disk"});
    for (Finding& finding : slurm(options))
        findings.push_back(std::move(finding));
    for (Finding& finding : drained_hosts(options))
        findings.push_back(std::move(finding));
    const bool good = print_findings(findings);
    fmt::print("{}\n", good ? "Executors are confined in everything that the service can enforce."
                            : "NO: fix it or accept it; docs/operating.md explains what it means.");
    return good ? 0 : 1;
}

}    // namespace slipway
