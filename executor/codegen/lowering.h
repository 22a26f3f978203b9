#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"
#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/kernels/view.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/codegen/triangular_analysis.h"

namespace slipway {

/// Where a value is: a view of a buffer.
struct PlacedValue {
    BufferId buffer = 0;
    View view;
    DType dtype = DType::f32;
    Placement placement = Placement::replicated;
};

/// The program in the making: what the families (lower_*.cpp) share. Values are looked up by node,
/// steps are added to stages, buffers are made; where they lie is decided at the end.
class Lowering {
public:
    /// What is asked: a program, or its plan of memory, whose loop kernels do nothing and cost
    /// nothing to make.
    enum class Purpose : std::uint8_t { run, plan };

    /// bucket_bytes  as of analyse
    Lowering(const Graph& graph, const LowerOptions& options, std::int64_t bucket_bytes,
             Purpose purpose = Purpose::run);

    /// Lowers all nodes, outputs and donations, and places the buffers.
    Program run();

    // ---- for the families ----

    int workers() const { return options_.workers; }
    bool only_plans() const { return purpose_ == Purpose::plan; }
    /// How many replicas a worker runs step by step, where a step is made for all of them at once;
    /// 1: one after the other.
    int replicas_together() const;
    /// Whether a step of this stage may be made for all replicas of a block, these values being
    /// what differs between them: each fills a buffer, whose replicas lie one after the other.
    bool may_run_together(int stage, const std::vector<PlacedValue>& values) const;
    /// A copy of a core's value, dense in a buffer of its own.
    PlacedValue held(const PlacedValue& value, int stage);
    /// Replicas run together even where that takes more memory. Steps that may do not ask for it.
    void want_together() { wants_together_ = true; }
    /// The cores whose rows a step batches.
    int batched_cores() const;
    /// The program runs on no other number of cores from then on.
    void fix_cores() { program_.cores = options_.cores; }
    /// Whether all blocks have that many.
    bool batches_whole_blocks() const {
        return !options_.in_blocks || options_.cores % block_cores == 0;
    }
    bool in_blocks() const { return options_.in_blocks; }
    const NodeFacts& facts(const Tensor& tensor) const { return analysis_.of(tensor); }
    /// Takes back that a product, or what is added to it, is batched: each core makes its own, to
    /// be added up.
    void unbatch(const Tensor& batched);
    /// Where the value is; views and constants are placed when they are first asked for.
    const PlacedValue& value_of(const Tensor& tensor);
    const Fusion& fusion() const { return fusion_; }
    const TriangularAnalysis& triangular() const { return triangular_; }
    /// The loop kernel's code, compiled where the store does not have it.
    Kernel compiled(const LoopKernel& kernel);
    Region region_of(BufferId buffer) const { return program_.buffers[buffer].region; }
    const Shape& shape_of(BufferId buffer) const { return program_.buffers[buffer].shape; }
    /// A core's buffer that is read after its stage.
    void keep(BufferId buffer);
    void set_value(const Tensor& tensor, PlacedValue value);

    /// The same value, lying dense from the start of its buffer: a copy where it does not yet.
    /// Copies of replicated values are made once, before the per-core stage that wants them.
    PlacedValue dense(const PlacedValue& value, int stage);
    /// The same value filling its buffer with the dimensions in this order, outermost first.
    PlacedValue ordered(const PlacedValue& value, const Dims& order, int stage);
    /// Whether a value of this stage is the same on all cores, which then work on it in turn.
    bool is_shared(const PlacedValue& value, int stage) const;
    /// The buffer of a value that a library kernel wants packed: packed once, however many kernels
    /// of the program want the same, and a replicated value before the per-core stage.
    BufferId packed(const PlacedValue& value, const Packing& packing, int stage);

    /// The buffer for a node's result, where the analysis wants it; sets the node's value: dense,
    /// or with its dimensions in the given order.
    BufferId make_result(const Tensor& tensor);
    BufferId make_result(const Tensor& tensor, const Dims& order);
    /// The same for a kernel that leaves the result packed. When the cores' results are only added
    /// up, the sum is made of what is packed, and unpacked once; else each is.
    void emit_packed(const Tensor& tensor, std::string name, const LibraryKernel& kernel,
                     std::vector<BufferId> reads);
    /// Set by emit_packed for lower_all_reduce.
    const Packing* packing_of(const Tensor& tensor) const;
    /// The plain value of an all_reduce of packed contributions.
    void unpack(const Tensor& tensor, const Packing& packing, BufferId from);
    /// Between a plain value and a packed one, in the packing's direction.
    void emit_packing(int stage, std::string name, const Packing& packing, BufferId from,
                      BufferId to);
    BufferId make_temporary(const Shape& shape, int stage);
    /// What a step that batches cores leaves to the next one of its stage.
    BufferId make_batched(const Shape& shape, int stage);
    BufferId add_constant(const Shape& shape, const std::vector<std::byte>& bytes);

