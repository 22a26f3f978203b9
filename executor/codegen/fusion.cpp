#include "executor/codegen/fusion.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "api/base/check.h"
#include "executor/codegen/analysis.h"
#include "executor/codegen/iteration_space.h"
#include "executor/codegen/jit/loop_plan.h"
#include "executor/codegen/node_views.h"

namespace slipway {

namespace {

// More makes kernels slow to compile and keeps more values alive than there are registers.
constexpr std::size_t members_max = 400;
// What is computed again in another kernel rather than stored and loaded: a few instructions;
// functions of what that kernel reads anyway (an exponential takes less time than a load and a
// store), or cheap ones when it reads no more for them; what is made of counters and scalars alone.
constexpr int inlined_ops_max = 4;
constexpr int inlined_scalar_ops_max = 8;
constexpr int inlined_cost_max = 64;
constexpr int inlined_cost_for_bytes_max = 12;
constexpr int generated_ops_max = 16;
constexpr int generated_ops_of_one_user_max = 200;

constexpr std::size_t none = SIZE_MAX;

using Role = Cluster::Role;

class Fuser {
public:
    Fuser(const Graph& graph, const Analysis& analysis) : graph_(graph), analysis_(analysis) {}

    Fusion run() {
        number_nodes();
        find_links();
        for (std::size_t id = nodes_.size(); id-- > 0;) {
            if (is_fusible(nodes_[id]))
                place(id);
            else
                merge_readers(id);
        }
        return result();
    }

private:
    /// `user` reads `source` by way of `operand`, its own operand; null: by way of an inlined node.
    struct Link {
        std::size_t source, user;
        const Tensor* operand;
    };

    struct Draft {
        Cluster cluster;
        std::vector<std::size_t> members;
    };

    void number_nodes() {
        for (const Tensor& tensor : analysis_.order) {
            if (is_view(tensor.node())) continue;
            ids_.emplace(tensor.get(), nodes_.size());
            nodes_.push_back(tensor);
        }
        cluster_of_.assign(nodes_.size(), none);
        roles_.assign(nodes_.size(), Role::element);
        inlined_.assign(nodes_.size(), false);
        seen_.assign(nodes_.size(), 0);
        pinned_.assign(nodes_.size(), false);
        for (const Tensor& output : graph_.outputs)
            pinned_[ids_.at(source_of(output).get())] = true;
        for (std::size_t id = 0; id < nodes_.size(); ++id)
            if (facts(id).region) pinned_[id] = true;
    }

    const NodeFacts& facts(std::size_t id) const { return analysis_.of(nodes_[id]); }
    std::int64_t elements(std::size_t id) const { return nodes_[id].shape().element_count(); }

    void find_links() {
        users_.resize(nodes_.size());
        sources_.resize(nodes_.size());
        for (std::size_t user = 0; user < nodes_.size(); ++user)
            for (const Tensor& operand : nodes_[user].node().operands)
                add_link({ids_.at(source_of(operand).get()), user, &operand});
    }

    void add_link(const Link& link) {
        users_[link.source].push_back(link);
        sources_[link.user].push_back(link);
    }

    // ---- placing one node -------------------------------------------------------------------

    void place(std::size_t id) {
        if (elements(id) == 0 || operand_elements(id) == 0) return start_cluster(id);
        merge_readers(id);
        const std::vector<std::size_t> clusters = reader_clusters(id);
        if (clusters.size() == 1 && join(id, clusters[0])) return;
        if (can_be_inlined(id)) return inline_node(id);
        for (const std::size_t cluster : clusters)
            if (join(id, cluster)) return;
        start_cluster(id);
    }

    std::int64_t operand_elements(std::size_t id) const {
        return nodes_[id].node().operands[0].shape().element_count();
    }

    /// The clusters of the same stage that read it, earliest members first.
    std::vector<std::size_t> reader_clusters(std::size_t id) const {
        std::vector<std::size_t> clusters;
        for (const Link& link : users_[id]) {
            const std::size_t cluster = cluster_of_[link.user];
            if (cluster == none || drafts_[cluster].cluster.stage != facts(id).stage) continue;
            if (std::ranges::count(clusters, cluster) == 0) clusters.push_back(cluster);
        }
        std::ranges::sort(clusters, {}, [&](std::size_t cluster) {
            return std::ranges::min(drafts_[cluster].members);
        });
        return clusters;
    }

