#include "scheduler/launcher/slurm/node_faults.h"

#include "api/base/log.h"

namespace slipway {

namespace {

constexpr int faults_min = 3;
constexpr std::chrono::minutes excluded_for{10};

}    // namespace

void NodeFaults::add(const std::string& node) {
    const std::scoped_lock lock(mutex_);
    Row& row = nodes_[node];
    row.last = clock_.tick();
    if (++row.count == faults_min)
        log_warn("a node gets no jobs for a while: three starts in a row failed there",
                 {{"node", node}});
}

void NodeFaults::clear(const std::string& node) {
    const std::scoped_lock lock(mutex_);
    nodes_.erase(node);
}

std::vector<std::string> NodeFaults::excluded() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, row] : nodes_)
        if (row.count >= faults_min && clock_.tick() - row.last < excluded_for)
            names.push_back(name);
    return names;
}

}    // namespace slipway
