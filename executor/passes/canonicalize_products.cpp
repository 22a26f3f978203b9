#include <algorithm>
#include <unordered_map>

#include "executor/graph/ops.h"
#include "executor/graph/ops/dims.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

/// An operand and which of its dimensions are batched and contracted.
struct Side {
    Tensor tensor;
    Dims batching, contracting;

    Dims free() const {
        return other_dimensions(tensor.shape().rank(), concatenated(batching, contracting));
    }
};

/// The operand below a transpose, where the result's dimensions keep their order.
Side without_transpose(Side side) {
    while (side.tensor.node().op == OpCode::transpose) {
        const Dims& permutation =
            std::get<TransposeAttributes>(side.tensor.node().attributes).permutation;
        if (!std::ranges::is_sorted(picked(permutation, side.free()))) return side;
        side = {side.tensor.node().operands[0], picked(permutation, side.batching),
                picked(permutation, side.contracting)};
    }
    return side;
}

Tensor product_of(const Side& lhs, const Side& rhs, std::optional<DType> result) {
    return dot_general(lhs.tensor, rhs.tensor,
                       {lhs.batching, rhs.batching, lhs.contracting, rhs.contracting, result});
}

std::pair<Side, Side> sides_of(const Tensor& product) {
    const auto& a = std::get<DotAttributes>(product.node().attributes);
    const auto& operands = product.node().operands;
    return {{operands[0], a.lhs_batching, a.lhs_contracting},
            {operands[1], a.rhs_batching, a.rhs_contracting}};
}

std::optional<DType> result_of(const Tensor& product) {
    return std::get<DotAttributes>(product.node().attributes).result;
}

Tensor plain_product(const Tensor& x) {
    const auto [lhs, rhs] = sides_of(x);
    const Side plain_lhs = without_transpose(lhs);
    const Side plain_rhs = without_transpose(rhs);
    if (plain_lhs.tensor == lhs.tensor && plain_rhs.tensor == rhs.tensor) return x;
    return product_of(plain_lhs, plain_rhs, result_of(x));
}

/// The permutation that puts what is left of rhs before what is left of lhs.
Dims halves_swapped(const Tensor& product) {
    const auto [lhs, rhs] = sides_of(product);
    const auto batch = std::int64_t(lhs.batching.size());
    const auto left = std::int64_t(lhs.free().size());
    Dims permutation = identity_permutation(product.shape().rank());
    std::rotate(permutation.begin() + batch, permutation.begin() + batch + left, permutation.end());
    return permutation;
}

}    // namespace

Graph canonicalize_products(const Graph& graph, const PassOptions&) {
    std::unordered_map<const Node*, int> users;
    for (const Tensor& x : topological_order(graph))
        for (const Tensor& operand : x.node().operands)
            ++users[operand.get()];
    for (const Tensor& output : graph.outputs)
        ++users[output.get()];
    // The product a rewritten node stands for, by how many it is used.
    std::unordered_map<const Node*, int> product_users;
    std::vector<Tensor> kept;
    std::size_t next = 0;
    std::vector<Tensor> order;
    for (const Tensor& x : topological_order(graph))
        if (x.node().op != OpCode::input) order.push_back(x);
    return rewrite_nodes(graph, [&](const Tensor& x) {
        const Node* original = order[next++].get();
        if (x.node().op == OpCode::dot_general) {
            const Tensor plain = plain_product(x);
            product_users[plain.get()] += users[original];
            kept.push_back(plain);
            return plain;
        }
        if (x.node().op != OpCode::transpose) return x;
        const Tensor& product = x.node().operands[0];
        if (product.node().op != OpCode::dot_general || product_users[product.get()] != 1) return x;
        const Dims& permutation = std::get<TransposeAttributes>(x.node().attributes).permutation;
        if (permutation != halves_swapped(product)) return x;
        const auto [lhs, rhs] = sides_of(product);
        return product_of(rhs, lhs, result_of(product));
    });
}

}    // namespace slipway
