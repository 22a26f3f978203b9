// What lowering must know of each node, by walks in topological order and back. A stage is a run
// of per-core or of replicated work between two barriers; a node is in the first stage where its
// operands are; the stage with the largest sums may be cut into several (docs/decisions/0061); then
// replicated nodes are postponed to the first stage that reads them. Then:
// additions in place, products that are batched over the cores (batched_product.h), the last
// stage that uses a value, which tells how long its memory is held, and which values are written
// where an output or a sum wants them, which saves a copy. Order matters: a fact uses those that
// were found before it.
#include "executor/codegen/analysis.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "executor/codegen/batched_product.h"
#include "executor/codegen/node_views.h"

namespace slipway {

namespace {

bool is_per_core(const Tensor& tensor) {
    return tensor.node().placement == Placement::per_core;
}

/// Whether a step computes it into a buffer of its own.
bool is_computed(const Node& node) {
    switch (node.op) {
        case OpCode::input:
        case OpCode::constant:
        case OpCode::iota:
        case OpCode::all_reduce:
            return false;
        default:
            return !is_view(node);
    }
}

class Analyser {
public:
    Analyser(const Graph& graph, bool in_blocks) : graph_(graph), in_blocks_(in_blocks) {
        analysis_.order = topological_order(graph);
    }

    Analysis run(std::int64_t bucket_bytes) {
        count_users();
        for (const Tensor& tensor : analysis_.order)
            find_stage(tensor);
        if (bucket_bytes > 0) cut(bucket_bytes);
        for (std::size_t i = analysis_.order.size(); i-- > 0;)
            postpone(analysis_.order[i]);
        for (const Tensor& tensor : analysis_.order)
            find_addition_in_place(tensor);
        for (const Tensor& tensor : analysis_.order)
            if (tensor.node().op == OpCode::all_reduce) find_batched(tensor);
        for (std::size_t i = analysis_.order.size(); i-- > 0;)
            find_uses(analysis_.order[i]);
        place_outputs();
        for (const Tensor& tensor : analysis_.order)
            if (tensor.node().op == OpCode::all_reduce) place_contribution(tensor);
        return std::move(analysis_);
    }

private:
    NodeFacts& facts(const Tensor& tensor) { return analysis_.facts[tensor.get()]; }

    /// The node whose buffer holds exactly this value, in this order.
    Tensor root_of(Tensor tensor) {
        while (tensor.node().op == OpCode::reshape || tensor.node().op == OpCode::stop_gradient ||
               facts(tensor).adds_in_place)
            tensor = tensor.node().operands[0];
        return tensor;
    }

    void find_stage(const Tensor& tensor) {
        int stage = is_per_core(tensor) ? 1 : 0;
        if (const auto least = least_.find(tensor.get()); least != least_.end())
            stage = least->second;
        for (const Tensor& operand : tensor.node().operands) {
            const bool alternates = is_per_core(operand) != is_per_core(tensor);
            stage = std::max(stage, facts(operand).stage + (alternates ? 1 : 0));
        }
        if (tensor.node().op == OpCode::all_reduce) {
            const int summed = facts(tensor.node().operands[0]).stage;
            facts(tensor).summed_stage = summed;
            if (in_blocks_ && summed >= first_cut_ && summed < last_cut_) stage += 2;
        }
        facts(tensor).stage = stage;
        analysis_.last_stage = std::max(analysis_.last_stage, stage);
    }

    /// The per-core stage with the most bytes of contributions to sums.
    int most_summed_stage() {
        std::map<int, std::int64_t> bytes;
        for (const Tensor& tensor : analysis_.order)
            if (facts(tensor).is_only_summed)
                bytes[facts(tensor).stage] += tensor.shape().byte_count();
        const auto most = std::ranges::max_element(
            bytes, {}, [](const auto& stage_bytes) { return stage_bytes.second; });
        return most == bytes.end() ? 0 : most->first;
    }

