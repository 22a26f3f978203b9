#include "executor/codegen/joined_gradient.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "executor/codegen/convolutions.h"
#include "executor/codegen/filtered_gradient.h"
#include "executor/codegen/kernels/minimal_filtering.h"
#include "executor/codegen/kernels/patches.h"

// With few images for each core the gradient of the weights is written once for each core and read
// again to be added up, which takes longer than its multiplications. So the dy and the patches of
// all cores are put one after the other, and dy^T times the patches is one product
// (stacked_product.h).
namespace slipway {

namespace {

const ConvolutionAttributes& attributes_of(const Tensor& tensor) {
    return std::get<ConvolutionAttributes>(tensor.node().attributes);
}

/// The physical order of a product's rows, [o, window..., c], in the node's dims.
Dims order_of_rows(const Tensor& tensor) {
    const Dims& layout = attributes_of(tensor).output_layout;    // (c, o, window...)
    Dims order{layout[1]};
    order.insert(order.end(), layout.begin() + 2, layout.end());
    order.push_back(layout[0]);
    return order;
}

Kernel make_gather(const PatchShape& shape, const ConvolutionSpec& spec) {
    const auto size = std::int64_t(size_in_bytes(spec.operands));
    const std::int64_t patch_bytes = shape.row_count() * shape.row_elements() * size;
    const std::int64_t result_bytes = shape.row_count() * spec.y.dims[1] * size;
    return [=, patches = make_patches(shape, spec.operands)](const KernelCall& call) {
        const auto cores = call.reads.size() / 2;
        for (std::int64_t core = call.begin; core < call.end; ++core) {
            const std::array reads{call.reads[cores + std::size_t(core)]};
            patches({.reads = reads, .writes = std::array{call.writes[1] + core * patch_bytes}});
            std::memcpy(call.writes[0] + core * result_bytes, call.reads[std::size_t(core)],
                        std::size_t(result_bytes));
        }
    };
}

bool are_few(const PatchShape& positions, const ConvolutionSpec& spec) {
    return 2 * positions.row_count() <= spec.y.dims[1];
}

bool is_filtered_window(const PatchShape& shape) {
    const auto is = [](const auto& extents, std::int64_t extent) {
        return std::ranges::count(extents, extent) == 2;
    };
    return is(shape.windows, 3) && is(shape.strides, 1) && is(shape.dilations, 1) &&
           shape.channels % filtered_channels == 0;
}

/// The node read as the gradient of weights of channels-last images that lie dense.
std::optional<ConvolutionSpec> gradient_of(const Tensor& tensor) {
    const ConvolutionAttributes& attributes = attributes_of(tensor);
    const ConvolutionViews views{dense_view(tensor.node().operands[0].dims()),
                                 dense_view(tensor.node().operands[1].dims()),
                                 dense_view(tensor.dims())};
    if (convolution_kinds(views, attributes).front() != ConvolutionKind::backward_weights)
        return {};
    return convolution_spec(ConvolutionKind::backward_weights, views, attributes);
}

}    // namespace

bool pays_to_join_gradient(const Tensor& tensor) {
    if (tensor.node().op != OpCode::convolution || tensor.dtype() != DType::f32) return false;
    const auto spec = gradient_of(tensor);
    if (!spec || spec->strides.size() != 2 || spec->w.dims[0] != 1) return false;
    const Dims& layout = attributes_of(tensor).output_layout;
    if (layout[1] != 0) return false;    // a block of features is no piece of the gradient
    const PatchShape shape = patch_shape_of(*spec);
    // One image of 14x14 with 32 and 64 channels is 2 % larger than the weights.
    const std::int64_t bytes_max = tensor.shape().byte_count() * 9 / 8;
    std::int64_t operand_bytes = 0;
    for (const Tensor& operand : tensor.node().operands)
        operand_bytes += operand.shape().byte_count();
    return shape.row_count() > 0 && (are_few(shape, *spec) || is_filtered_window(shape)) &&
           operand_bytes <= bytes_max;
}

std::optional<StackedGradient> make_joined_gradient(const ConvolutionSpec& spec,
                                                    const Tensor& tensor, int cores, int workers) {
    if (auto filtered = make_filtered_gradient(spec, cores, workers)) return filtered;
    const PatchShape shape = patch_shape_of(spec);
    if (!are_few(shape, spec)) return {};
    const StackedRows stacked{.rows = cores * shape.row_count(),
                              .features = spec.y.dims[1],
                              .columns = shape.row_elements(),
                              .operands = spec.operands,
                              .results = tensor.dtype()};
    const auto lying = [&](std::int64_t features) {
        Dims dims = tensor.dims();
        dims[0] = features;
        return ordered_view(dims, order_of_rows(tensor));
    };
    auto product = make_stacked_product(stacked, lying, workers);
    if (!product) return {};
    product->kernel.name = "patches " + product->kernel.name;
    return StackedGradient{.gather = make_gather(shape, spec),
                           .left = Shape{spec.operands, {stacked.rows, stacked.features}},
                           .right = {spec.operands, {stacked.rows, stacked.columns}},
                           .product = std::move(*product)};
}

}    // namespace slipway
