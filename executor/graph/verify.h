#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/graph/node_map.h"

namespace slipway {

/// Every law of a graph that this one breaks, in words, with the node's line where there is one;
/// empty for a sound graph. The laws are the table in verify.cpp.
std::vector<std::string> broken_laws(const Graph& graph);

/// Stops the process when a law is broken: graphs come from our own code, so that is a bug.
/// `after` names who made the graph ("merge_common").
void verify(const Graph& graph, std::string_view after);
/// The same without looking again at the nodes of `known`, which were verified before and are
/// alive: nodes never change. Returns the graph's nodes.
NodeSet verify(const Graph& graph, std::string_view after, const NodeSet& known);

}    // namespace slipway