    void start_cluster(std::size_t id) {
        const Node& node = nodes_[id].node();
        Draft draft;
        draft.cluster.stage = facts(id).stage;
        const bool reduces = node.op == OpCode::reduce;
        draft.cluster.elements = reduces ? operand_elements(id) : elements(id);
        draft.cluster.strides = {1, draft.cluster.elements};
        if (draft.cluster.elements == 1) draft.cluster.strides = {1};
        drafts_.push_back(std::move(draft));
        const std::size_t cluster = drafts_.size() - 1;
        if (draft_elements(cluster) == 0) {
            roles_[id] = reduces ? Role::column_reduction : Role::element;
            add_member(id, cluster);
            return;
        }
        check(try_role(id, cluster, own_role(id)), "a node fits a cluster of its own");
    }

    std::int64_t draft_elements(std::size_t cluster) const {
        return drafts_[cluster].cluster.elements;
    }

    void add_member(std::size_t id, std::size_t cluster) {
        cluster_of_[id] = cluster;
        drafts_[cluster].members.push_back(id);
    }

    /// The role as the ranges of a reduction settle it.
    Role own_role(std::size_t id) const {
        const Node& node = nodes_[id].node();
        if (node.op != OpCode::reduce) return Role::element;
        const std::vector<SpaceRange> ranges = reduced_ranges(node);
        if (ranges.empty()) return Role::element;    // reduces nothing: the element itself
        return ranges.size() == 1 && ranges[0].first == 1 ? Role::row_reduction
                                                          : Role::column_reduction;
    }

    // ---- joining ----------------------------------------------------------------------------

    bool join(std::size_t id, std::size_t cluster) {
        const Draft& draft = drafts_[cluster];
        if (draft.members.size() >= members_max || draft.cluster.elements == 0) return false;
        const std::optional<Role> role = role_in(id, cluster);
        if (!role) return false;
        if (leads_around(id, cluster)) return false;
        return try_role(id, cluster, *role);
    }

    /// The role that all of the cluster's readers of the node ask for.
    std::optional<Role> role_in(std::size_t id, std::size_t cluster) const {
        const Cluster& space = drafts_[cluster].cluster;
        std::optional<Role> wanted;
        for (const Link& link : users_[id]) {
            if (cluster_of_[link.user] != cluster) continue;
            if (link.operand == nullptr) return {};
            const Role user = roles_[link.user];
            std::optional<Role> role;
            if (is_element_itself(*link.operand))
                role = user == Role::row ? Role::row : Role::element;
            else if (user != Role::row && elements(id) > 1 &&
                     row_elements_of(*link.operand) * elements(id) == space.elements)
                role = Role::row;
            if (!role || (wanted && *wanted != *role)) return {};
            wanted = role;
        }
        if (wanted != Role::row) return own_role(id) == Role::element ? wanted : std::nullopt;
        if (own_role(id) == Role::column_reduction) return {};
        return own_role(id) == Role::row_reduction ? Role::row_reduction : Role::row;
    }

    /// Adds the node in this role when the cluster's space allows it.
    bool try_role(std::size_t id, std::size_t cluster, Role role) {
        Cluster& space = drafts_[cluster].cluster;
        const Node& node = nodes_[id].node();
        Cluster next = space;
        const bool reduces = role == Role::row_reduction || role == Role::column_reduction;
        const Dims& dims = reduces ? node.operands[0].dims() : node.shape.dims;
        const std::int64_t count = reduces ? operand_elements(id) : elements(id);
        std::int64_t row = 0;
        if (role == Role::row) row = space.elements / count;
        if (role == Role::row_reduction) row = reduced_elements(node);
        if (role != Role::row && count != space.elements) return false;
        if (role == Role::row && count * row != space.elements) return false;
        if (row > 0) {
            if (space.row_elements != 0 && space.row_elements != row) return false;
            next.row_elements = row;
        }
        if (role == Role::column_reduction) {
            const std::vector<SpaceRange> ranges = reduced_ranges(node);
            if (!space.columns.empty() && space.columns != ranges) return false;
            next.columns = ranges;
        }
        auto strides = refined(space.strides, strides_in_space(dims, role == Role::row ? row : 1));
        if (strides && row > 0) strides = refined(*strides, {row});
        if (!strides || !is_consistent(next)) return false;
        next.strides = std::move(*strides);
        space = std::move(next);
        roles_[id] = role;
        add_member(id, cluster);
        return true;
    }

    /// Columns are made of rows: they do not reduce within one.
    static bool is_consistent(const Cluster& space) {
        return std::ranges::all_of(space.columns, [&](const SpaceRange& range) {
            return range.first >= space.row_elements;
        });
    }

    // ---- merging clusters -------------------------------------------------------------------

