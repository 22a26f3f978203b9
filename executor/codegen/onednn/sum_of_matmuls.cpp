#include "executor/codegen/onednn/sum_of_matmuls.h"

#include <algorithm>
#include <array>

#include "executor/codegen/onednn/gemm.h"
#include "executor/codegen/onednn/matmul_views.h"

namespace slipway {

namespace {

/// Kernels for some rows of the result: of the first core, and of each that is added.
struct RowsKernels {
    LibraryKernel first, further;

    std::int64_t scratch_bytes() const {
        constexpr std::int64_t alignment = 64;
        const std::int64_t bytes = std::max(first.scratch_bytes, further.scratch_bytes);
        return (bytes + alignment - 1) / alignment * alignment;
    }

    void run(const KernelCall& call, std::int64_t lhs_offset) const {
        const std::size_t cores = call.reads.size() / 2;
        for (std::size_t core = 0; core < cores; ++core) {
            const std::array reads{call.reads[core] + lhs_offset, call.reads[cores + core]};
            const LibraryKernel& kernel = core == 0 ? first : further;
            kernel.kernel({.reads = reads, .writes = call.writes, .worker = call.worker});
        }
    }
};

std::optional<RowsKernels> make_rows(MatmulSpec spec, std::int64_t rows, int workers) {
    const std::size_t row = spec.result.dims.size() - 2;
    spec.lhs.dims[row] = spec.result.dims[row] = rows;
    spec.packs_rhs = spec.adds = false;
    auto first = make_matmul(spec, workers);
    spec.adds = true;
    auto further = make_matmul(spec, workers);
    if (!first || !further) return {};
    return RowsKernels{std::move(*first), std::move(*further)};
}

/// How many rows of a result with so many to compute at once: as many as stay in the caches until
/// the next product is added to them, a multiple of the routine's own 48, but enough blocks for
/// four workers. Measured in bf16 inside a step, ms of all (GPT-2's 128 rows a core, BERT base's
/// 512):
///   96 rows  221  689    128  231  696    192  223  674    384  215  651
std::int64_t rows_at_once(std::int64_t rows) {
    constexpr std::int64_t blocks_min = 4, step = 16, few = 32, many = 192;
    return std::clamp((rows / blocks_min + step - 1) / step * step, few, many);
}

}    // namespace

/// In blocks that are the same whoever computes them: with another number of rows the library
/// multiplies in another way, and other bits come out.
std::optional<SumOfMatmuls> make_sum_of_matmuls(const MatmulSpec& spec, int workers) {
    const auto views = onednn::usable_views(spec);
    if (!views || views->result.dims.size() != 2 || spec.results != DType::f32) return {};
    const std::size_t row = spec.result.dims.size() - 2;
    const std::int64_t rows = spec.result.dims[row];
    const std::int64_t block_rows = rows_at_once(rows);
    const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
    auto block = make_rows(spec, std::min(rows, block_rows), workers);
    auto last = make_rows(spec, rows - (blocks - 1) * block_rows, workers);
    if (!block || !last) return {};
    const auto bytes_of_block = [&](const View& view, DType dtype) {
        return block_rows * view.strides[row] * std::int64_t(size_in_bytes(dtype));
    };
    const std::int64_t lhs_step = bytes_of_block(spec.lhs, spec.operands);
    const std::int64_t result_step = bytes_of_block(spec.result, spec.results);
    const std::int64_t scratch_bytes = std::max(block->scratch_bytes(), last->scratch_bytes());
    SumOfMatmuls sum{.kernel = {.kernel = {},
                                .scratch_bytes = scratch_bytes * workers,
                                .name = block->first.name,
                                .packing = {}},
                     .elements = blocks};
    sum.kernel.kernel = [=, block = std::move(*block),
                         last = std::move(*last)](const KernelCall& call) {
        // Without scratch memory this is the result, and nobody's.
        std::byte* const scratch = call.writes.back() + call.worker * scratch_bytes;
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            const std::array writes{call.writes[0] + i * result_step, scratch};
            (i + 1 < blocks ? block : last)
                .run({.reads = call.reads, .writes = writes, .worker = call.worker}, i * lhs_step);
        }
    };
    return sum;
}

}    // namespace slipway
