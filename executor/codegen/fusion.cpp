// Greedy, from the last node to the first: users are in clusters before their operands are looked
// at, so a node joins those that read it. A node whose readers are in one cluster joins it when its
// dims fit the cluster's iteration space; else it is computed again by each reader where that is
// cheap (inlining.h); else it joins any cluster that reads it; else it begins one. Clusters that
// read all of the same array are merged, so that it is read once. Producers drawn in by consumers
// put what only the backward half needs beside the backward half; the forward half stores less.
//
// What every function keeps: a cluster is of one stage (analysis.h); its strides each divide the
// next; all its rows have one length, and its columns reduce one list of ranges over whole rows;
// and the clusters are in no circle, which join() and merge() establish by a search before they
// change anything. Matmuls, convolutions and pooling are never members.

#include "executor/codegen/fusion.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "api/base/check.h"
#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion_nodes.h"
#include "executor/codegen/inlining.h"
#include "executor/codegen/iteration_space.h"
#include "executor/codegen/node_views.h"
#include "executor/codegen/replicated_order.h"

namespace slipway {

namespace {

// More makes kernels slow to compile and keeps more values alive than there are registers.
constexpr std::size_t members_max = 400;

using Role = Cluster::Role;

class Fuser {
public:
    Fuser(const Graph& graph, const Analysis& analysis)
        : nodes_(graph, analysis),
          roles_(nodes_.size(), Role::element),
          inlined_(nodes_.size(), false),
          seen_(nodes_.size(), 0) {}

    Fusion run() {
        for (std::size_t id = nodes_.size(); id-- > 0;) {
            if (is_fusible(nodes_.tensors[id]))
                place(id);
            else
                merge_readers(id);
        }
        return result();
    }

private:
    struct Draft {
        Cluster cluster;
        std::vector<std::size_t> members;
    };

    // ---- placing one node -------------------------------------------------------------------

    void place(std::size_t id) {
        if (nodes_.elements(id) == 0 || operand_elements(id) == 0) return start_cluster(id);
        merge_readers(id);
        const std::vector<std::size_t> clusters = reader_clusters(id);
        if (clusters.size() == 1 && !is_read_later(id) && join(id, clusters[0])) return;
        if (is_worth_inlining(nodes_, id)) {
            inlined_[id] = true;
            return nodes_.pass_through(id);
        }
        for (const std::size_t cluster : clusters)
            if (join(id, cluster)) return;
        start_cluster(id);
    }

    /// What is read in a later stage as well is stored by the cluster that it joins.
    bool is_read_later(std::size_t id) const {
        return std::ranges::any_of(nodes_.users[id], [&](const ReadLink& link) {
            return nodes_.facts(link.user).stage != nodes_.facts(id).stage;
        });
    }

    std::int64_t operand_elements(std::size_t id) const {
        return nodes_.tensors[id].node().operands[0].shape().element_count();
    }

    /// The clusters of the same stage that read it, earliest members first.
    std::vector<std::size_t> reader_clusters(std::size_t id) const {
        std::vector<std::size_t> clusters;
        for (const ReadLink& link : nodes_.users[id]) {
            const std::size_t cluster = nodes_.cluster_of[link.user];
            if (cluster == no_cluster || drafts_[cluster].cluster.stage != nodes_.facts(id).stage)
                continue;
            if (std::ranges::count(clusters, cluster) == 0) clusters.push_back(cluster);
        }
        std::ranges::sort(clusters, {}, [&](std::size_t cluster) {
            return std::ranges::min(drafts_[cluster].members);
        });
        return clusters;
    }

    void start_cluster(std::size_t id) {
        const Node& node = nodes_.tensors[id].node();
        Draft draft;
        draft.cluster.stage = nodes_.facts(id).stage;
        const bool reduces = node.op == OpCode::reduce;
        draft.cluster.elements = reduces ? operand_elements(id) : nodes_.elements(id);
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
        nodes_.cluster_of[id] = cluster;
        drafts_[cluster].members.push_back(id);
    }