    void merge_all(const std::vector<std::size_t>& clusters) {
        for (std::size_t i = 0; i < clusters.size(); ++i)
            for (std::size_t k = i + 1; k < clusters.size(); ++k)
                merge(clusters[i], clusters[k]);
    }

    /// Kernels that read all of the same array read it once.
    void merge_readers(std::size_t id) {
        if (elements(id) <= 1) return;
        std::vector<std::size_t> clusters;
        for (const Link& link : users_[id]) {
            const std::size_t cluster = cluster_of_[link.user];
            const bool reads_all = cluster != none && link.operand != nullptr &&
                                   draft_elements(cluster) == elements(id);
            if (reads_all && std::ranges::count(clusters, cluster) == 0)
                clusters.push_back(cluster);
        }
        merge_all(clusters);
    }

    void merge(std::size_t a, std::size_t b) {
        Draft& into = drafts_[a];
        Draft& from = drafts_[b];
        if (a == b || into.members.empty() || from.members.empty()) return;
        Cluster& x = into.cluster;
        const Cluster& y = from.cluster;
        if (x.stage != y.stage || x.elements != y.elements || x.elements == 0) return;
        if (into.members.size() + from.members.size() > members_max) return;
        if (x.row_elements != 0 && y.row_elements != 0 && x.row_elements != y.row_elements) return;
        if (!x.columns.empty() && !y.columns.empty() && x.columns != y.columns) return;
        Cluster next = x;
        next.row_elements = std::max(x.row_elements, y.row_elements);
        if (next.columns.empty()) next.columns = y.columns;
        auto strides = refined(x.strides, y.strides);
        if (!strides || !is_consistent(next)) return;
        if (has_outer_link(a, b) || leads_around(a, b, from) || leads_around(b, a, into)) return;
        next.strides = std::move(*strides);
        x = std::move(next);
        for (const std::size_t member : from.members)
            add_member(member, a);
        from.members.clear();
    }

    /// Whether one reads the other in a way that wants it finished first.
    bool has_outer_link(std::size_t a, std::size_t b) const {
        const auto reads_otherwise = [&](std::size_t from, std::size_t to) {
            return std::ranges::any_of(drafts_[from].members, [&](std::size_t member) {
                return std::ranges::any_of(
                    users_[member], [&](const Link& link) { return cluster_of_[link.user] == to; });
            });
        };
        return reads_otherwise(a, b) || reads_otherwise(b, a);
    }

    // ---- circles ----------------------------------------------------------------------------

    /// Whether a way leads from the node to the cluster through somebody else.
    bool leads_around(std::size_t id, std::size_t cluster) { return search({id}, none, cluster); }
    bool leads_around(std::size_t from, std::size_t to, const Draft&) {
        return search(drafts_[from].members, from, to);
    }

    bool search(const std::vector<std::size_t>& begin, std::size_t from, std::size_t to) {
        ++search_;
        const int stage = drafts_[to].cluster.stage;
        stack_.clear();
        for (const std::size_t id : begin) {
            seen_[id] = search_;
            stack_.push_back(id);
        }
        bool is_first = true;
        while (!stack_.empty()) {
            const std::size_t id = stack_.back();
            stack_.pop_back();
            // A node may be read by the cluster it joins.
            const bool is_inside = from == none && is_first;
            is_first = false;
            for (const Link& link : users_[id]) {
                const std::size_t cluster = cluster_of_[link.user];
                if (cluster == to && !is_inside) return true;
                if (cluster == to || (cluster == from && from != none)) continue;
                if (facts(link.user).stage != stage) continue;
                visit(link.user, cluster);
            }
        }
        return false;
    }

    void visit(std::size_t id, std::size_t cluster) {
        if (seen_[id] == search_) return;
        if (cluster == none) {
            seen_[id] = search_;
            stack_.push_back(id);
            return;
        }
        for (const std::size_t member : drafts_[cluster].members) {
            seen_[member] = search_;
            stack_.push_back(member);
        }
    }

    // ---- inlining ---------------------------------------------------------------------------

    struct Expression {
        std::vector<std::size_t> ops = {};       ///< what it computes
        std::vector<std::size_t> leaves = {};    ///< what it reads
        int cost = 0;
        bool reduces = false;
        bool is_plain = true;    ///< only ops of one instruction
    };