    /// The nodes of a stage in the order in which they will run (Fusion::order): contributions as
    /// soon as they can, the others as the walk met them. Views cost nothing and hold nobody up.
    std::vector<Tensor> running_order(int stage) {
        std::unordered_map<const Node*, std::size_t> waits;
        std::unordered_map<const Node*, std::vector<std::size_t>> users;
        using Ready = std::pair<bool, std::size_t>;
        std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
        const auto offer = [&](std::size_t number) {
            const Tensor& tensor = analysis_.order[number];
            ready.emplace(!facts(tensor).feeds_only_sums && !is_view(tensor.node()), number);
        };
        for (std::size_t i = 0; i < analysis_.order.size(); ++i) {
            const Tensor& tensor = analysis_.order[i];
            if (facts(tensor).stage != stage) continue;
            for (const Tensor& operand : tensor.node().operands) {
                if (facts(operand).stage != stage) continue;
                ++waits[tensor.get()];
                users[operand.get()].push_back(i);
            }
            if (waits[tensor.get()] == 0) offer(i);
        }
        std::vector<Tensor> order;
        while (!ready.empty()) {
            order.push_back(analysis_.order[ready.top().second]);
            ready.pop();
            for (const std::size_t user : users[order.back().get()])
                if (--waits[analysis_.order[user].get()] == 0) offer(user);
        }
        return order;
    }

    /// Cuts before contributions and not after them: what else reads the weights that a sum updates
    /// has run by then, so that they may be overwritten.
    void cut(std::int64_t bucket_bytes) {
        const int first = most_summed_stage();
        int stage = first;
        std::int64_t pending_bytes = 0;
        for (const Tensor& tensor : running_order(first)) {
            if (facts(tensor).feeds_only_sums && pending_bytes >= bucket_bytes) {
                stage += 2;
                pending_bytes = 0;
            }
            least_[tensor.get()] = stage;
            if (facts(tensor).is_only_summed) pending_bytes += tensor.shape().byte_count();
        }
        if (stage == first) return;
        first_cut_ = first;
        last_cut_ = stage;
        for (const Tensor& tensor : analysis_.order)
            find_stage(tensor);
    }

    /// Moves replicated work to the stage that first needs it, beside its users: a product of the
    /// momentum and the velocity belongs to the update, not before the forward pass. Called for
    /// users before their operands.
    void postpone(const Tensor& tensor) {
        const auto needed = needed_.find(tensor.get());
        const bool moves = needed != needed_.end() && !is_per_core(tensor) &&
                           (is_view(tensor.node()) || is_computed(tensor.node()));
        if (moves) facts(tensor).stage = needed->second;
        const int stage = facts(tensor).stage;
        for (const Tensor& operand : tensor.node().operands) {
            const int latest = is_per_core(tensor) ? stage - 1 : stage;
            const auto [known, is_new] = needed_.emplace(operand.get(), latest);
            if (!is_new) known->second = std::min(known->second, latest);
        }
    }

    void find_addition_in_place(const Tensor& tensor) {
        if (tensor.node().op != OpCode::scatter_add || !is_per_core(tensor)) return;
        const Tensor& operand = tensor.node().operands[0];
        facts(tensor).adds_in_place = is_computed(operand.node()) && is_per_core(operand) &&
                                      users_[operand.get()] == 1 &&
                                      facts(operand).stage == facts(tensor).stage;
    }

    /// A product whose only user adds it up, by way of a scatter_add or not.
    void find_batched(const Tensor& all_reduce) {
        std::vector<Tensor> parts{all_reduce.node().operands[0]};
        const auto reduction =
            std::get<AllReduceAttributes>(all_reduce.node().attributes).reduction;
        if (reduction != Reduction::add || !facts(parts[0]).is_only_summed) return;
        if (facts(parts[0]).adds_in_place && is_scatter_of_cores(parts[0]))
            parts.push_back(parts[0].node().operands[0]);
        if (!pays_to_join(parts.back())) return;
        for (const Tensor& part : parts) {
            facts(part).is_batched = true;
            if (!in_blocks_) facts(part).stage = facts(all_reduce).stage;
        }
    }

