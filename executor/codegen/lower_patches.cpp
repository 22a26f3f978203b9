#include "executor/codegen/lower_patches.h"

#include <algorithm>

#include "executor/codegen/convolutions.h"
#include "executor/codegen/kernels/patches.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/codegen/together.h"

namespace slipway {

namespace {

/// Forward in bf16, over few positions of each image and weights that exceed a core's second-level
/// cache: the primitive goes through all weights for each image. Measured inside a step, GFLOP/s of
/// the primitive and of the product with its patches:
///   64 images, 512 channels of 2x2   100 640    32 images, 512 channels of 4x4   330 580
/// rows_min  of a core
bool pays(const ConvolutionSpec& spec, std::int64_t rows_min) {
    constexpr std::int64_t positions_max = 16, weights_bytes_min = 2 << 20;
    if (spec.operands != DType::bf16 || spec.strides.size() != 2 || spec.w.dims[0] != 1)
        return false;
    const PatchShape shape = patch_shape_of(spec);
    return shape.row_count() >= rows_min &&
           shape.positions[0] * shape.positions[1] <= positions_max &&
           2 * element_count(spec.w) >= weights_bytes_min && element_count(spec.x) > 0;
}

/// A kernel that is read from its start in all dimensions, and what was turned around for that.
struct Unreversed {
    PlacedValue kernel;
    std::array<bool, 2> is_reversed{};
};

Unreversed unreversed(PlacedValue kernel, const Dims& layout) {
    Unreversed result{std::move(kernel)};
    View& view = result.kernel.view;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto dimension = std::size_t(layout[i + 2]);
        result.is_reversed[i] = view.strides[dimension] < 0;
        if (!result.is_reversed[i]) continue;
        view.offset += (view.dims[dimension] - 1) * view.strides[dimension];
        view.strides[dimension] *= -1;
    }
    return result;
}

/// The same patches with the elements of each window the other way round.
void reverse(PatchShape& shape, std::size_t i) {
    shape.padding_low[i] -= (shape.windows[i] - 1) * shape.dilations[i];
    shape.dilations[i] *= -1;
}

/// The weights as one matrix [window..., input features] x [output features].
struct Weights {
    PlacedValue value;
    View matrix;
};

/// The features that lie closer together stay so: a copy along them is the fastest.
Weights weights_of(Lowering& lowering, const PlacedValue& kernel, const Dims& layout, int stage) {
    const View& view = kernel.view;
    const auto stride = [&](std::size_t role) { return view.strides[std::size_t(layout[role])]; };
    const std::int64_t outputs = view.dims[std::size_t(layout[0])];
    const std::int64_t rows = element_count(view) / outputs;
    if (stride(1) < stride(0))
        return {lowering.ordered(kernel, channels_last(layout), stage),
                {{1, rows, outputs}, {element_count(view), 1, rows}, 0}};
    const Dims order{layout[2], layout[3], layout[1], layout[0]};
    return {lowering.ordered(kernel, order, stage), dense_view({1, rows, outputs})};
}

/// Replicas multiply their rows together, so those of four count: as if two workers ran them,
/// however many do, as the bits may not depend on it.
std::int64_t rows_min_for(const Lowering& lowering, bool is_shared) {
    constexpr std::int64_t rows_min = 64;
    constexpr int together_max = 4;
    return rows_min / (is_shared ? std::clamp(lowering.batched_cores() / 2, 1, together_max) : 1);
}

/// What multiplies the patches of all replicas of a block, or nothing; the scratch memory is made
/// large enough for both.
Kernel make_kernel_together(const Lowering& lowering, const MatmulSpec& spec,
                            LibraryKernel& alone) {
    if (!pays_together(spec)) return {};
    if (lowering.only_plans()) return [](const KernelCall&) {};
    auto together = make_together(spec, alone, lowering.replicas_together(), lowering.workers());
    if (!together) return {};
    alone.scratch_bytes = std::max(alone.scratch_bytes, together->scratch_bytes);
    return std::move(together->kernel);
}

/// The step that makes the matrix of patches of an image that lies channels-last.
BufferId emit_patches(Lowering& lowering, const PatchShape& shape, const PlacedValue& images,
                      int stage) {
    const Shape matrix{images.dtype, {shape.row_count(), shape.row_elements()}};
    const BufferId patches = lowering.make_temporary(matrix, stage);
    lowering.emit(stage, {.name = step_name("patches", matrix),
                          .reads = {images.buffer},
                          .writes = {patches},
                          .in_place = {},
                          .elements = 0,
                          .kernel = make_patches(shape, images.dtype)});
    return patches;
}

}    // namespace

Dims channels_last(const Dims& layout) {
    Dims order(layout.begin() + 2, layout.end());
    order.insert(order.begin(), layout[0]);
    order.push_back(layout[1]);
    return order;
}

bool emit_product_of_patches(Lowering& lowering, const Tensor& tensor,
                             const std::array<PlacedValue, 2>& operands) {
    const auto& attributes = std::get<ConvolutionAttributes>(tensor.node().attributes);
    const int stage = lowering.facts(tensor).stage;
    const Dims input_order = channels_last(attributes.input_layout);
    const Dims result_order = channels_last(attributes.output_layout);
    auto spec = convolution_spec(ConvolutionKind::forward,
                                 {.input = ordered_view(operands[0].view.dims, input_order),
                                  .kernel = operands[1].view,
                                  .result = ordered_view(tensor.dims(), result_order)},
                                 attributes);
    if (!spec) return false;
    spec->operands = operands[0].dtype;
    const bool is_shared = lowering.is_shared(operands[1], stage);
    if (!pays(*spec, rows_min_for(lowering, is_shared))) return false;
    const Unreversed weights = unreversed(operands[1], attributes.kernel_layout);
    PatchShape shape = patch_shape_of(*spec);
    for (std::size_t i = 0; i < 2; ++i)
        if (weights.is_reversed[i]) reverse(shape, i);
    const Weights matrix = weights_of(lowering, weights.kernel, attributes.kernel_layout, stage);
    const MatmulSpec rows{.lhs = dense_view({1, shape.row_count(), shape.row_elements()}),
                          .rhs = matrix.matrix,
                          .result = dense_view({1, shape.row_count(), matrix.matrix.dims[2]}),
                          .operands = operands[0].dtype,
                          .results = tensor.dtype()};
    auto product = make_matmul(rows, lowering.workers());
    if (!product) return false;
    const PlacedValue input = lowering.ordered(operands[0], input_order, stage);
    const BufferId patches = emit_patches(lowering, shape, input, stage);
    const BufferId result = lowering.make_result(tensor, result_order);
    Kernel together;
    if (is_shared && lowering.may_run_together(stage, {lowering.value_of(tensor)}))
        together = make_kernel_together(lowering, rows, *product);
    if (together) lowering.want_together();
    Step step =
        lowering.library_step(stage, step_name("convolution " + product->name, tensor.shape()),
                              *product, {patches, matrix.value.buffer}, result);
    step.together = std::move(together);
    lowering.emit(stage, std::move(step));
    return true;
}

}    // namespace slipway
