#include "executor/codegen/cluster_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "executor/codegen/lowering.h"
#include "executor/codegen/node_views.h"
#include "executor/graph/op_table.h"

// Members are added in topological order, and each becomes a value of the kernel: a load, a
// constant, a counter, a computation or a reduction. A chain of views between two nodes costs
// nothing where it can be written as strides of a load; where it cannot, a dense copy is made
// first. Which order the loops have is asked of loop_order when all values are known, and only then
// do stores and free reductions get their form. When the loads of a large array would not be side
// by side in that order, the cluster is built a second time with copies in the kernel's own order:
// one pass over memory instead of a cache line for each element.
namespace slipway {

namespace {

using Role = Cluster::Role;

/// Views that lie between a node and the one that reads it, innermost first.
using Chain = std::vector<const Node*>;

// Arrays of so many elements leave the first-level cache before the next of a line's is asked for.
constexpr std::int64_t gathered_elements_max = 8192;

class KernelBuilder {
public:
    /// `wanted`: what lies otherwise and is read whole is brought in this order first.
    KernelBuilder(Lowering& lowering, const Cluster& cluster,
                  std::optional<LoopOrder> wanted = std::nullopt)
        : lowering_(lowering),
          cluster_(cluster),
          space_(space_of(cluster)),
          wanted_(std::move(wanted)) {}

    /// The order in which the kernel would walk.
    LoopOrder find_order() {
        for (const Tensor& member : cluster_.members)
            add_member(member);
        return order_of_loops(request());
    }

    /// Whether a kernel in this order would pick the elements of a large array one by one.
    bool gathers(const LoopOrder& order) const {
        return std::ranges::any_of(kernel_.values, [&](const LoopValue& value) {
            return value.kind == LoopValueKind::load && is_gathered(value.access.strides, order);
        });
    }

    ClusterKernel build() {
        const LoopOrder order = find_order();
        add_stores(order);
        arrange(kernel_, space_, order);
        kernel_.reads = reads_.size();
        kernel_.writes = writes_.size();
        return {.kernel = std::move(kernel_),
                .order = order,
                .reads = std::move(reads_),
                .writes = std::move(writes_),
                .stored = std::move(stored_),
                .text = text()};
    }

private:
    // ---- values ----------------------------------------------------------------------------

    Role role_of(const Tensor& member) const { return lowering_.fusion().roles.at(member.get()); }

    bool is_internal(const Tensor& source) const {
        return std::ranges::count(cluster_.members, source) > 0;
    }

    ValueId add_value(LoopValue value) {
        kernel_.values.push_back(std::move(value));
        return ValueId(kernel_.values.size() - 1);
    }

    void add_member(const Tensor& member) {
        const Node& node = member.node();
        names_.push_back(name_of(node.op));
        const Role role = role_of(member);
        const std::int64_t unit = role == Role::row ? cluster_.row_elements : 1;
        if (node.op != OpCode::reduce) {
            members_[member.get()] = compute(node, {}, unit);
            return;
        }
        const ValueId operand = read(node.operands[0], {}, 1);
        if (role == Role::element) {
            members_[member.get()] = operand;
            return;
        }
        const auto& reduce = std::get<ReduceAttributes>(node.attributes);
        const bool is_in_row = role == Role::row_reduction && is_row_form_fixed();
        if (!is_in_row) {
            reductions_.push_back({member, operand});
            return;
        }
        members_[member.get()] = add_value({.kind = LoopValueKind::reduce,
                                            .dtype = member.dtype(),
                                            .operands = {operand},
                                            .reduction = reduce.reduction});
    }

    /// Whether something in the kernel reads what a row was reduced to.
    bool is_row_form_fixed() const {
        const bool both = cluster_.row_elements > 0 && !cluster_.columns.empty();
        return both || std::ranges::any_of(cluster_.members, [&](const Tensor& member) {
                   if (role_of(member) == Role::row) return true;
                   return std::ranges::any_of(member.node().operands, [&](const Tensor& operand) {
                       const Tensor& source = source_of(operand);
                       return is_internal(source) && role_of(source) == Role::row_reduction;
                   });
               });
    }

    ValueId compute(const Node& node, const Chain& chain, std::int64_t unit) {
        LoopValue value{.kind = LoopValueKind::compute, .dtype = node.shape.dtype, .op = node.op};
        if (const auto* compare = std::get_if<CompareAttributes>(&node.attributes))
            value.direction = compare->direction;
        for (const Tensor& operand : node.operands)
            value.operands.push_back(read(operand, chain, unit));
        return add_value(std::move(value));
    }

