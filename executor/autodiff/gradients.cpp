#include "executor/autodiff/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "api/base/error.h"
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

std::vector<Tensor> gradient_of(const Tensor& y, const Tensor& dy) {
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
    const Nodes dependent = dependent_nodes(order, parameters);
    std::unordered_map<const Node*, Tensor> flowing;
    flowing.emplace(loss.get(), constant(1, loss.dtype()));
    for (auto y = order.rbegin(); y != order.rend(); ++y) {
        const auto dy = flowing.find(y->get());
        const std::vector<Tensor>& operands = y->node().operands;
        if (dy == flowing.end() || operands.empty() || !dependent.contains(y->get())) continue;
        const std::vector<Tensor> flows = gradient_of(*y, dy->second);
        for (std::size_t i = 0; i < operands.size(); ++i) {
            if (flows[i].empty() || !dependent.contains(operands[i].get())) continue;
            check(flows[i].shape() == operands[i].shape(), "a gradient has its operand's shape");
            const auto [sum, is_first] = flowing.emplace(operands[i].get(), flows[i]);
            if (!is_first) sum->second = sum->second + flows[i];
        }
    }
    std::vector<Tensor> results;
    for (const Tensor& parameter : parameters) {
        const auto found = flowing.find(parameter.get());
        results.push_back(found != flowing.end()
                              ? found->second
                              : broadcast(constant(0, parameter.dtype()), parameter.dims()));
    }
    return results;
}

}    // namespace slipway