    void look_at(std::size_t id, Expression& expression) const {
        const Node& node = nodes_[id].node();
        const bool too_large = expression.ops.size() > std::size_t(generated_ops_of_one_user_max);
        if (too_large || expression.reduces || is_one_of(expression.ops, id)) return;
        expression.ops.push_back(id);
        const int cost = cost_of({.kind = LoopValueKind::compute, .op = node.op});
        expression.cost += cost;
        expression.reduces = node.op == OpCode::reduce;
        expression.is_plain = expression.is_plain && cost == 1;
        for (const Link& link : sources_[id]) {
            if (is_fusible(nodes_[link.source]) && !is_small_for(link, id) &&
                facts(link.source).stage == facts(id).stage)
                look_at(link.source, expression);
            else if (!is_generated(nodes_[link.source].node().op) &&
                     !is_one_of(expression.leaves, link.source))
                expression.leaves.push_back(link.source);
        }
    }

    /// A scalar or a vector of columns is computed once and read by all. A row's value is left to
    /// the row: reading it from outside would tear the row's kernel apart.
    bool is_small_for(const Link& link, std::size_t id) const {
        if (elements(link.source) == 1) return elements(id) > 1;
        return elements(link.source) * 16 <= elements(id) && link.operand != nullptr &&
               row_elements_of(*link.operand) == 0;
    }

    static bool is_one_of(const std::vector<std::size_t>& ids, std::size_t id) {
        return std::ranges::count(ids, id) > 0;
    }
    static bool is_generated(OpCode op) { return op == OpCode::constant || op == OpCode::iota; }

    bool can_be_inlined(std::size_t id) const {
        if (pinned_[id] || users_[id].empty()) return false;
        if (nodes_[id].node().op == OpCode::reduce) return false;
        bool same_stage = true;
        bool one_user = true;
        for (const Link& link : users_[id]) {
            if (cluster_of_[link.user] == none) return false;
            same_stage = same_stage && facts(link.user).stage == facts(id).stage;
            one_user = one_user && cluster_of_[link.user] == cluster_of_[users_[id][0].user];
        }
        Expression expression;
        look_at(id, expression);
        if (expression.reduces) return false;
        const auto ops = int(expression.ops.size());
        if (elements(id) == 1) return same_stage && ops <= inlined_scalar_ops_max;
        const bool is_made_of_counters = std::ranges::all_of(
            expression.leaves, [&](std::size_t leaf) { return elements(leaf) == 1; });
        if (is_made_of_counters)
            return ops <= (one_user ? generated_ops_of_one_user_max : generated_ops_max);
        if (!same_stage) return false;
        if (expression.is_plain && ops <= inlined_ops_max &&
            large_bytes(id, expression) <= nodes_[id].shape().byte_count())
            return true;
        if (expression.cost > inlined_cost_max) return false;
        const std::int64_t bytes =
            expression.cost <= inlined_cost_for_bytes_max ? nodes_[id].shape().byte_count() : 0;
        return std::ranges::all_of(users_[id], [&](const Link& user) {
            return new_bytes(cluster_of_[user.user], id) <= bytes;
        });
    }

    bool is_large_for(std::size_t leaf, std::size_t id) const {
        return elements(leaf) * 16 > elements(id);
    }

    std::int64_t large_bytes(std::size_t id, const Expression& expression) const {
        std::int64_t bytes = 0;
        for (const std::size_t leaf : expression.leaves)
            if (is_large_for(leaf, id)) bytes += nodes_[leaf].shape().byte_count();
        return bytes;
    }

    bool is_read_by(std::size_t cluster, std::size_t id) const {
        return std::ranges::any_of(
            users_[id], [&](const Link& link) { return cluster_of_[link.user] == cluster; });
    }

    /// What the cluster would have to read to compute the node, beyond what it reads anyway: that,
    /// or what it is made of.
    std::int64_t new_bytes(std::size_t cluster, std::size_t id) const {
        std::int64_t bytes = 0;
        std::vector<std::size_t> seen{id};
        for (std::size_t i = 0; i < seen.size(); ++i)
            for (const Link& link : sources_[seen[i]]) {
                const std::size_t source = link.source;
                const OpCode op = nodes_[source].node().op;
                if (is_one_of(seen, source) || !is_large_for(source, id) || is_generated(op) ||
                    is_read_by(cluster, source))
                    continue;
                const bool is_computed =
                    is_fusible(nodes_[source]) && facts(source).stage == facts(id).stage;
                if (is_computed)
                    seen.push_back(source);
                else
                    bytes += nodes_[source].shape().byte_count();
            }
        return bytes;
    }

    void inline_node(std::size_t id) {
        inlined_[id] = true;
        const std::vector<Link> users = users_[id];
        const std::vector<Link> sources = sources_[id];
        for (const Link& source : sources) {
            std::erase_if(users_[source.source], [&](const Link& link) { return link.user == id; });
            for (const Link& user : users)
                add_link({source.source, user.user, nullptr});
        }
        for (const Link& user : users)
            std::erase_if(sources_[user.user], [&](const Link& link) { return link.source == id; });
        users_[id].clear();
        sources_[id].clear();
    }