    /// The operand's value at the element at hand, seen through the chain.
    ValueId read(const Tensor& operand, Chain chain, std::int64_t unit) {
        const Tensor* tensor = &operand;
        if (const Tensor& source = source_of(operand); chain.empty() && is_internal(source))
            return members_.at(source.get());
        for (; is_view(tensor->node()); tensor = &tensor->node().operands[0])
            chain.insert(chain.begin(), tensor->get());
        const Node& node = tensor->node();
        if (node.op == OpCode::constant)
            return add_value({.kind = LoopValueKind::constant,
                              .dtype = node.shape.dtype,
                              .number = std::get<ConstantAttributes>(node.attributes).value});
        if (node.op == OpCode::iota) return count(*tensor, chain, unit);
        if (!lowering_.fusion().inlined.contains(&node))
            return load(lowering_.value_of(*tensor), chain, unit);
        const auto known = inlined_.find({&node, chain, unit});
        if (known != inlined_.end()) return known->second;
        const ValueId value = compute(node, chain, unit);
        inlined_.emplace(std::tuple(&node, chain, unit), value);
        return value;
    }

    ValueId count(const Tensor& iota, const Chain& chain, std::int64_t unit) {
        const auto dimension =
            std::size_t(std::get<IotaAttributes>(iota.node().attributes).dimension);
        PlacedValue counter{.buffer = 0,
                            .view = {iota.dims(), Dims(iota.dims().size(), 0), 0},
                            .dtype = iota.dtype(),
                            .placement = Placement::replicated};
        counter.view.strides[dimension] = 1;
        if (!through(chain, counter.view)) return load(lowering_.value_of(iota), chain, unit);
        return add_value({.kind = LoopValueKind::counter,
                          .dtype = iota.dtype(),
                          .access = access(0, counter.view, unit)});
    }

    static bool through(const Chain& chain, View& view) {
        for (const Node* const node : chain) {
            std::optional<View> next = view_of(*node, view);
            if (!next) return false;
            view = std::move(*next);
        }
        return true;
    }

    ValueId load(PlacedValue value, const Chain& chain, std::int64_t unit) {
        for (const Node* const node : chain) {
            std::optional<View> next = view_of(*node, value.view);
            if (!next) {
                value = lowering_.dense(value, cluster_.stage);
                next = view_of(*node, value.view);
            }
            value.view = std::move(*next);
        }
        if (wanted_ &&
            is_gathered(strides_in(space_, value.view.dims, value.view.strides, unit), *wanted_))
            value = lowering_.ordered(value, dims_order(space_, *wanted_, value.view.dims),
                                      cluster_.stage);
        const auto known = std::ranges::find(reads_, value.buffer);
        const auto buffer = std::size_t(known - reads_.begin());
        if (known == reads_.end()) reads_.push_back(value.buffer);
        LoopValue loaded{.kind = LoopValueKind::load,
                         .dtype = value.dtype,
                         .access = access(buffer, value.view, unit)};
        const auto same = std::ranges::find(kernel_.values, loaded);
        if (same != kernel_.values.end()) return ValueId(same - kernel_.values.begin());
        return add_value(std::move(loaded));
    }

    /// Large, with an element for each of the space, and those of the last loop not side by side.
    bool is_gathered(const Dims& strides, const LoopOrder& order) const {
        if (cluster_.elements <= gathered_elements_max) return false;
        const std::int64_t last = strides[order.inner.back()];
        if (last == 0 || last == 1) return false;
        for (std::size_t i = 0; i < strides.size(); ++i)
            if (strides[i] == 0 && space_.extents[i] > 1) return false;
        return true;
    }

    LoopAccess access(std::size_t buffer, const View& view, std::int64_t unit) const {
        return {.buffer = buffer,
                .strides = strides_in(space_, view.dims, view.strides, unit),
                .offset = view.offset};
    }

    // ---- stores ----------------------------------------------------------------------------

    /// A reduction that may yet become one of rows or one of columns.
    struct FreeReduction {
        Tensor node;
        ValueId operand;
    };

