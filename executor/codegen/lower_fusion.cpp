#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "api/base/check.h"
#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/jit/loop_plan.h"
#include "executor/codegen/loop_order.h"
#include "executor/codegen/lowering.h"
#include "executor/codegen/node_views.h"
#include "executor/codegen/staircase_kernels.h"
#include "executor/graph/op_table.h"

/// Clusters: one loop kernel and one step for each.
namespace slipway {

namespace {

using Role = Cluster::Role;

/// Views that lie between a node and the one that reads it, innermost first.
using Chain = std::vector<const Node*>;

// Arrays of so many elements leave the first-level cache before the next of a line's is asked for.
constexpr std::int64_t gathered_elements_max = 8192;

class ClusterBuilder {
public:
    /// `wanted`: what lies otherwise and is read whole is brought in this order first.
    ClusterBuilder(Lowering& lowering, const Cluster& cluster,
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

    void run() {
        if (cluster_.elements == 0) return fill_with_neutral();
        const LoopOrder order = find_order();
        add_stores(order);
        arrange(kernel_, space_, order);
        kernel_.reads = reads_.size();
        kernel_.writes = writes_.size();
        if (const auto row_loop = staircase_rows(order)) return emit_staircase(*row_loop);
        coalesce(kernel_);
        emit();
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
                request.leaves_program = true;
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

    // ---- the staircase ---------------------------------------------------------------------

    /// The loop over the rows of square matrices whose elements beyond the staircase the kernel
    /// need not compute.
    std::optional<std::size_t> staircase_rows(const LoopOrder& order) const {
        const std::size_t rank = space_.extents.size();
        if (rank < 2 || space_.extents[rank - 1] != space_.extents[rank - 2]) return {};
        const bool is_cut = row_blocks(space_.extents.back()).size() > 1;
        if (!is_cut || !std::ranges::all_of(cluster_.members, [&](const Tensor& member) {
                return ends_with_staircase(member);
            }))
            return {};
        std::vector<std::size_t> loops = order.groups;
        loops.insert(loops.end(), order.rows.begin(), order.rows.end());
        loops.insert(loops.end(), order.inner.begin(), order.inner.end());
        if (loops.back() != rank - 1 || !pays_to_cut()) return {};
        return std::size_t(std::ranges::find(loops, rank - 2) - loops.begin());
    }

    /// Zeros to be written cost what a kernel without exponentials and sums saves: the gradient of
    /// gpt_small's softmax in bf16 takes 15 ms as a whole, 18 in blocks.
    bool pays_to_cut() const { return cluster_.row_elements > 0 || zeroed_stores().empty(); }

    bool ends_with_staircase(const Tensor& member) const {
        const Node& node = member.node();
        if (role_of(member) == Role::row) return true;
        if (role_of(member) == Role::row_reduction) {
            const Tensor& x = node.operands[0];
            const auto how = std::get<ReduceAttributes>(node.attributes).reduction;
            return x.dims().back() == space_.extents.back() &&
                   cluster_.row_elements == space_.extents.back() && is_neutral_above(x, how);
        }
        if (role_of(member) != Role::element || node.op == OpCode::reduce) return false;
        if (!lowering_.fusion().stored.contains(&node)) return true;
        const Triangles& triangles = lowering_.triangles();
        return member.dims().back() == space_.extents.back() &&
               (triangles.zero.contains(&node) || triangles.unread.contains(&node));
    }

    /// Positions of the stores whose zeros beyond the staircase somebody reads.
    std::vector<std::size_t> zeroed_stores() const {
        std::vector<std::size_t> positions;
        for (std::size_t i = 0; i < kernel_.stores.size(); ++i)
            if (kernel_.stores[i].kind == LoopStoreKind::element &&
                !lowering_.triangles().unread.contains(stored_[i]))
                positions.push_back(i);
        return positions;
    }

    void emit_staircase(std::size_t row_loop) {
        std::vector<Kernel> kernels;
        std::int64_t scratch_bytes = 0;
        for (const LoopKernel& kernel : staircase_kernels({kernel_, row_loop, zeroed_stores()})) {
            kernels.push_back(lowering_.compiled(kernel));
            scratch_bytes = std::max(scratch_bytes, plan_of(kernel).scratch_bytes);
        }
        Step step{.name = step_text(),
                  .reads = reads_,
                  .writes = writes_,
                  .in_place = {},
                  .elements = 0,
                  .kernel = [kernels = std::move(kernels)](const KernelCall& call) {
                      for (const Kernel& kernel : kernels)
                          kernel(call);
                  }};
        find_in_place(plan_of(kernel_), step);
        emit(std::move(step), scratch_bytes);
    }

    // ---- the step --------------------------------------------------------------------------

    std::string step_text() const {
        std::string text;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (text.size() > 50) {
                text += fmt::format("+{} more", names_.size() - i);
                break;
            }
            text += (i == 0 ? "" : "+") + std::string(names_[i]);
        }
        return step_name(text, cluster_.members.back().shape());
    }

    void emit() {
        Step step{.name = step_text(),
                  .reads = reads_,
                  .writes = writes_,
                  .in_place = {},
                  .elements = kernel_.flat ? sliceable_elements() : 0,
                  .kernel = lowering_.compiled(kernel_)};
        const LoopPlan plan = plan_of(kernel_);
        find_in_place(plan, step);
        if (kernel_.flat && step.elements == 0) {
            // All of it, whatever bounds the call names.
            step.kernel = [kernel = std::move(step.kernel),
                           n = kernel_.extents[0]](const KernelCall& call) {
                kernel({call.reads, call.writes, 0, n, call.worker});
            };
        }
        emit(std::move(step), plan.scratch_bytes);
    }

    void emit(Step step, std::int64_t scratch_bytes) {
        if (scratch_bytes > 0)
            step.writes.push_back(
                lowering_.make_temporary({DType::u8, {scratch_bytes}}, cluster_.stage));
        lowering_.emit(cluster_.stage, std::move(step));
    }

    /// Slices own elements by number: what has as many elements must be read in that order.
    std::int64_t sliceable_elements() const {
        for (const LoopValue& value : kernel_.values) {
            if (value.kind != LoopValueKind::load) continue;
            const Shape& shape = lowering_.shape_of(reads_[value.access.buffer]);
            const bool in_order = value.access.strides[0] == 1 && value.access.offset == 0;
            if (shape.element_count() == kernel_.extents[0] && !in_order) return 0;
        }
        return kernel_.extents[0];
    }

    /// A result may take over what is read at the very same places, and not after it is written.
    void find_in_place(const LoopPlan& plan, Step& step) const {
        for (const LoopStore& store : kernel_.stores) {
            if (store.kind != LoopStoreKind::element) continue;
            const std::size_t pass = pass_of(store, plan);
            for (std::size_t read = 0; read < reads_.size(); ++read) {
                const bool everywhere =
                    std::ranges::all_of(kernel_.values, [&](const LoopValue& value) {
                        return value.kind != LoopValueKind::load || value.access.buffer != read ||
                               lies_like(value, store);
                    });
                if (everywhere && last_pass_loading(kernel_, plan, read) <= pass)
                    step.in_place.emplace_back(read, store.to.buffer);
            }
        }
    }

    bool lies_like(const LoopValue& load, const LoopStore& store) const {
        return load.access.strides == store.to.strides && load.access.offset == store.to.offset &&
               size_in_bytes(load.dtype) == size_in_bytes(kernel_.values[store.value].dtype);
    }

    /// A space without elements: there is nothing to compute, and reductions of nothing.
    void fill_with_neutral() {
        for (const Tensor& member : cluster_.members) {
            LoopKernel kernel{.extents = {member.shape().element_count()},
                              .flat = true,
                              .values = {},
                              .stores = {},
                              .writes = 1};
            double neutral = 0;
            if (const auto* reduce = std::get_if<ReduceAttributes>(&member.node().attributes))
                neutral = neutral_number(reduce->reduction, member.dtype());
            kernel.values.push_back(
                {.kind = LoopValueKind::constant, .dtype = member.dtype(), .number = neutral});
            kernel.stores.push_back({.value = 0, .to = {.buffer = 0, .strides = {1}}});
            Step step{.name = step_name("fill", member.shape()),
                      .reads = {},
                      .writes = {lowering_.make_result(member)},
                      .in_place = {},
                      .elements = 0,
                      .kernel = {}};
            step.kernel = [kernel = lowering_.compiled(kernel),
                           n = kernel.extents[0]](const KernelCall& call) {
                kernel({call.reads, call.writes, 0, n, call.worker});
            };
            lowering_.emit(cluster_.stage, std::move(step));
        }
    }

    static double neutral_number(Reduction reduction, DType dtype) {
        if (reduction == Reduction::add) return 0;
        const bool lowest = reduction == Reduction::maximum;
        if (is_floating(dtype))
            return lowest ? -std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::infinity();
        switch (dtype) {
            case DType::i32:
                return lowest ? -0x1p31 : 0x1p31 - 1;
            case DType::i64:
                return lowest ? -0x1p63 : 0x1p63;
            case DType::u8:
                return lowest ? 0 : 255;
            default:
                return lowest ? 0 : 0x1p32 - 1;
        }
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

void lower_cluster(Lowering& lowering, const Cluster& cluster) {
    if (cluster.elements > gathered_elements_max) {
        ClusterBuilder first(lowering, cluster);
        const LoopOrder order = first.find_order();
        if (first.gathers(order)) return ClusterBuilder(lowering, cluster, order).run();
    }
    ClusterBuilder(lowering, cluster).run();
}

}    // namespace slipway
