#include "executor/codegen/joined_gradient.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "executor/codegen/convolutions.h"
#include "executor/codegen/kernels/patches.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/codegen/onednn/reorder.h"

// With few images for each core the gradient of the weights is written once for each core and read
// again to be added up, which takes longer than its multiplications. So the patches and the dy of
// all cores are put one after the other, and dy^T times the patches is one product whose terms are
// the positions of core 0, then core 1, and so on. The workers share its rows, the output features,
// in blocks that are the same whoever computes them (docs/decisions/0016). Each block is put into
// the order of the weights while it is in a cache.
namespace slipway {

namespace {

constexpr std::int64_t line = 64;

std::int64_t in_lines(std::int64_t bytes) {
    return (bytes + line - 1) / line * line;
}

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

std::int64_t features_at_once(std::int64_t features) {
    constexpr std::int64_t blocks_min = 4, step = 16, few = 32, many = 128;
    return std::clamp((features / blocks_min + step - 1) / step * step, few, many);
}

/// Some output features of the gradient: their product, and what puts it into the order of the
/// weights; none: it is in that order.
struct FeatureBlock {
    LibraryKernel product;
    std::optional<LibraryKernel> arrange;
    std::int64_t product_bytes = 0;    ///< of scratch memory, before it is arranged

    std::int64_t scratch_bytes() const {
        return in_lines(product_bytes) + in_lines(product.scratch_bytes) +
               (arrange ? in_lines(arrange->scratch_bytes) : 0);
    }

    void run(const KernelCall& call) const {
        std::byte* const scratch = call.writes[1];
        std::byte* const made = arrange ? scratch : call.writes[0];
        std::byte* const rest = scratch + in_lines(product_bytes);
        product.kernel(
            {.reads = call.reads, .writes = std::array{made, rest}, .worker = call.worker});
        if (!arrange) return;
        const std::array<const std::byte*, 1> reads{made};
        arrange->kernel(
            {.reads = reads,
             .writes = std::array{call.writes[0], rest + in_lines(product.scratch_bytes)},
             .worker = call.worker});
    }
};

struct Extents {
    std::int64_t positions;    ///< of all cores
    std::int64_t features, row_elements;
};

std::optional<FeatureBlock> make_block(const ConvolutionSpec& spec, const Tensor& tensor,
                                       const Extents& all, std::int64_t features, int workers) {
    auto product = make_matmul({.lhs = {{features, all.positions}, {1, all.features}, 0},
                                .rhs = dense_view({all.positions, all.row_elements}),
                                .result = dense_view({features, all.row_elements}),
                                .operands = spec.operands,
                                .results = spec.results},
                               workers);
    if (!product) return {};
    FeatureBlock block{.product = std::move(*product), .arrange = {}};
    Dims dims = tensor.dims();
    dims[0] = features;
    const View lying = ordered_view(dims, order_of_rows(tensor));
    if (is_dense(lying)) return block;
    block.arrange = make_reorder(lying, tensor.dtype(), workers);
    if (!block.arrange) return {};
    block.product_bytes = features * all.row_elements * std::int64_t(size_in_bytes(tensor.dtype()));
    return block;
}

Kernel make_gather(const PatchShape& shape, const ConvolutionSpec& spec) {
    const auto size = std::int64_t(size_in_bytes(spec.operands));
    const std::int64_t patch_bytes = shape.row_count() * shape.row_elements() * size;
    const std::int64_t result_bytes = shape.row_count() * spec.y.dims[1] * size;
    return [=, patches = make_patches(shape, spec.operands)](const KernelCall& call) {
        const auto cores = call.reads.size() / 2;
        for (std::int64_t core = call.begin; core < call.end; ++core) {
            const std::array reads{call.reads[std::size_t(core)]};
            patches({.reads = reads, .writes = std::array{call.writes[0] + core * patch_bytes}});
            std::memcpy(call.writes[1] + core * result_bytes, call.reads[cores + std::size_t(core)],
                        std::size_t(result_bytes));
        }
    };
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
    std::int64_t operand_bytes = 0;
    for (const Tensor& operand : tensor.node().operands)
        operand_bytes += operand.shape().byte_count();
    return shape.row_count() > 0 && 2 * shape.row_count() <= spec->y.dims[1] &&
           operand_bytes <= tensor.shape().byte_count();
}

std::optional<JoinedGradient> make_joined_gradient(const ConvolutionSpec& spec,
                                                   const Tensor& tensor, int cores, int workers) {
    const PatchShape shape = patch_shape_of(spec);
    const Extents all{cores * shape.row_count(), spec.y.dims[1], shape.row_elements()};
    const std::int64_t block_features = std::min(all.features, features_at_once(all.features));
    const std::int64_t blocks = (all.features + block_features - 1) / block_features;
    auto block = make_block(spec, tensor, all, block_features, workers);
    auto last =
        make_block(spec, tensor, all, all.features - (blocks - 1) * block_features, workers);
    if (!block || !last) return {};
    const std::int64_t scratch_bytes = std::max(block->scratch_bytes(), last->scratch_bytes());
    const std::int64_t lhs_step = block_features * std::int64_t(size_in_bytes(spec.operands));
    const std::int64_t result_step =
        block_features * all.row_elements * std::int64_t(size_in_bytes(tensor.dtype()));
    JoinedGradient joined{.gather = make_gather(shape, spec),
                          .patches = {spec.operands, {all.positions, all.row_elements}},
                          .results = {spec.operands, {all.positions, all.features}},
                          .product = {.kernel = {},
                                      .scratch_bytes = scratch_bytes * workers,
                                      .name = "patches " + block->product.name,
                                      .packing = {}},
                          .elements = blocks};
    joined.product.kernel = [=, block = std::move(*block),
                             last = std::move(*last)](const KernelCall& call) {
        std::byte* const scratch = call.writes.back() + call.worker * scratch_bytes;
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            const std::array<const std::byte*, 2> reads{call.reads[1] + i * lhs_step,
                                                        call.reads[0]};
            (i + 1 < blocks ? block : last)
                .run({.reads = reads,
                      .writes = std::array{call.writes[0] + i * result_step, scratch},
                      .worker = call.worker});
        }
    };
    return joined;
}

}    // namespace slipway