    LoopOrderRequest request() const {
        LoopOrderRequest request{.space = space_, .kernel = kernel_};
        request.row_elements = cluster_.row_elements;
        request.columns = cluster_.columns;
        request.is_row_form_fixed = is_row_form_fixed();
        request.is_reduced = !reductions_.empty();
        for (const Tensor& member : cluster_.members) {
            // What reductions leave lies in its own order anyway.
            if (role_of(member) != Role::element) continue;
            const NodeFacts& facts = lowering_.facts(member);
            // A sum by way of a reshape wants the shape's own order.
            if (facts.region && !(facts.region == Region::sum && facts.is_only_summed))
                request.inputs_program = true;
        }
        return request;
    }

    void add_stores(const LoopOrder& order) {
        for (const Tensor& member : cluster_.members) {
            const Role role = role_of(member);
            if (!lowering_.fusion().stored.contains(member.get())) continue;
            if (!members_.contains(member.get())) continue;
            if (role == Role::element)
                add_store(LoopStoreKind::element, member, members_.at(member.get()),
                          dims_order(space_, order, member.dims()));
            else
                add_store(LoopStoreKind::row, member, members_.at(member.get()),
                          row_major(member.dims().size()));
        }
        for (const FreeReduction& reduction : reductions_)
            add_reduction(reduction, order);
    }

    void add_store(LoopStoreKind kind, const Tensor& member, ValueId value, const Dims& order) {
        writes_.push_back(lowering_.make_result(member, order));
        View view = lowering_.value_of(member).view;
        std::int64_t unit = 1;
        if (role_of(member) == Role::row) unit = cluster_.row_elements;
        if (member.node().op == OpCode::reduce && role_of(member) != Role::element)
            view = spread_over_operand(member, view);
        kernel_.stores.push_back(
            {.kind = kind, .value = value, .to = access(writes_.size() - 1, view, unit)});
        stored_.push_back(member.get());
    }

    /// The result of a reduction as its operand's dims see it: standing still in what is reduced.
    static View spread_over_operand(const Tensor& reduce, const View& result) {
        const Tensor& operand = reduce.node().operands[0];
        const Dims& reduced = std::get<ReduceAttributes>(reduce.node().attributes).dimensions;
        View view{operand.dims(), Dims(operand.dims().size(), 0), result.offset};
        std::size_t kept = 0;
        for (std::size_t i = 0; i < view.dims.size(); ++i)
            if (std::ranges::count(reduced, std::int64_t(i)) == 0)
                view.strides[i] = result.strides[kept++];
        return view;
    }

    void add_reduction(const FreeReduction& reduction, const LoopOrder& order) {
        const auto how = std::get<ReduceAttributes>(reduction.node.node().attributes).reduction;
        const Dims result_order = row_major(reduction.node.dims().size());
        if (order.is_row_form && (!is_row_form_fixed())) {
            const ValueId value = add_value({.kind = LoopValueKind::reduce,
                                             .dtype = reduction.node.dtype(),
                                             .operands = {reduction.operand},
                                             .reduction = how});
            add_store(LoopStoreKind::row, reduction.node, value, result_order);
            return;
        }
        add_store(LoopStoreKind::column, reduction.node, reduction.operand, result_order);
        kernel_.stores.back().reduction = how;
    }

    std::string text() const {
        std::string text;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (text.size() > 50) {
                text += fmt::format("+{} more", names_.size() - i);
                break;
            }
            text += (i == 0 ? "" : "+") + std::string(names_[i]);
        }
        return text;
    }

    Lowering& lowering_;    // outlives the builder, as the cluster does
    const Cluster& cluster_;
    const LoopSpace space_;
    const std::optional<LoopOrder> wanted_;
    LoopKernel kernel_;
    std::map<const Node*, ValueId> members_;
    std::map<std::tuple<const Node*, Chain, std::int64_t>, ValueId> inlined_;
    std::vector<FreeReduction> reductions_;
    std::vector<BufferId> reads_, writes_;
    std::vector<const Node*> stored_;    ///< by store: the node
    std::vector<std::string_view> names_;
};

}    // namespace

ClusterKernel kernel_of_cluster(Lowering& lowering, const Cluster& cluster) {
    if (cluster.elements > gathered_elements_max) {
        KernelBuilder first(lowering, cluster);
        const LoopOrder order = first.find_order();
        if (first.gathers(order)) return KernelBuilder(lowering, cluster, order).build();
    }
    return KernelBuilder(lowering, cluster).build();
}

}    // namespace slipway