    void emit(int stage, Step step);
    /// The step of a library kernel, with its scratch memory.
    Step library_step(int stage, std::string name, const LibraryKernel& kernel,
                      std::vector<BufferId> reads, BufferId result);
    void emit(int stage, std::string name, const LibraryKernel& kernel, std::vector<BufferId> reads,
              BufferId result);
    /// Adds an all_reduce at the end of a per-core stage; returns where `value` lies before and the
    /// result after. `sum`: what is added there; its buffer is found here.
    PlacedValue add_sum(int stage, const PlacedValue& value, Sum sum);

private:
    struct StageParts {
        std::vector<Step> steps;
        std::vector<Step> block_steps;    ///< after them: Stage::block_step_count
        std::vector<Sum> sums;
    };
    struct Copy {
        BufferId from;
        View view;
        View target;
        int stage;
        BufferId to;
    };
    struct PackedCopy {
        BufferId from;
        Packing packing;
        int stage;
        BufferId to;
    };

    void add_inputs();
    void add_outputs();
    void lower_nodes();
    void lower_stage(int stage);
    BufferId add_buffer(Buffer buffer);
    void copy_outputs();
    void copy_output(std::size_t position);
    void settle_donations();
    void settle_donation(std::size_t position, std::size_t input);
    bool overwrites_too_early(std::size_t input, BufferId result) const;
    void emit_copy(int stage, const PlacedValue& from, BufferId to);
    void emit_copy(int stage, const PlacedValue& from, const Dims& order, BufferId to);
    int copy_stage_of(const PlacedValue& value, int stage) const;
    void keep_for_inlined();
    void settle_together();
    bool may_settle_together() const;
    void flatten();

    const Graph& graph_;
    LowerOptions options_;
    const Purpose purpose_;
    Analysis analysis_;
    const Fusion fusion_;
    const TriangularAnalysis triangular_;
    Program program_;
    std::unordered_map<const Node*, PlacedValue> values_;
    std::vector<StageParts> stages_;
    std::vector<BufferId> input_buffers_;
    std::vector<std::byte> constants_;
    std::unordered_set<const LoopCode*> codes_;    ///< of the store: each counts once
    std::vector<Copy> copies_;
    std::vector<PackedCopy> packed_copies_;
    std::unordered_map<const Node*, Packing> packings_;    ///< of results that stay packed
    bool wants_together_ = false;
    std::vector<Step> last_steps_;    ///< copies into donated inputs: after everything else
};

/// Lowers one node of a family; its operands' values are set.
using LowerRule = void (*)(Lowering& lowering, const Tensor& tensor);

void lower_cluster(Lowering& lowering, const Cluster& cluster);
void lower_view(Lowering& lowering, const Tensor& tensor);
void lower_constant(Lowering& lowering, const Tensor& tensor);
void lower_iota(Lowering& lowering, const Tensor& tensor);
void lower_pad(Lowering& lowering, const Tensor& tensor);
void lower_concatenate(Lowering& lowering, const Tensor& tensor);
void lower_gather(Lowering& lowering, const Tensor& tensor);
void lower_scatter_add(Lowering& lowering, const Tensor& tensor);
void lower_dynamic_slice(Lowering& lowering, const Tensor& tensor);
void lower_dynamic_update_slice(Lowering& lowering, const Tensor& tensor);
void lower_reduce_window(Lowering& lowering, const Tensor& tensor);
void lower_select_and_scatter(Lowering& lowering, const Tensor& tensor);
void lower_dot_general(Lowering& lowering, const Tensor& tensor);
void lower_convolution(Lowering& lowering, const Tensor& tensor);
void lower_all_reduce(Lowering& lowering, const Tensor& tensor);

/// "name f32[8,3]".
std::string step_name(std::string_view name, const Shape& shape);

}    // namespace slipway
