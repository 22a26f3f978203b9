#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "executor/codegen/analysis.h"
#include "executor/codegen/kernels/view.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/library_kernel.h"

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
    Lowering(const Graph& graph, const LowerOptions& options);

    /// Lowers all nodes, outputs and donations, and places the buffers.
    Program run();

    // ---- for the families ----

    int workers() const { return options_.workers; }
    const NodeFacts& facts(const Tensor& tensor) const { return analysis_.of(tensor); }
    const PlacedValue& value_of(const Tensor& tensor) const { return values_.at(tensor.get()); }
    void set_value(const Tensor& tensor, PlacedValue value);

    /// The same value, lying dense from the start of its buffer: a copy where it does not yet.
    /// Copies of replicated values are made once, before the per-core stage that wants them.
    PlacedValue dense(const PlacedValue& value, int stage);

    /// The buffer for a node's result, where the analysis wants it; sets the node's value.
    BufferId make_result(const Tensor& tensor);
    BufferId make_temporary(const Shape& shape, int stage);
    BufferId add_constant(const Shape& shape, const std::vector<std::byte>& bytes);

    void emit(int stage, Step step);
    /// The step of a library kernel: adds its scratch memory.
    void emit(int stage, std::string name, const LibraryKernel& kernel, std::vector<BufferId> reads,
              BufferId result);
    /// Adds an all_reduce at the end of a per-core stage; returns the buffer that holds `value`
    /// before and the result after.
    BufferId add_sum(int stage, const PlacedValue& value, Combine combine);

private:
    struct StageParts {
        std::vector<Step> steps;
        std::vector<Sum> sums;
    };
    struct Copy {
        BufferId from;
        View view;
        int stage;
        BufferId to;
    };

    void add_leaves();
    void add_outputs();
    void lower_nodes();
    BufferId add_buffer(Buffer buffer);
    void copy_outputs();
    void copy_output(std::size_t position);
    void settle_donations();
    void settle_donation(std::size_t position, std::size_t leaf);
    bool overwrites_too_early(std::size_t leaf, BufferId result) const;
    void emit_copy(int stage, const PlacedValue& from, BufferId to);
    void flatten();

    const Graph& graph_;
    const LowerOptions& options_;
    Analysis analysis_;
    Program program_;
    std::unordered_map<const Node*, PlacedValue> values_;
    std::vector<StageParts> stages_;
    std::vector<BufferId> leaf_buffers_;
    std::vector<std::byte> constants_;
    std::vector<Copy> copies_;
    std::vector<Step> last_steps_;    ///< copies into donated leaves: after everything else
};

/// Lowers one node of a family; its operands' values are set.
using LowerRule = void (*)(Lowering& lowering, const Tensor& tensor);

void lower_element_group(Lowering& lowering, const Tensor& tensor);
void lower_view(Lowering& lowering, const Tensor& tensor);
void lower_constant(Lowering& lowering, const Tensor& tensor);
void lower_iota(Lowering& lowering, const Tensor& tensor);
void lower_pad(Lowering& lowering, const Tensor& tensor);
void lower_concatenate(Lowering& lowering, const Tensor& tensor);
void lower_reduce(Lowering& lowering, const Tensor& tensor);
void lower_reduce_window(Lowering& lowering, const Tensor& tensor);
void lower_select_and_scatter(Lowering& lowering, const Tensor& tensor);
void lower_dot_general(Lowering& lowering, const Tensor& tensor);
void lower_convolution(Lowering& lowering, const Tensor& tensor);
void lower_all_reduce(Lowering& lowering, const Tensor& tensor);

/// "name f32[8,3]".
std::string step_name(std::string_view name, const Shape& shape);

}    // namespace slipway