    /// A reduction over the batch and its images, of a batch of one (is_by_channel_of_one).
    static bool is_over_one_image(const Node& node) {
        const Dims& dims = node.operands[0].dims();
        const Dims& reduced = std::get<ReduceAttributes>(node.attributes).dimensions;
        const auto is_reduced = [&](std::size_t dim) {
            return std::ranges::count(reduced, std::int64_t(dim)) > 0;
        };
        return dims.size() > 2 && dims[0] == 1 && is_reduced(0) && is_reduced(dims.size() - 1) &&
               node.shape.element_count() > 1;
    }

    /// The role as the ranges of a reduction settle it.
    Role own_role(std::size_t id) const {
        const Node& node = nodes_.tensors[id].node();
        if (node.op != OpCode::reduce) return Role::element;
        const std::vector<SpaceRange> ranges = reduced_ranges(node);
        if (ranges.empty()) return Role::element;    // reduces nothing: the element itself
        if (is_over_one_image(node)) return Role::column_reduction;
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
        for (const ReadLink& link : nodes_.users[id]) {
            if (nodes_.cluster_of[link.user] != cluster) continue;
            if (link.operand == nullptr) return {};
            const Role user = roles_[link.user];
            std::optional<Role> role;
            if (is_element_itself(*link.operand))
                role = user == Role::row ? Role::row : Role::element;
            else if (user != Role::row && nodes_.elements(id) > 1 &&
                     !is_by_channel_of_one(*link.operand) &&
                     row_elements_of(*link.operand) * nodes_.elements(id) == space.elements)
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
        const Node& node = nodes_.tensors[id].node();
        Cluster next = space;
        const bool reduces = role == Role::row_reduction || role == Role::column_reduction;
        const Dims& dims = reduces ? node.operands[0].dims() : node.shape.dims;
        const std::int64_t count = reduces ? operand_elements(id) : nodes_.elements(id);
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
        if (nodes_.elements(id) <= 1) return;
        std::vector<std::size_t> clusters;
        for (const ReadLink& link : nodes_.users[id]) {
            const std::size_t cluster = nodes_.cluster_of[link.user];
            const bool reads_all = cluster != no_cluster && link.operand != nullptr &&
                                   draft_elements(cluster) == nodes_.elements(id);
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
                return std::ranges::any_of(nodes_.users[member], [&](const ReadLink& link) {
                    return nodes_.cluster_of[link.user] == to;
                });
            });
        };
        return reads_otherwise(a, b) || reads_otherwise(b, a);
    }

    // ---- circles ----------------------------------------------------------------------------

