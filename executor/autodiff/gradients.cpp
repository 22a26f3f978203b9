// Reverse mode, graph to graph: nodes are walked once from the loss backwards, and what flows to a
// node is the sum of what its users gave. The derivative is again nodes of the graph, so passes,
// fusion and the naive evaluator need to know nothing of it, and forward and backward half share
// values. Only nodes between a parameter and the loss are walked. A composite without a rule of its
// own is differentiated through its decomposition.
//
// What the functions keep: a node is visited after all its users, so its flow is complete; a flow
// has the shape of its node. Over cores a replicated value may receive each core's share of a
// gradient or the whole of it; Readings follows which, and an all_reduce for which both hold is
// rejected instead of being counted twice or once by chance.

#include "executor/autodiff/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "api/base/error.h"
#include "executor/autodiff/sum_of_flows.h"
#include "executor/graph/composite_table.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"

namespace slipway {

namespace {

using Nodes = std::unordered_set<const Node*>;

/// The nodes of `order` whose value moves with a parameter: only those are walked back through.
Nodes dependent_nodes(std::span<const Tensor> order, std::span<const Tensor> parameters) {
    Nodes dependent;
    for (const Tensor& parameter : parameters)
        dependent.insert(parameter.get());
    for (const Tensor& tensor : order) {
        const bool moves = std::ranges::any_of(
            tensor.node().operands, [&](const Tensor& x) { return dependent.contains(x.get()); });
        if (moves && is_floating(tensor.dtype())) dependent.insert(tensor.get());
    }
    return dependent;
}

/// What flows to each node.
class Flows {
public:
    void add(const Tensor& x, const Tensor& flow) {
        check(flow.shape() == x.shape(), "a gradient has its operand's shape");
        flows_[x.get()].push_back(flow);
    }
    /// Their sum; an empty handle where nothing flows.
    Tensor sum_to(const Tensor& x) const {
        const auto found = flows_.find(x.get());
        return found == flows_.end() ? Tensor() : sum_of_flows(found->second);
    }

private:
    std::unordered_map<const Node*, std::vector<Tensor>> flows_;
};

bool is_per_core(const Tensor& x) {
    return x.node().placement == Placement::per_core;
}

/// What flows to a replicated value is each core's share, to be summed over the cores, where it
/// comes from values per core; it is the whole where it comes from a replicated loss alone. An
/// all_reduce must know which: a replicated flow may be either.
class Readings {
public:
    explicit Readings(const Tensor& loss) { known_[loss.get()].whole = !is_per_core(loss); }

    /// Something flows from a node to one of its operands.
    void pass(const Tensor& from, const Tensor& to) {
        const Reading reading = is_per_core(from) ? Reading{.share = true} : known_[from.get()];
        Reading& sum = known_[to.get()];
        sum.share |= reading.share;
        sum.whole |= reading.whole;
    }

    void require_clear(const Tensor& node, const Tensor& flow) {
        if (node.node().op != OpCode::all_reduce) return;
        const Reading reading = known_[node.get()];
        if (!reading.share || (!reading.whole && is_per_core(flow))) return;
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("all_reduce {}: it is open how often the gradient counts: {}",
                        to_string(node.shape()),
                        reading.whole
                            ? "the loss takes it by itself and through values per core; add the "
                              "parts up on each core"
                            : "every core's loss moves with it by the same amount; use it in a "
                              "value per core"));
    }

private:
    struct Reading {
        bool share = false, whole = false;
    };
    std::unordered_map<const Node*, Reading> known_;
};

std::vector<Tensor> gradient_of(const Tensor& y, const Tensor& dy);

/// Pulls dy back from y, the last of `order`, through the nodes that move with `targets`; not
/// through the nodes of `boundary`.
Flows pull_back(const Tensor& y, const Tensor& dy, std::span<const Tensor> order,
                std::span<const Tensor> targets, const Nodes& boundary) {
    const Nodes dependent = dependent_nodes(order, targets);
    Flows flows;
    flows.add(y, dy);
    Readings readings(y);
    for (auto node = order.rbegin(); node != order.rend(); ++node) {
        const std::vector<Tensor>& operands = node->node().operands;
        if (operands.empty() || !dependent.contains(node->get())) continue;
        if (boundary.contains(node->get())) continue;
        const Tensor flow = flows.sum_to(*node);
        if (flow.empty()) continue;
        readings.require_clear(*node, flow);
        const std::vector<Tensor> parts = gradient_of(*node, flow);
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (parts[i].empty() || !dependent.contains(operands[i].get())) continue;
            flows.add(operands[i], parts[i]);
            readings.pass(*node, operands[i]);
        }
    }
    return flows;
}

/// The nodes from the boundary up to y, operands before users. Decompositions are shallow.
void append_above(const Tensor& y, const Nodes& boundary, Nodes& seen, std::vector<Tensor>& order) {
    if (!seen.insert(y.get()).second) return;
    if (!boundary.contains(y.get()))
        for (const Tensor& operand : y.node().operands)
            append_above(operand, boundary, seen, order);
    order.push_back(y);
}

/// Through the decomposition of a composite that has no rule of its own.
std::vector<Tensor> gradient_of_parts(const Tensor& y, const Tensor& dy) {
    const std::vector<Tensor>& operands = y.node().operands;
    Nodes boundary, seen;
    for (const Tensor& operand : operands)
        boundary.insert(operand.get());
    const Tensor value = row_of(y.node().op).decompose(y.node())[0];
    std::vector<Tensor> order;
    append_above(value, boundary, seen, order);
    const Flows flows = pull_back(value, dy, order, operands, boundary);
    std::vector<Tensor> results;
    for (const Tensor& operand : operands) {
        const bool is_repeated =
            std::ranges::find(operands.begin(), operands.begin() + std::ptrdiff_t(results.size()),
                              operand) != operands.begin() + std::ptrdiff_t(results.size());
        // An operand given twice gets the whole sum once.
        results.push_back(is_repeated ? Tensor() : flows.sum_to(operand));
    }
    return results;
}

bool has_own_rule(const Node& node) {
    return node.op != OpCode::composite || composite_row(node).gradient != nullptr;
}

std::vector<Tensor> gradient_of(const Tensor& y, const Tensor& dy) {
    if (!has_own_rule(y.node())) return gradient_of_parts(y, dy);
    const OpRow& row = row_of(y.node().op);
    if (row.gradient == nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{} {}: there is no gradient: {}", row.name, to_string(y.shape()),
                                row.no_gradient));
    }
    std::vector<Tensor> flows = row.gradient(y, dy);
    check(flows.size() == y.node().operands.size(), "a gradient has one entry per operand");
    return flows;
}

void require_scalar(const Tensor& loss) {
    if (loss.dims().empty() && is_floating(loss.dtype())) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("gradients: the loss must be a floating scalar, got {}; reduce it to "
                            "one number",
                            to_string(loss.shape())));
}

}    // namespace

std::vector<Tensor> gradients(const Tensor& loss, std::span<const Tensor> parameters) {
    require_scalar(loss);
    const std::vector<Tensor> order = topological_order({&loss, 1});
    const Flows flows = pull_back(loss, constant(1, loss.dtype()), order, parameters, {});
    std::vector<Tensor> results;
    for (const Tensor& parameter : parameters) {
        const Tensor flow = flows.sum_to(parameter);
        results.push_back(flow.empty() ? broadcast(constant(0, parameter.dtype()), parameter.dims())
                                       : flow);
    }
    return results;
}

}    // namespace slipway
