#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "executor/import/call.h"

namespace slipway::importer {

/// Traces a network.
///   inputs  the values of its inputs by their names in the graph
/// returns the values of its outputs
/// errors  invalid_argument that names the node, what it needs and what it got
std::vector<Value> lower_network(const Network& network, Trace& trace,
                                 std::unordered_map<std::string, Value> inputs);

/// An operator of a network that no row lowers.
struct MissingOperator {
    std::string op;
    std::int64_t nodes = 0;
    std::string first;    ///< the first of them, with the module that it stands in
};
std::vector<MissingOperator> missing_operators(const Network& network);

/// The highest rate at which the network drops anything; 0: it does not.
double highest_dropout(const Network& network);

}    // namespace slipway::importer