    /// Whether a way leads from the node to the cluster through somebody else.
    bool leads_around(std::size_t id, std::size_t cluster) {
        return search({id}, no_cluster, cluster);
    }
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
            const bool is_inside = from == no_cluster && is_first;
            is_first = false;
            for (const ReadLink& link : nodes_.users[id]) {
                const std::size_t cluster = nodes_.cluster_of[link.user];
                if (cluster == to && !is_inside) return true;
                if (cluster == to || (cluster == from && from != no_cluster)) continue;
                if (nodes_.facts(link.user).stage != stage) continue;
                visit(link.user, cluster);
            }
        }
        return false;
    }

    void visit(std::size_t id, std::size_t cluster) {
        if (seen_[id] == search_) return;
        if (cluster == no_cluster) {
            seen_[id] = search_;
            stack_.push_back(id);
            return;
        }
        for (const std::size_t member : drafts_[cluster].members) {
            seen_[member] = search_;
            stack_.push_back(member);
        }
    }

    // ---- the result -------------------------------------------------------------------------

    Fusion result() {
        Fusion fusion;
        std::vector<std::size_t> number(drafts_.size(), no_cluster);
        for (std::size_t i = 0; i < drafts_.size(); ++i) {
            if (drafts_[i].members.empty()) continue;
            number[i] = fusion.clusters.size();
            std::ranges::sort(drafts_[i].members);
            Cluster& cluster = fusion.clusters.emplace_back(drafts_[i].cluster);
            for (const std::size_t member : drafts_[i].members)
                cluster.members.push_back(nodes_.tensors[member]);
        }
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            const Node* const node = nodes_.tensors[id].get();
            if (inlined_[id]) fusion.inlined.insert(node);
            if (nodes_.cluster_of[id] == no_cluster) continue;
            fusion.cluster_of.emplace(node, number[nodes_.cluster_of[id]]);
            fusion.roles.emplace(node, roles_[id]);
            const bool is_read_outside =
                std::ranges::any_of(nodes_.users[id], [&](const ReadLink& link) {
                    return nodes_.cluster_of[link.user] != nodes_.cluster_of[id];
                });
            if (nodes_.pinned[id] || is_read_outside) fusion.stored.insert(node);
        }
        find_order(fusion);
        return fusion;
    }

    /// A unit is a cluster, known by its first member, or a node of its own.
    std::size_t unit_of(std::size_t id) const {
        return nodes_.cluster_of[id] == no_cluster ? id
                                                   : drafts_[nodes_.cluster_of[id]].members.front();
    }

    /// Whether all that others read of a unit are contributions to sums over the cores, such as
    /// gradients of weights.
    bool is_summed_only(std::size_t unit) const {
        const std::size_t cluster = nodes_.cluster_of[unit];
        if (cluster == no_cluster) return nodes_.facts(unit).feeds_only_sums;
        return std::ranges::all_of(drafts_[cluster].members, [&](std::size_t id) {
            return nodes_.facts(id).feeds_only_sums ||
                   std::ranges::all_of(nodes_.users[id], [&](const ReadLink& link) {
                       return nodes_.cluster_of[link.user] == cluster;
                   });
        });
    }

    /// Units by readiness; of those that are ready, the one whose last member came first, but
    /// contributions to sums before all others. A walk from the outputs meets the gradient of the
    /// first layer's weights first, and with it the gradients of all layers' values: left in its
    /// order, these would all be held until the weights' follow at the end.
    void find_order(Fusion& fusion) const {
        std::vector<std::size_t> waits(nodes_.size(), 0);
        for (std::size_t id = 0; id < nodes_.size(); ++id)
            for (const ReadLink& link : nodes_.users[id])
                if (unit_of(link.user) != unit_of(id)) ++waits[unit_of(link.user)];
        struct Ready {
            bool is_urgent;
            std::size_t number, unit;
            bool operator>(const Ready& other) const {
                return std::tuple(!is_urgent, number, unit) >
                       std::tuple(!other.is_urgent, other.number, other.unit);
            }
        };
        std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
        const auto offer = [&](std::size_t unit) {
            const std::size_t cluster = nodes_.cluster_of[unit];
            ready.push({is_summed_only(unit),
                        cluster == no_cluster ? unit : drafts_[cluster].members.back(), unit});
        };
        for (std::size_t id = 0; id < nodes_.size(); ++id)
            if (!inlined_[id] && unit_of(id) == id && waits[id] == 0) offer(id);
        while (!ready.empty()) {
            const std::size_t unit = ready.top().unit;
            ready.pop();
            const std::size_t cluster = nodes_.cluster_of[unit];
            const std::vector<std::size_t> alone{unit};
            for (const std::size_t id : cluster == no_cluster ? alone : drafts_[cluster].members) {
                fusion.order.push_back(nodes_.tensors[id]);
                for (const ReadLink& link : nodes_.users[id])
                    if (unit_of(link.user) != unit && --waits[unit_of(link.user)] == 0)
                        offer(unit_of(link.user));
            }
        }
        const auto inlined = std::size_t(std::ranges::count(inlined_, true));
        check(fusion.order.size() + inlined == nodes_.size(), "clusters are in no circle");
    }

    FusionNodes nodes_;
    std::vector<Role> roles_;
    std::vector<bool> inlined_;
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
    Fusion fusion = Fuser(graph, analysis).run();
    make_values_late(fusion, analysis);
    return fusion;
}

}    // namespace slipway
