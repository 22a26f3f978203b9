// A cluster of fused nodes becomes one loop kernel and one step. Where all its members need no
// more than the causal blocks of square matrices (triangular_analysis.h) it becomes one kernel
// for each block instead, run one after the other in one step, and zeros are written beyond the
// blocks only where somebody reads them. That pays where a row has exponentials or sums; a
// kernel that would write as many zeros as it saves stays whole (measured below).
#include <algorithm>
#include <limits>
#include <optional>

#include "executor/codegen/causal_block_kernels.h"
#include "executor/codegen/cluster_kernel.h"
#include "executor/codegen/loops/loop_plan.h"
#include "executor/codegen/lowering.h"

/// Clusters: one loop kernel and one step for each.
namespace slipway {

namespace {

using Role = Cluster::Role;

class ClusterStep {
public:
    ClusterStep(Lowering& lowering, const Cluster& cluster)
        : lowering_(lowering),
          cluster_(cluster),
          space_(space_of(cluster)),
          made_(kernel_of_cluster(lowering, cluster)) {}

    void run() {
        if (const auto row_loop = causal_rows()) return emit_causal_blocks(*row_loop);
        coalesce(made_.kernel);
        emit();
    }

private:
    Role role_of(const Tensor& member) const { return lowering_.fusion().roles.at(member.get()); }

    // ---- causal blocks ---------------------------------------------------------------------

    /// The loop over the rows of square matrices whose elements beyond the causal blocks the kernel
    /// need not compute.
    std::optional<std::size_t> causal_rows() const {
        const std::size_t rank = space_.extents.size();
        if (rank < 2 || space_.extents[rank - 1] != space_.extents[rank - 2]) return {};
        const bool is_cut = row_blocks(space_.extents.back()).size() > 1;
        if (!is_cut || !std::ranges::all_of(cluster_.members, [&](const Tensor& member) {
                return is_in_causal_blocks(member);
            }))
            return {};
        const LoopOrder& order = made_.order;
        std::vector<std::size_t> loops = order.groups;
        loops.insert(loops.end(), order.rows.begin(), order.rows.end());
        loops.insert(loops.end(), order.inner.begin(), order.inner.end());
        if (loops.back() != rank - 1 || !pays_to_cut()) return {};
        return std::size_t(std::ranges::find(loops, rank - 2) - loops.begin());
    }

    /// Zeros to be written cost what a kernel without exponentials and sums saves: the gradient of
    /// gpt_small's softmax in bf16 takes 15 ms as a whole, 18 in blocks.
    bool pays_to_cut() const { return cluster_.row_elements > 0 || zeroed_stores().empty(); }

    bool is_in_causal_blocks(const Tensor& member) const {
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
        const TriangularAnalysis& triangular = lowering_.triangular();
        return member.dims().back() == space_.extents.back() &&
               (triangular.zero.contains(&node) || triangular.unread.contains(&node));
    }

    /// Positions of the stores whose zeros beyond the causal blocks somebody reads.
    std::vector<std::size_t> zeroed_stores() const {
        std::vector<std::size_t> positions;
        for (std::size_t i = 0; i < made_.kernel.stores.size(); ++i)
            if (made_.kernel.stores[i].kind == LoopStoreKind::element &&
                !lowering_.triangular().unread.contains(made_.stored[i]))
                positions.push_back(i);
        return positions;
    }

    void emit_causal_blocks(std::size_t row_loop) {
        std::vector<Kernel> kernels;
        std::int64_t scratch_bytes = 0;
        for (const LoopKernel& kernel :
             causal_block_kernels({made_.kernel, row_loop, zeroed_stores()})) {
            kernels.push_back(lowering_.compiled(kernel));
            scratch_bytes = std::max(scratch_bytes, plan_of(kernel).scratch_bytes);
        }
        Step step{.name = name(),
                  .reads = made_.reads,
                  .writes = made_.writes,
                  .in_place = {},
                  .elements = 0,
                  .kernel = [kernels = std::move(kernels)](const KernelCall& call) {
                      for (const Kernel& kernel : kernels)
                          kernel(call);
                  }};
        find_in_place(plan_of(made_.kernel), step);
        emit(std::move(step), scratch_bytes);
    }

    // ---- the step --------------------------------------------------------------------------

    std::string name() const { return step_name(made_.text, cluster_.members.back().shape()); }

    void emit() {
        Step step{.name = name(),
                  .reads = made_.reads,
                  .writes = made_.writes,
                  .in_place = {},
                  .elements = made_.kernel.flat ? sliceable_elements() : 0,
                  .kernel = lowering_.compiled(made_.kernel)};
        const LoopPlan plan = plan_of(made_.kernel);
        find_in_place(plan, step);
        if (made_.kernel.flat && step.elements == 0) {
            // All of it, whatever bounds the call names.
            step.kernel = [kernel = std::move(step.kernel),
                           n = made_.kernel.extents[0]](const KernelCall& call) {
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
        for (const LoopValue& value : made_.kernel.values) {
            if (value.kind != LoopValueKind::load) continue;
            const Shape& shape = lowering_.shape_of(made_.reads[value.access.buffer]);
            const bool in_order = value.access.strides[0] == 1 && value.access.offset == 0;
            if (shape.element_count() == made_.kernel.extents[0] && !in_order) return 0;
        }
        return made_.kernel.extents[0];
    }

    /// A result may take over what is read at the very same places, and not after it is written.
    void find_in_place(const LoopPlan& plan, Step& step) const {
        for (const LoopStore& store : made_.kernel.stores) {
            if (store.kind != LoopStoreKind::element) continue;
            const std::size_t pass = pass_of(store, plan);
            for (std::size_t read = 0; read < made_.reads.size(); ++read) {
                const bool everywhere =
                    std::ranges::all_of(made_.kernel.values, [&](const LoopValue& value) {
                        return value.kind != LoopValueKind::load || value.access.buffer != read ||
                               lies_like(value, store);
                    });
                if (everywhere && last_pass_loading(made_.kernel, plan, read) <= pass)
                    step.in_place.emplace_back(read, store.to.buffer);
            }
        }
    }

    bool lies_like(const LoopValue& load, const LoopStore& store) const {
        return load.access.strides == store.to.strides && load.access.offset == store.to.offset &&
               size_in_bytes(load.dtype) == size_in_bytes(made_.kernel.values[store.value].dtype);
    }

    Lowering& lowering_;    // outlives the step's making, as the cluster does
    const Cluster& cluster_;
    const LoopSpace space_;
    ClusterKernel made_;
};

double neutral_number(Reduction reduction, DType dtype) {
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

/// A space without elements: there is nothing to compute, and reductions of nothing.
void fill_with_neutral(Lowering& lowering, const Cluster& cluster) {
    for (const Tensor& member : cluster.members) {
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
                  .writes = {lowering.make_result(member)},
                  .in_place = {},
                  .elements = 0,
                  .kernel = {}};
        step.kernel = [kernel = lowering.compiled(kernel),
                       n = kernel.extents[0]](const KernelCall& call) {
            kernel({call.reads, call.writes, 0, n, call.worker});
        };
        lowering.emit(cluster.stage, std::move(step));
    }
}

}    // namespace

void lower_cluster(Lowering& lowering, const Cluster& cluster) {
    if (cluster.elements == 0) return fill_with_neutral(lowering, cluster);
    ClusterStep(lowering, cluster).run();
}

}    // namespace slipway
