#include "executor/codegen/onednn/widened.h"

#include "executor/codegen/kernels/round.h"

namespace slipway::onednn {

namespace {

/// Elements of the buffer from its start to the view's last.
std::int64_t span_of(const View& view) {
    std::int64_t last = view.offset;
    for (std::size_t i = 0; i < view.dims.size(); ++i)
        last += (view.dims[i] - 1) * view.strides[i];
    return last + 1;
}

/// Scratch memory: the operands, the result when it is rounded, the product's own.
struct Widened {
    Kernel product;
    std::array<std::int64_t, 2> read_counts{};
    std::int64_t result_count = 0;
    bool rounds = false;
    std::array<std::int64_t, 4> offsets{};
    std::int64_t scratch_bytes = 0;

    void run(const KernelCall& call) const {
        std::byte* const scratch = call.writes[1];
        const std::array<const std::byte*, 2> reads{scratch + offsets[0], scratch + offsets[1]};
        for (std::size_t i = 0; i < reads.size(); ++i)
            widen(call.reads[i], scratch + offsets[i], read_counts[i]);
        const std::array writes{rounds ? scratch + offsets[2] : call.writes[0],
                                scratch + offsets[3]};
        product({.reads = reads, .writes = writes, .begin = 0, .end = 0, .worker = call.worker});
        if (rounds) round_to_bf16(writes[0], call.writes[0], result_count);
    }
};

}    // namespace

LibraryKernel widened(const LibraryKernel& product, const ProductViews& views, DType result) {
    constexpr std::int64_t alignment = 64, wide = sizeof(float);
    Widened plan{.product = product.kernel,
                 .read_counts = {span_of(views.reads[0]), span_of(views.reads[1])},
                 .result_count = span_of(views.result),
                 .rounds = result == DType::bf16};
    const std::array sizes{wide * plan.read_counts[0], wide * plan.read_counts[1],
                           plan.rounds ? wide * plan.result_count : 0, product.scratch_bytes};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        plan.offsets[i] = plan.scratch_bytes;
        plan.scratch_bytes += (sizes[i] + alignment - 1) / alignment * alignment;
    }
    return {.kernel = [plan](const KernelCall& call) { plan.run(call); },
            .scratch_bytes = plan.scratch_bytes,
            .name = product.name + " widened",
            .packing = {}};
}

}    // namespace slipway::onednn