    // ---- the result -------------------------------------------------------------------------

    Fusion result() {
        Fusion fusion;
        std::vector<std::size_t> number(drafts_.size(), none);
        for (std::size_t i = 0; i < drafts_.size(); ++i) {
            if (drafts_[i].members.empty()) continue;
            number[i] = fusion.clusters.size();
            std::ranges::sort(drafts_[i].members);
            Cluster& cluster = fusion.clusters.emplace_back(drafts_[i].cluster);
            for (const std::size_t member : drafts_[i].members)
                cluster.members.push_back(nodes_[member]);
        }
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            const Node* const node = nodes_[id].get();
            if (inlined_[id]) fusion.inlined.insert(node);
            if (cluster_of_[id] == none) continue;
            fusion.cluster_of.emplace(node, number[cluster_of_[id]]);
            fusion.roles.emplace(node, roles_[id]);
            const bool is_read_outside = std::ranges::any_of(users_[id], [&](const Link& link) {
                return cluster_of_[link.user] != cluster_of_[id];
            });
            if (pinned_[id] || is_read_outside) fusion.stored.insert(node);
        }
        find_order(fusion);
        return fusion;
    }

    /// A unit is a cluster, known by its first member, or a node of its own.
    std::size_t unit_of(std::size_t id) const {
        return cluster_of_[id] == none ? id : drafts_[cluster_of_[id]].members.front();
    }

    /// Units by readiness; of those that are ready, the one whose last member came first.
    void find_order(Fusion& fusion) const {
        std::vector<std::size_t> waits(nodes_.size(), 0);
        for (std::size_t id = 0; id < nodes_.size(); ++id)
            for (const Link& link : users_[id])
                if (unit_of(link.user) != unit_of(id)) ++waits[unit_of(link.user)];
        using Ready = std::pair<std::size_t, std::size_t>;
        std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
        const auto offer = [&](std::size_t unit) {
            const std::size_t cluster = cluster_of_[unit];
            ready.emplace(cluster == none ? unit : drafts_[cluster].members.back(), unit);
        };
        for (std::size_t id = 0; id < nodes_.size(); ++id)
            if (!inlined_[id] && unit_of(id) == id && waits[id] == 0) offer(id);
        while (!ready.empty()) {
            const std::size_t unit = ready.top().second;
            ready.pop();
            const std::size_t cluster = cluster_of_[unit];
            const std::vector<std::size_t> alone{unit};
            for (const std::size_t id : cluster == none ? alone : drafts_[cluster].members) {
                fusion.order.push_back(nodes_[id]);
                for (const Link& link : users_[id])
                    if (unit_of(link.user) != unit && --waits[unit_of(link.user)] == 0)
                        offer(unit_of(link.user));
            }
        }
        const auto inlined = std::size_t(std::ranges::count(inlined_, true));
        check(fusion.order.size() + inlined == nodes_.size(), "clusters are in no circle");
    }

    const Graph& graph_;    // outlives the fuser, as the analysis does
    const Analysis& analysis_;
    std::vector<Tensor> nodes_;    ///< all but views, operands before users; ids are positions
    std::unordered_map<const Node*, std::size_t> ids_;
    std::vector<std::vector<Link>> users_, sources_;
    std::vector<std::size_t> cluster_of_;
    std::vector<Role> roles_;
    std::vector<bool> inlined_;
    std::vector<bool> pinned_;    ///< somebody outside the graph wants it in memory
    std::vector<Draft> drafts_;
    std::vector<std::uint32_t> seen_;    ///< by node: the search that met it
    std::uint32_t search_ = 0;
    std::vector<std::size_t> stack_;
};

}    // namespace

bool is_elementwise(OpCode op) {
    switch (op) {
        case OpCode::convert:
        case OpCode::bitcast_convert:
        case OpCode::compare:
        case OpCode::select:
        case OpCode::clamp:
            return true;
        default:
            return (op >= OpCode::negate && op <= OpCode::logical_not) ||
                   (op >= OpCode::add && op <= OpCode::shift_right_logical);
    }
}

bool is_fusible(const Tensor& tensor) {
    const OpCode op = tensor.node().op;
    return is_elementwise(op) || op == OpCode::reduce;
}

Fusion fuse(const Graph& graph, const Analysis& analysis) {
    return Fuser(graph, analysis).run();
}

}    // namespace slipway
