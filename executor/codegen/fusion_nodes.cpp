#include "executor/codegen/fusion_nodes.h"

#include <algorithm>
#include <unordered_map>

#include "executor/codegen/node_views.h"

namespace slipway {

FusionNodes::FusionNodes(const Graph& graph, const Analysis& graph_analysis)
    : analysis(graph_analysis) {
    std::unordered_map<const Node*, std::size_t> ids;
    for (const Tensor& tensor : analysis.order) {
        if (is_view(tensor.node())) continue;
        ids.emplace(tensor.get(), tensors.size());
        tensors.push_back(tensor);
    }
    cluster_of.assign(size(), no_cluster);
    pinned.assign(size(), false);
    for (const Tensor& output : graph.outputs)
        pinned[ids.at(source_of(output).get())] = true;
    for (std::size_t id = 0; id < size(); ++id)
        if (facts(id).region) pinned[id] = true;
    users.resize(size());
    sources.resize(size());
    for (std::size_t user = 0; user < size(); ++user)
        for (const Tensor& operand : tensors[user].node().operands)
            add({ids.at(source_of(operand).get()), user, &operand});
}

void FusionNodes::add(const ReadLink& link) {
    // A value that is used twice at every level would have its links doubled at each of them.
    if (link.operand == nullptr && !passed_.insert({link.source, link.user}).second) return;
    users[link.source].push_back(link);
    sources[link.user].push_back(link);
}

void FusionNodes::pass_through(std::size_t id) {
    const std::vector<ReadLink> readers = users[id];
    const std::vector<ReadLink> read = sources[id];
    for (const ReadLink& source : read) {
        std::erase_if(users[source.source], [&](const ReadLink& link) { return link.user == id; });
        for (const ReadLink& user : readers)
            add({source.source, user.user, nullptr});
    }
    for (const ReadLink& user : readers)
        std::erase_if(sources[user.user], [&](const ReadLink& link) { return link.source == id; });
    users[id].clear();
    sources[id].clear();
}

}    // namespace slipway
