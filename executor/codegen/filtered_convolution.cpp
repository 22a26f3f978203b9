// A block's windows are transformed, multiplied plane by plane, and transformed back. Whether that
// pays was measured by size and type (filtering_cut.cpp), and the direct convolution is taken where
// it does not. Gradients of weights of few tiles are not multiplied plane by plane: a block of
// weights is multiplied and transformed back at once (docs/decisions/0094). The cut depends on
// shapes alone, so bits do not depend on the number of workers.
#include "executor/codegen/filtered_convolution.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "executor/codegen/kernels/minimal_filtering.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {

namespace {

LibraryLayout layout_of(const Filtering& filtering, std::string_view name) {
    const View& weights = filtering.weights;
    LibraryLayout layout{{}, planes_bytes(weights.dims[0], weights.dims[1])};
    for (const char letter : name)
        layout.description.push_back(std::byte(letter));
    return layout;
}

/// G w G' of all weights.
template <class Operand>
Packing packing_of(const Filtering& filtering, int workers) {
    const View& weights = filtering.weights;
    LibraryLayout plain = layout_of(filtering, "weights");
    for (const Dims* numbers : {&weights.dims, &weights.strides})
        for (const std::int64_t number : *numbers)
            for (std::size_t byte = 0; byte < sizeof number; ++byte)
                plain.description.push_back(std::byte(number >> (8 * byte)));
    return {.layout = layout_of(filtering, "filtered"),
            .kernel =
                [weights](const KernelCall& call) {
                    std::byte* const held = call.writes[1] + call.worker * filtered_held_bytes;
                    transform_weights(weights, {call.begin, call.end},
                                      array_at<Operand>(call.reads[0]),
                                      array_at<float>(call.writes[0]), array_at<float>(held));
                },
            .scratch_bytes = workers * filtered_held_bytes,
            .elements = weights_parts(weights),
            .plain = plain,
            .plain_offset = weights.offset};
}

/// A convolution and how it is cut.
struct Plan : FilteringPlan {
    Plan(const ConvolutionSpec& spec, const FilteringLimits& limits)
        : FilteringPlan{filtering_of(spec), {}} {
        cut = cut_of(filtering, filtering_limits_for(spec, limits));
    }

    View weights() const { return planes_view(filtering.windows.channels, cut.results_at_once); }
};

/// The parts of a kernel's scratch memory; the rest is for products and transforms of weights.
struct Scratch {
    std::byte *windows, *tiles, *weights, *rest;

    /// `weights_bytes`: 0 where they come transformed.
    Scratch(const Plan& plan, std::int64_t weights_bytes, std::byte* begin)
        : windows(begin),
          tiles(windows + plan.cut.blocks_kept() * planes_bytes(plan.windows())),
          weights(tiles + planes_bytes(plan.tiles())),
          rest(weights + weights_bytes) {}

