#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/graph/op.h"
#include "executor/tensor/array.h"
#include "executor/tensor/shape.h"

namespace slipway {

struct Node;

/// A tensor is a cheap handle to a node of a graph. Nothing runs until an engine is given the
/// graph. Copying it copies the handle. Nodes are immutable and may be shared between threads.
class Tensor {
public:
    Tensor() = default;
    explicit Tensor(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

    const Node& node() const { return *node_; }
    const Node* get() const { return node_.get(); }
    const Shape& shape() const;
    DType dtype() const { return shape().dtype; }
    const Dims& dims() const { return shape().dims; }
    bool empty() const { return node_ == nullptr; }
    bool operator==(const Tensor&) const = default;    ///< the same node, not equal values

private:
    std::shared_ptr<const Node> node_;    // shared: a graph is a DAG of handles
};

/// 128 bits over op, attributes, shape and the operands' hashes; made with the node, in O(1).
struct Hash128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    bool operator==(const Hash128&) const = default;
};

/// Whether a value is the same on every core, or each core has its own.
enum class Placement : std::uint8_t { replicated, per_core };

/// One operation. A node's value is its first result; `get_result` nodes over it are the further
/// ones. Built only by the functions of executor/graph/ops/*.h, which check the op's
/// constraints.
struct Node {
    OpCode op;
    Attributes attributes;
    std::vector<Tensor> operands;
    Shape shape;
    Placement placement;    ///< derived: per_core when any operand is, until an all_reduce
    Hash128 hash;           ///< of the expression. An input gives its shape and placement, not its
                            ///< identity: that is its position, which hash_of(Graph) adds
    std::vector<Shape> more_shapes = {};    ///< of the results after the first

    /// Lets go of the operands one by one: a chain of any length needs no deep stack.
    ~Node();
};

/// One whole step: what an engine compiles and runs.
/// Inputs are bound by position, never merged by value, so equal numbers cannot change the program.
struct Graph {
    /// An output that may take over an input's memory (parameters, optimizer state): same shape,
    /// both replicated.
    struct Donation {
        std::size_t output;
        std::size_t input;
    };
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    std::vector<Donation> donations;
};

/// Hash of the whole step: every node with the positions of its operands, the order of inputs,
/// outputs and donations. The compile cache's key. Input names do not count.
Hash128 hash_of(const Graph& graph);

/// All inputs by position, then every other node reachable from the outputs, operands before users;
/// the same order for equal graphs.
std::vector<Tensor> topological_order(const Graph& graph);
/// Every node reachable from the roots, operands before users.
std::vector<Tensor> topological_order(std::span<const Tensor> roots);

}    // namespace slipway