    /// Called for users before their operands.
    void find_uses(const Tensor& tensor) {
        NodeFacts& user = facts(tensor);
        user.last_use_stage = std::max(user.last_use_stage, user.stage);
        int stage = user.stage;
        if (is_view(tensor.node()) || user.adds_in_place) stage = user.last_use_stage;
        // Contributions are read as their stage ends.
        if (tensor.node().op == OpCode::all_reduce) stage = user.summed_stage;
        for (const Tensor& operand : tensor.node().operands)
            facts(operand).last_use_stage = std::max(facts(operand).last_use_stage, stage);
    }

    void place_outputs() {
        std::vector<std::optional<std::size_t>> donated(graph_.outputs.size());
        for (const Graph::Donation& donation : graph_.donations)
            donated[donation.output] = donation.input;
        for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
            const Tensor root = root_of(graph_.outputs[i]);
            NodeFacts& root_facts = facts(root);
            if (!is_computed(root.node()) || root_facts.region) {
                analysis_.copied_outputs.push_back(i);
                continue;
            }
            root_facts.region = donated[i] ? Region::input : Region::output;
            root_facts.position = donated[i].value_or(i);
        }
    }

    void place_contribution(const Tensor& all_reduce) {
        Tensor root = root_of(all_reduce.node().operands[0]);
        // A sum does not care in which order its elements lie.
        while (root.node().op == OpCode::transpose)
            root = root_of(root.node().operands[0]);
        NodeFacts& root_facts = facts(root);
        // Who else reads it wants the core's own, which is added to others' as soon as it is there.
        const bool fits = is_computed(root.node()) && !root_facts.region &&
                          users_[root.get()] == 1 &&
                          root_facts.stage == facts(all_reduce).summed_stage &&
                          root_facts.last_use_stage == root_facts.stage;
        if (fits) root_facts.region = Region::sum;
    }

    void count_users() {
        for (const Tensor& tensor : analysis_.order) {
            std::vector<const Node*> seen;
            for (const Tensor& operand : tensor.node().operands) {
                if (std::ranges::count(seen, operand.get()) > 0) continue;
                seen.push_back(operand.get());
                ++users_[operand.get()];
            }
        }
        for (const Tensor& output : graph_.outputs)
            ++users_[output.get()];
        for (const Tensor& tensor : analysis_.order)
            for (const Tensor& operand : tensor.node().operands)
                if (users_[operand.get()] == 1) note_only_user(operand, tensor.node());
        for (std::size_t i = analysis_.order.size(); i-- > 0;)
            note_sums(analysis_.order[i]);
    }

    /// Called for users before their operands.
    void note_sums(const Tensor& tensor) {
        NodeFacts& node_facts = facts(tensor);
        node_facts.feeds_only_sums = node_facts.feeds_only_sums || node_facts.is_only_summed;
        if (!node_facts.feeds_only_sums || !is_view(tensor.node())) return;
        for (const Tensor& operand : tensor.node().operands)
            if (users_[operand.get()] == 1) facts(operand).feeds_only_sums = true;
    }

    void note_only_user(const Tensor& tensor, const Node& user) {
        NodeFacts& node_facts = facts(tensor);
        node_facts.is_only_summed = user.op == OpCode::all_reduce;
        if (const auto* transpose = std::get_if<TransposeAttributes>(&user.attributes))
            node_facts.wanted_order = transpose->permutation;
    }

    const Graph& graph_;
    const bool in_blocks_;
    Analysis analysis_;
    std::unordered_map<const Node*, int>
        needed_;    ///< the first stage of a replicated value's users
    std::unordered_map<const Node*, int> users_;
    std::unordered_map<const Node*, int> least_;    ///< the first stage that a node may be in
    int first_cut_ = 0, last_cut_ = 0;              ///< stages that a stage was cut into
};

}    // namespace

Analysis analyse(const Graph& graph, std::int64_t bucket_bytes, bool in_blocks) {
    return Analyser(graph, in_blocks).run(bucket_bytes);
}

}    // namespace slipway
