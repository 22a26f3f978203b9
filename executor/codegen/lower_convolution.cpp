#include <algorithm>

#include "executor/codegen/convolutions.h"
#include "executor/codegen/filtered_convolution.h"
#include "executor/codegen/joined_gradient.h"
#include "executor/codegen/kernels/naive.h"
#include "executor/codegen/kernels/patches.h"
#include "executor/codegen/kernels/single_channel.h"
#include "executor/codegen/lower_patches.h"
#include "executor/codegen/lower_stacked.h"
#include "executor/codegen/lowering.h"
#include "executor/codegen/onednn/reorder.h"
#include "executor/codegen/patch_gradient.h"
#include "executor/codegen/products.h"
#include "executor/codegen/together.h"

/// Convolution: primitives of the library over channels-last images and packed weights, plain loops
/// for what it does not take.
namespace slipway {

namespace {

const ConvolutionAttributes& attributes_of(const Tensor& tensor) {
    return std::get<ConvolutionAttributes>(tensor.node().attributes);
}

/// In the gradient of the weights batch and feature have changed roles.
Dims with_first_two_swapped(Dims layout) {
    std::swap(layout[0], layout[1]);
    return layout;
}

/// The physical orders in which a convolution of some kind has its images; weights have none.
struct Orders {
    std::optional<Dims> input, kernel, result;
};

Orders orders_of(ConvolutionKind kind, const ConvolutionAttributes& a) {
    if (kind == ConvolutionKind::backward_weights)
        return {channels_last(with_first_two_swapped(a.input_layout)),
                channels_last(with_first_two_swapped(a.kernel_layout)),
                {}};
    return {channels_last(a.input_layout), {}, channels_last(a.output_layout)};
}

View arranged(const View& view, const std::optional<Dims>& order) {
    return order ? ordered_view(view.dims, *order) : view;
}

void emit_weights_gradient(Lowering& lowering, const Tensor& tensor, const LibraryKernel& kernel,
                           std::vector<BufferId> reads) {
    std::string name = step_name("convolution " + kernel.name, tensor.shape());
    if (kernel.packing)
        lowering.emit_packed(tensor, std::move(name), kernel, std::move(reads));
    else
        lowering.emit(lowering.facts(tensor).stage, std::move(name), kernel, std::move(reads),
                      lowering.make_result(tensor));
}

/// The gradient of the weights by products with patches; it lies as [o, window..., c] until after
/// the sum over the cores. False where that is not the best.
bool emit_patch_gradient(Lowering& lowering, const Tensor& tensor, const ConvolutionSpec& spec,
                         const Orders& orders, const std::array<PlacedValue, 2>& operands) {
    auto gradient = make_patch_gradient(spec, lowering.workers());
    if (!gradient) return false;
    // The roles of the result's dimensions are (c, o, window...).
    const Dims& layout = attributes_of(tensor).output_layout;
    const View lying = ordered_view(tensor.dims(), channels_last(with_first_two_swapped(layout)));
    if (!is_dense(lying)) {
        const auto plain = make_reorder(lying, tensor.dtype(), lowering.workers());
        if (!plain) return false;
        gradient->packing = Packing{.layout = {{}, tensor.shape().byte_count()},
                                    .kernel = plain->kernel,
                                    .scratch_bytes = plain->scratch_bytes};
    }
    const int stage = lowering.facts(tensor).stage;
    emit_weights_gradient(lowering, tensor, *gradient,
                          {lowering.ordered(operands[0], *orders.input, stage).buffer,
                           lowering.ordered(operands[1], *orders.kernel, stage).buffer});
    return true;
}

/// The convolution, or the gradient of its weights, of images with one channel; nothing for others.
std::optional<LibraryKernel> single_channel(const ConvolutionSpec& spec) {
    const View& weights = spec.w;
    if (spec.strides.size() != 2 || weights.dims[0] != 1 ||
        spec.kind == ConvolutionKind::backward_data)
        return {};
    const SingleChannel convolution{
        .images = patch_shape_of(spec),
        .outputs = spec.y.dims[1],
        .weights = {{weights.dims[1], weights.dims[3], weights.dims[4]},
                    {weights.strides[1], weights.strides[3], weights.strides[4]},
                    weights.offset},
        .operands = spec.operands,
        .results = spec.results};
    if (!is_single_channel(convolution.images, convolution.outputs)) return {};
    const bool is_gradient = spec.kind == ConvolutionKind::backward_weights;
    if (is_gradient && spec.results != DType::f32) return {};
    return LibraryKernel{
        is_gradient ? make_single_channel_gradient(convolution) : make_single_channel(convolution),
        0,
        "one channel",
        {}};
}

/// The node as a convolution of this kind, its images in these orders.
std::optional<ConvolutionSpec> spec_of(const Tensor& tensor, ConvolutionKind kind,
                                       const Orders& orders,
                                       const std::array<PlacedValue, 2>& operands) {
    auto spec = convolution_spec(kind,
                                 {.input = arranged(operands[0].view, orders.input),
                                  .kernel = arranged(operands[1].view, orders.kernel),
                                  .result = arranged(dense_view(tensor.dims()), orders.result)},
                                 attributes_of(tensor));
    if (!spec) return {};
    spec->operands = operands[0].dtype;
    spec->results = tensor.dtype();
    spec->packs_weights = true;
    return spec;
}

/// The gradient of the weights over all cores, in the stage of its sum; nothing done where the
/// library does not take it.
bool emit_joined_gradient(Lowering& lowering, const Tensor& tensor,
                          const std::array<PlacedValue, 2>& operands) {
    const Orders orders = orders_of(ConvolutionKind::backward_weights, attributes_of(tensor));
    const auto spec = spec_of(tensor, ConvolutionKind::backward_weights, orders, operands);
    if (!spec || !lowering.batches_whole_blocks()) return false;
    auto gradient =
        make_joined_gradient(*spec, tensor, lowering.batched_cores(), lowering.workers());
    if (!gradient) return false;
    const int stage = lowering.facts(tensor).stage;
    const int core_stage = lowering.in_blocks() ? stage : stage - 1;
    const BufferId x = lowering.ordered(operands[0], *orders.input, core_stage).buffer;
    const BufferId y = lowering.ordered(operands[1], *orders.kernel, core_stage).buffer;
    const char* const gathered =
        gradient->product.kernel.name.starts_with("filtered") ? "planes" : "patches";
    emit_stacked(lowering, tensor, std::move(*gradient), {y, x}, {gathered, "convolution"},
                 row_major(tensor.dims().size()));
    return true;
}

/// What computes the replicas of a block at once, or nothing; the scratch memory is made large
/// enough for both.
Kernel make_kernel_together(const Lowering& lowering, const ConvolutionSpec& spec,
                            const FilteringLimits& limits, LibraryKernel& alone) {
    if (!pays_together(spec)) return {};
    if (lowering.only_plans()) return [](const KernelCall&) {};
    auto together =
        make_together(spec, alone, limits, lowering.replicas_together(), lowering.workers());
    if (!together) return {};
    alone.scratch_bytes = std::max(alone.scratch_bytes, together->scratch_bytes);
    return std::move(together->kernel);
}

/// A convolution that replicas compute together counts the tiles of four: as if two workers ran
/// them, however many do, as the bits may not depend on it. With more workers each call has fewer
/// tiles, and transforms large weights for them. ms of CPU time of a step with eight cores on 2, 4
/// and 8 workers, direct / filtered:
///   ResNet-18, 64 px, batch 8 (64 of 16x16)      96 90              136 131
///   ResNet-34, 128 px, batch 16 (256 of 8x8)    382 330   392 348   394 390
FilteringLimits limits_for(const Lowering& lowering, const ConvolutionSpec& spec, bool is_shared) {
    constexpr int together_max = 4;
    FilteringLimits limits;
    if (is_shared && spec.kind != ConvolutionKind::backward_weights && pays_together(spec))
        limits.tiles_min /= std::clamp(lowering.batched_cores() / 2, 1, together_max);
    return limits;
}

/// Computes the convolution as one of this kind; false when the library does not.
bool emit_kind(Lowering& lowering, const Tensor& tensor, ConvolutionKind kind,
               const std::array<PlacedValue, 2>& operands) {
    const int stage = lowering.facts(tensor).stage;
    const Orders orders = orders_of(kind, attributes_of(tensor));
    const auto spec = spec_of(tensor, kind, orders, operands);
    if (!spec) return false;
    const bool is_shared = lowering.is_shared(operands[1], stage);
    const FilteringLimits limits = limits_for(lowering, *spec, is_shared);
    auto primitive = make_filtered_convolution(*spec, lowering.workers(), limits);
    if (!primitive && kind == ConvolutionKind::backward_weights &&
        emit_patch_gradient(lowering, tensor, *spec, orders, operands))
        return true;
    if (!primitive) primitive = single_channel(*spec);
    if (!primitive) primitive = make_convolution(*spec, lowering.workers());
    if (!primitive) return false;
    const auto placed = [&](const PlacedValue& value, const std::optional<Dims>& order) {
        return order ? lowering.ordered(value, *order, stage) : value;
    };
    const PlacedValue input = placed(operands[0], orders.input);
    const PlacedValue kernel = placed(operands[1], orders.kernel);
    if (kind == ConvolutionKind::backward_weights) {
        emit_weights_gradient(lowering, tensor, *primitive, {input.buffer, kernel.buffer});
        return true;
    }
    const BufferId weights =
        primitive->packing ? lowering.packed(kernel, *primitive->packing, stage) : kernel.buffer;
    const BufferId result = lowering.make_result(tensor, *orders.result);
    Kernel together;
    if (is_shared && lowering.may_run_together(stage, {input, lowering.value_of(tensor)}))
        together = make_kernel_together(lowering, *spec, limits, *primitive);
    if (together && is_worth_memory(*spec)) lowering.want_together();
    Step step =
        lowering.library_step(stage, step_name("convolution " + primitive->name, tensor.shape()),
                              *primitive, {input.buffer, weights}, result);
    step.together = std::move(together);
    lowering.emit(stage, std::move(step));
    return true;
}

/// The first kind that the library takes; false when it takes none over these operands.
bool emit_primitive(Lowering& lowering, const Tensor& tensor,
                    const std::array<PlacedValue, 2>& operands) {
    const auto kinds = convolution_kinds(
        {operands[0].view, operands[1].view, dense_view(tensor.dims())}, attributes_of(tensor));
    const bool is_weights_gradient = kinds.front() == ConvolutionKind::backward_weights;
    if (!is_weights_gradient && emit_product_of_patches(lowering, tensor, operands)) return true;
    return std::ranges::any_of(
        kinds, [&](ConvolutionKind kind) { return emit_kind(lowering, tensor, kind, operands); });
}

}    // namespace

void lower_convolution(Lowering& lowering, const Tensor& tensor) {
    const ProductTypes types = product_types(tensor);
    const Tensor& input = tensor.node().operands[0];
    const Tensor& kernel = tensor.node().operands[1];
    if (lowering.facts(tensor).is_batched) {
        if (emit_joined_gradient(lowering, tensor,
                                 {lowering.value_of(input), lowering.value_of(kernel)}))
            return;
        lowering.unbatch(tensor);
    }
    const int stage = lowering.facts(tensor).stage;
    if (emit_primitive(lowering, tensor, {lowering.value_of(input), lowering.value_of(kernel)}))
        return;
    const PlacedValue dense_input = lowering.dense(lowering.value_of(input), stage);
    const PlacedValue dense_kernel = lowering.dense(lowering.value_of(kernel), stage);
    if (emit_primitive(lowering, tensor, {dense_input, dense_kernel})) return;
    const LibraryKernel loops{make_naive_convolution(input.dims(), kernel.dims(),
                                                     attributes_of(tensor), tensor.dims(), types),
                              0,
                              "loops",
                              {}};
    lowering.emit(stage, step_name("convolution loops", tensor.shape()), loops,
                  {dense_input.buffer, dense_kernel.buffer}, lowering.make_result(tensor));
}

}    // namespace slipway
