#include "scheduler/launcher/slurm/cluster.h"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <vector>

#include "api/base/error.h"
#include "api/base/plural.h"
#include "scheduler/launcher/slurm/command.h"

namespace slipway {

namespace {

std::string ask(const std::vector<std::string>& words) {
    const CommandResult result = run_command(words);
    if (result.timed_out)
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} did not answer in time", words.front())};
    if (result.good()) return result.output;
    std::string said = result.error.substr(0, result.error.find('\n'));
    if (said.empty()) said = fmt::format("exit code {}", result.status);
    throw Error{ErrorCode::unavailable, fmt::format("{}: {}", words.front(), said)};
}

std::string nodes_of(const std::string& partition) {
    return partition.empty() ? "--all" : "--partition=" + partition;
}

/// The value of a line "Name = value" of scontrol show config; empty: there is none.
std::string setting(const std::string& config, const std::string& name) {
    std::istringstream lines(config);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos) continue;
        std::istringstream words(line.substr(0, equals));
        std::string first;
        words >> first;
        if (first != name) continue;
        const std::size_t begin = line.find_first_not_of(' ', equals + 1);
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

}    // namespace

std::string describe_cluster(const std::string& partition) {
    std::istringstream lines(ask({"sinfo", "--noheader", nodes_of(partition), "--format=%D %T"}));
    int nodes = 0;
    std::map<std::string, int> states;
    int count = 0;
    for (std::string state; lines >> count >> state;) {
        nodes += count;
        states[state] += count;
    }
    const std::string where =
        partition.empty() ? std::string() : fmt::format(" in partition {}", partition);
    if (nodes == 0) throw Error{ErrorCode::unavailable, fmt::format("Slurm has no nodes{}", where)};
    std::string said = fmt::format("{}{}:", counted(nodes, "node"), where);
    for (const auto& [state, number] : states)
        said += fmt::format(" {} {}", number, state);
    return said;
}

std::vector<ClusterNode> cluster_nodes(const std::string& partition) {
    std::istringstream lines(
        ask({"sinfo", "--noheader", "--Node", nodes_of(partition), "--format=%N %o"}));
    // A node has a line for each of its partitions.
    std::map<std::string, std::string> addresses;
    for (std::string name, address; lines >> name >> address;)
        addresses[name] = address;
    std::vector<ClusterNode> nodes;
    for (const auto& [name, address] : addresses)
        nodes.push_back({.name = name, .address = address});
    return nodes;
}

bool keeps_memory() {
    const std::string config = ask({"scontrol", "show", "config"});
    const bool by_cgroup = setting(config, "TaskPlugin").find("cgroup") != std::string::npos;
    const bool constrained = setting(config, "ConstrainRAMSpace") == "yes";
    return by_cgroup && constrained;
}

}    // namespace slipway