    static std::int64_t bytes(const Plan& plan, std::int64_t weights_bytes,
                              std::int64_t product_bytes) {
        return plan.cut.blocks_kept() * planes_bytes(plan.windows()) + planes_bytes(plan.tiles()) +
               weights_bytes + std::max(filtered_held_bytes, product_bytes);
    }
};

/// Calls body(block, its windows, transformed) for the blocks of a slice.
template <class Operand>
void for_each_block(const Plan& plan, const FilteringSlice& slice, const Operand* images,
                    std::byte* windows, const auto& body) {
    for (std::int64_t i = 0; i < plan.cut.blocks(); ++i) {
        const TileBlock block = plan.cut.block(i);
        std::byte* const kept = windows + i % plan.cut.blocks_kept() * planes_bytes(plan.windows());
        if (slice.first == 0)
            transform_windows(plan.filtering.windows, block, images, array_at<float>(kept));
        body(block, kept);
    }
}

/// Forward, or the gradient of the images.
template <class Operand, class Result>
std::optional<LibraryKernel> make_images(const Plan& plan, int workers) {
    const auto product = make_matmul(
        {.lhs = plan.windows(), .rhs = plan.weights(), .result = plan.tiles()}, workers);
    if (!product) return {};
    const bool is_packed = plan.cut.slices == 1;
    const std::int64_t weights_bytes = is_packed ? 0 : planes_bytes(plan.weights());
    const auto run = [=, product = *product](const KernelCall& call) {
        const Scratch scratch(plan, weights_bytes, call.writes[1]);
        for (std::int64_t i = 0; i < plan.cut.slices; ++i) {
            const FilteringSlice slice = slice_of(plan.filtering, plan.cut, i);
            if (!is_packed)
                transform_weights(slice.weights, array_at<Operand>(call.reads[1]),
                                  array_at<float>(scratch.weights), array_at<float>(scratch.rest));
            const std::byte* const weights = is_packed ? call.reads[1] : scratch.weights;
            for_each_block(plan, slice, array_at<Operand>(call.reads[0]), scratch.windows,
                           [&](const TileBlock& block, const std::byte* windows) {
                               multiply_planes(product, call.worker, windows, weights,
                                               scratch.tiles, scratch.rest);
                               restore_tiles(slice.tiles, block, array_at<float>(scratch.tiles),
                                             array_at<Result>(call.writes[0]) + slice.first);
                           });
        }
    };
    return LibraryKernel{
        .kernel = run,
        .scratch_bytes = Scratch::bytes(plan, weights_bytes, product->scratch_bytes),
        .name = "filtered " + product->name,
        .packing =
            is_packed ? std::optional(packing_of<Operand>(plan.filtering, workers)) : std::nullopt};
}

/// The planes of x and dy where all tiles and channels are done at once.
std::int64_t gradient_planes_bytes(const Plan& plan) {
    return planes_bytes(plan.windows()) + planes_bytes(plan.tiles());
}

/// The gradient of weights of few tiles: a block of results is transformed back as soon as it has
/// been multiplied. us of one thread, as below / this: one image of 14x14, 32 to 64 channels 28 /
/// 23, four 81 / 70; of 16x16, 64 to 64, one 50 / 41, four 132 / 123; 128 to 128, one 177 / 154,
/// two 270 / 268, three (1.9 MB of planes) 378 / 398, four 466 / 530.
template <class Operand, class Result>
LibraryKernel make_weights_at_once(const Plan& plan) {
    const auto run = [=](const KernelCall& call) {
        const Scratch scratch(plan, 0, call.writes[1]);
        const Filtering& filtering = plan.filtering;
        const std::int64_t count = plan.cut.tiles;
        const TileBlock block{0, count, count, plan.cut.rows};
        transform_windows(filtering.windows, block, array_at<Operand>(call.reads[0]),
                          array_at<float>(scratch.windows));
        transform_tiles(filtering.tiles, block, array_at<Operand>(call.reads[1]),
                        array_at<float>(scratch.tiles));
        multiply_and_restore(transposed_view(filtering.weights, {1, 0, 2, 3}),
                             {.tiles = array_at<float>(scratch.tiles),
                              .windows = array_at<float>(scratch.windows),
                              .count = count,
                              .rows = plan.cut.rows},
                             array_at<Result>(call.writes[0]));
    };
    return {.kernel = run,
            .scratch_bytes = gradient_planes_bytes(plan),
            .name = "filtered",
            .packing = {}};
}

template <class Operand, class Result>
std::optional<LibraryKernel> make_weights(const Plan& plan, const FilteringLimits& limits,
                                          int workers) {
    if (plan.cut.blocks() == 1 && plan.cut.slices == 1 &&
        gradient_planes_bytes(plan) <= limits.gradient_planes_bytes_max)
        return make_weights_at_once<Operand, Result>(plan);
    const auto first = make_gradient_product(plan, false, workers);
    const auto next = plan.cut.blocks() == 1 ? first : make_gradient_product(plan, true, workers);
    if (!first || !next) return {};
    const std::int64_t weights_bytes = planes_bytes(plan.weights());
    const auto run = [=, first = *first, next = *next](const KernelCall& call) {
        const Scratch scratch(plan, weights_bytes, call.writes[1]);
        for (std::int64_t i = 0; i < plan.cut.slices; ++i) {
            const FilteringSlice slice = slice_of(plan.filtering, plan.cut, i);
            for_each_block(plan, slice, array_at<Operand>(call.reads[0]), scratch.windows,
                           [&](const TileBlock& block, const std::byte* windows) {
                               transform_tiles(slice.tiles, block,
                                               array_at<Operand>(call.reads[1]) + slice.first,
                                               array_at<float>(scratch.tiles));
                               multiply_planes(block.first == 0 ? first : next, call.worker,
                                               scratch.tiles, windows, scratch.weights,
                                               scratch.rest);
                           });
            restore_weights(transposed_view(slice.weights, {1, 0, 2, 3}),
                            array_at<float>(scratch.weights), array_at<Result>(call.writes[0]),
                            array_at<float>(scratch.rest));
        }
    };
    const std::int64_t product_bytes = std::max(first->scratch_bytes, next->scratch_bytes);
    return LibraryKernel{.kernel = run,
                         .scratch_bytes = Scratch::bytes(plan, weights_bytes, product_bytes),
                         .name = "filtered " + first->name,
                         .packing = {}};
}

template <class Operand, class Result>
std::optional<LibraryKernel> make_of(const ConvolutionSpec& spec, const FilteringLimits& limits,
                                     int workers) {
    const Plan plan(spec, limits);
    return spec.kind == ConvolutionKind::backward_weights
               ? make_weights<Operand, Result>(plan, limits, workers)
               : make_images<Operand, Result>(plan, workers);
}

}    // namespace

std::optional<LibraryKernel> make_filtered_convolution(const ConvolutionSpec& spec, int workers,
                                                       const FilteringLimits& limits) {
    if (!filtering_applies(spec, limits) || !filtering_pays(spec, filtering_of(spec), limits))
        return {};
    const bool is_wide = spec.results == DType::f32;
    if (spec.operands == DType::f32)
        return is_wide ? make_of<float, float>(spec, limits, workers)
                       : make_of<float, BFloat16>(spec, limits, workers);
    return is_wide ? make_of<BFloat16, float>(spec, limits, workers)
                   : make_of<BFloat16, BFloat16>(spec, limits, workers);
}

}    // namespace slipway
