#include "executor/codegen/inlining.h"

#include <algorithm>
#include <vector>

#include "executor/codegen/fusion.h"
#include "executor/codegen/loops/loop_plan.h"
#include "executor/codegen/node_views.h"

namespace slipway {

namespace {

constexpr int inlined_ops_max = 4;
constexpr int inlined_scalar_ops_max = 8;
constexpr int inlined_cost_max = 64;
constexpr int inlined_cost_for_bytes_max = 12;
constexpr int generated_ops_max = 16;
constexpr int generated_ops_of_one_user_max = 200;

struct Expression {
    std::vector<std::size_t> ops = {};       ///< what it computes
    std::vector<std::size_t> inputs = {};    ///< what it reads
    int cost = 0;
    bool reduces = false;
    bool is_plain = true;    ///< only ops of one instruction
};

bool is_one_of(const std::vector<std::size_t>& ids, std::size_t id) {
    return std::ranges::count(ids, id) > 0;
}

bool is_generated(OpCode op) {
    return op == OpCode::constant || op == OpCode::iota;
}

/// A scalar or a vector of columns is computed once and read by all. A row's value is left to the
/// row: reading it from outside would tear the row's kernel apart.
bool is_small_for(const FusionNodes& nodes, const ReadLink& link, std::size_t id) {
    if (nodes.elements(link.source) == 1) return nodes.elements(id) > 1;
    return nodes.elements(link.source) * 16 <= nodes.elements(id) && link.operand != nullptr &&
           (row_elements_of(*link.operand) == 0 || is_by_channel_of_one(*link.operand));
}

bool is_large_for(const FusionNodes& nodes, std::size_t input, std::size_t id) {
    return nodes.elements(input) * 16 > nodes.elements(id);
}

bool is_computed_with(const FusionNodes& nodes, std::size_t source, std::size_t id) {
    return is_fusible(nodes.tensors[source]) && nodes.facts(source).stage == nodes.facts(id).stage;
}

void look_at(const FusionNodes& nodes, std::size_t id, Expression& expression) {
    const OpCode op = nodes.tensors[id].node().op;
    const bool too_large = expression.ops.size() > std::size_t(generated_ops_of_one_user_max);
    if (too_large || expression.reduces || is_one_of(expression.ops, id)) return;
    expression.ops.push_back(id);
    const int cost = cost_of({.kind = LoopValueKind::compute, .op = op});
    expression.cost += cost;
    expression.reduces = op == OpCode::reduce;
    expression.is_plain = expression.is_plain && cost == 1;
    for (const ReadLink& link : nodes.sources[id]) {
        if (is_computed_with(nodes, link.source, id) && !is_small_for(nodes, link, id))
            look_at(nodes, link.source, expression);
        else if (!is_generated(nodes.tensors[link.source].node().op) &&
                 !is_one_of(expression.inputs, link.source))
            expression.inputs.push_back(link.source);
    }
}

std::int64_t large_bytes(const FusionNodes& nodes, std::size_t id, const Expression& expression) {
    std::int64_t bytes = 0;
    for (const std::size_t input : expression.inputs)
        if (is_large_for(nodes, input, id)) bytes += nodes.tensors[input].shape().byte_count();
    return bytes;
}

bool is_read_by(const FusionNodes& nodes, std::size_t cluster, std::size_t id) {
    return std::ranges::any_of(nodes.users[id], [&](const ReadLink& link) {
        return nodes.cluster_of[link.user] == cluster;
    });
}

/// What the cluster would have to read to compute the node, beyond what it reads anyway: that, or
/// what it is made of.
std::int64_t new_bytes(const FusionNodes& nodes, std::size_t cluster, std::size_t id) {
    std::int64_t bytes = 0;
    std::vector<std::size_t> seen{id};
    for (std::size_t i = 0; i < seen.size(); ++i)
        for (const ReadLink& link : nodes.sources[seen[i]]) {
            const std::size_t source = link.source;
            if (is_one_of(seen, source) || !is_large_for(nodes, source, id) ||
                is_generated(nodes.tensors[source].node().op) || is_read_by(nodes, cluster, source))
                continue;
            if (is_computed_with(nodes, source, id))
                seen.push_back(source);
            else
                bytes += nodes.tensors[source].shape().byte_count();
        }
    return bytes;
}

bool is_per_core(const FusionNodes& nodes, std::size_t id) {
    return nodes.tensors[id].node().placement == Placement::per_core;
}

struct Users {
    bool all_in_clusters = true, same_stage = true, one_cluster = true, per_core = true;
};

Users users_of(const FusionNodes& nodes, std::size_t id) {
    Users users;
    const std::vector<ReadLink>& links = nodes.users[id];
    for (const ReadLink& link : links) {
        const std::size_t cluster = nodes.cluster_of[link.user];
        users.all_in_clusters = users.all_in_clusters && cluster != no_cluster;
        users.same_stage =
            users.same_stage && nodes.facts(link.user).stage == nodes.facts(id).stage;
        users.one_cluster = users.one_cluster && cluster == nodes.cluster_of[links[0].user];
        users.per_core = users.per_core && is_per_core(nodes, link.user);
    }
    return users;
}

/// Whether a core may compute it in the stages of its users: a contribution to a sum has become the
/// sum by then.
bool may_be_later(const FusionNodes& nodes, std::size_t id, const Users& users,
                  const Expression& expression) {
    return is_per_core(nodes, id) && users.per_core &&
           std::ranges::none_of(expression.inputs, [&](std::size_t input) {
               return nodes.facts(input).region.has_value();
           });
}

}    // namespace

bool is_worth_inlining(const FusionNodes& nodes, std::size_t id) {
    const Tensor& tensor = nodes.tensors[id];
    if (nodes.pinned[id] || nodes.users[id].empty() || tensor.node().op == OpCode::reduce)
        return false;
    const Users users = users_of(nodes, id);
    if (!users.all_in_clusters) return false;
    Expression expression;
    look_at(nodes, id, expression);
    if (expression.reduces) return false;
    const auto ops = int(expression.ops.size());
    if (nodes.elements(id) == 1) return users.same_stage && ops <= inlined_scalar_ops_max;
    const bool is_made_of_counters = std::ranges::all_of(
        expression.inputs, [&](std::size_t input) { return nodes.elements(input) == 1; });
    if (is_made_of_counters)
        return ops <= (users.one_cluster ? generated_ops_of_one_user_max : generated_ops_max);
    if (!users.same_stage && !may_be_later(nodes, id, users, expression)) return false;
    const std::int64_t own_bytes = tensor.shape().byte_count();
    if (expression.is_plain && ops <= inlined_ops_max &&
        large_bytes(nodes, id, expression) <= own_bytes)
        return true;
    if (!users.same_stage || expression.cost > inlined_cost_max) return false;
    const std::int64_t bytes = expression.cost <= inlined_cost_for_bytes_max ? own_bytes : 0;
    return std::ranges::all_of(nodes.users[id], [&](const ReadLink& user) {
        return new_bytes(nodes, nodes.cluster_of[user.user], id) <= bytes;
    });
}

}    // namespace slipway
