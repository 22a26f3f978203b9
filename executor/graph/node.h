#pragma once

#include <vector>

#include "executor/graph/tensor.h"

namespace slipway {

/// A node that is asked for: what the functions of ops.h and the passes hand to make_node.
struct NodeRequest {
    OpCode op;
    Attributes attributes;
    std::vector<Tensor> operands;
    /// The result's shape, for the ops whose operands do not settle it: input, constant, iota,
    /// broadcast_in_dim, reshape, convert, bitcast_convert. The others ignore it.
    Shape result;
    /// For input only; the others derive it.
    Placement placement = Placement::replicated;
};

/// Checks the op's constraints, derives shape, placement and hash, and makes the node.
/// errors  invalid_argument that names op and constraint and echoes the shapes
Tensor make_node(NodeRequest request);

/// The same op over other operands; the tensor itself when they are the very same nodes. For
/// passes: the new operands' shapes equal the old ones'.
Tensor with_operands(const Tensor& x, std::vector<Tensor> operands);

/// Hash of a node from its parts, as make_node computes it.
Hash128 hash_of_node(const NodeRequest& request, const Shape& shape, Placement placement);

}    // namespace slipway
