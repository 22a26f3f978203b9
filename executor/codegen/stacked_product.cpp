#include "executor/codegen/stacked_product.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "executor/codegen/onednn/matmul.h"
#include "executor/codegen/onednn/reorder.h"

// One product whose terms are the rows of core 0, then core 1, and so on. The workers share the
// features, in blocks that are the same whoever computes them (docs/decisions/0016). Each block is
// put into the order in which it is wanted while it is in a cache. Rows of a product are as wide as
// its left matrix, gradients of logits as wide as a vocabulary: a block copies what it needs of
// each core's, so that the whole matrix is nowhere a second time.
namespace slipway {

namespace {

std::int64_t in_lines(std::int64_t bytes) {
    constexpr std::int64_t line = 64;
    return (bytes + line - 1) / line * line;
}

std::int64_t features_at_once(std::int64_t features) {
    constexpr std::int64_t blocks_min = 4, step = 16, few = 32, many = 128;
    return std::min(features,
                    std::clamp((features / blocks_min + step - 1) / step * step, few, many));
}

/// Some features: their product, and what puts it in order; none: it is.
struct FeatureBlock {
    LibraryKernel product;
    std::optional<LibraryKernel> arrange;
    std::int64_t product_bytes = 0;    ///< of scratch memory, before it is arranged
    std::int64_t copied_bytes = 0;     ///< of scratch memory: of the left matrix

    std::int64_t scratch_bytes() const {
        return in_lines(copied_bytes) + in_lines(product_bytes) + in_lines(product.scratch_bytes) +
               (arrange ? in_lines(arrange->scratch_bytes) : 0);
    }

    void run(const KernelCall& call) const {
        std::byte* const scratch = call.writes[1] + in_lines(copied_bytes);
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

std::optional<FeatureBlock> make_block(const StackedRows& stacked, std::int64_t features,
                                       const std::function<View(std::int64_t)>& lying,
                                       int workers) {
    const std::int64_t left_width = stacked.left_cores > 0 ? features : stacked.features;
    auto product = make_matmul({.lhs = {{features, stacked.rows}, {1, left_width}, 0},
                                .rhs = dense_view({stacked.rows, stacked.columns}),
                                .result = dense_view({features, stacked.columns}),
                                .operands = stacked.operands,
                                .results = stacked.results},
                               workers);
    if (!product) return {};
    FeatureBlock block{.product = std::move(*product), .arrange = {}};
    if (stacked.left_cores > 0)
        block.copied_bytes =
            features * stacked.rows * std::int64_t(size_in_bytes(stacked.operands));
    if (!lying) return block;
    const View view = lying(features);
    if (is_dense(view)) return block;
    block.arrange = make_reorder(view, stacked.results, workers);
    if (!block.arrange) return {};
    block.product_bytes = features * stacked.columns * std::int64_t(size_in_bytes(stacked.results));
    return block;
}

/// Some features of all cores' rows, one core's after the other's.
void copy_features(std::span<const std::byte* const> cores, std::int64_t rows_of_core,
                   std::int64_t row_bytes, std::int64_t offset, std::int64_t bytes, std::byte* to) {
    for (const std::byte* const core : cores)
        for (std::int64_t row = 0; row < rows_of_core; ++row, to += bytes)
            std::memcpy(to, core + row * row_bytes + offset, std::size_t(bytes));
}

}    // namespace

std::optional<StackedProduct> make_stacked_product(
    const StackedRows& stacked, const std::function<View(std::int64_t features)>& lying,
    int workers) {
    const std::int64_t block_features = features_at_once(stacked.features);
    const std::int64_t blocks = (stacked.features + block_features - 1) / block_features;
    auto block = make_block(stacked, block_features, lying, workers);
    auto last =
        make_block(stacked, stacked.features - (blocks - 1) * block_features, lying, workers);
    if (!block || !last) return {};
    const std::int64_t scratch_bytes = std::max(block->scratch_bytes(), last->scratch_bytes());
    const auto operand_bytes = std::int64_t(size_in_bytes(stacked.operands));
    const std::int64_t left_step = block_features * operand_bytes;
    const std::int64_t row_bytes = stacked.features * operand_bytes;
    const std::int64_t result_step =
        block_features * stacked.columns * std::int64_t(size_in_bytes(stacked.results));
    StackedProduct product{.kernel = {.kernel = {},
                                      .scratch_bytes = scratch_bytes * workers,
                                      .name = block->product.name,
                                      .packing = {}},
                           .elements = blocks};
    product.kernel.kernel = [=, block = std::move(*block),
                             last = std::move(*last)](const KernelCall& call) {
        // Without scratch memory this is the result, and nobody's.
        std::byte* const scratch = call.writes.back() + call.worker * scratch_bytes;
        const auto cores = call.reads.first(std::size_t(stacked.left_cores));
        const std::byte* const right =
            call.reads[cores.empty() ? call.reads.size() / 2 : cores.size()];
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            const FeatureBlock& some = i + 1 < blocks ? block : last;
            const std::byte* left = call.reads.front() + i * left_step;
            if (!cores.empty()) {
                copy_features(cores, stacked.rows / stacked.left_cores, row_bytes, i * left_step,
                              some.copied_bytes / stacked.rows, scratch);
                left = scratch;
            }
            const std::array<const std::byte*, 2> reads{left, right};
            some.run({.reads = reads,
                      .writes = std::array{call.writes[0] + i * result_step, scratch},
                      .worker = call.worker});
        }
    };
    return product;
}

}    // namespace slipway
