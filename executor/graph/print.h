#pragma once

#include <string>

#include "executor/graph/tensor.h"

namespace slipway {

/// The graph as text, one line per node in topological order, the same for equal graphs:
///   %0 = input f32[10,4] replicated name=fc.weight
///   %2 = dot_general f32[8,10] per_core %1 %0 lhs_contracting=[1] rhs_contracting=[1]
///   output %2
///   donate output 0 to %0
std::string print(const Graph& graph);

/// What stands after the operands on a node's line; empty when the op has no attributes.
std::string print_attributes(const Attributes& attributes);

}    // namespace slipway
