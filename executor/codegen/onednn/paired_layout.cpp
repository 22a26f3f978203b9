#include "executor/codegen/onednn/paired_layout.h"

#include <oneapi/dnnl/dnnl.h>

#include <cstring>

namespace slipway {

std::optional<PairedLayout> paired_layout(const LibraryLayout& layout) {
    dnnl_memory_desc_t matrix;
    if (layout.description.size() != sizeof matrix) return {};
    std::memcpy(&matrix, layout.description.data(), sizeof matrix);
    if (matrix.format_kind != dnnl_blocked || matrix.data_type != dnnl_bf16 || matrix.ndims != 2 ||
        matrix.offset0 != 0)
        return {};
    const dnnl_blocking_desc_t& blocks = matrix.format_desc.blocking;
    const bool is_paired =
        blocks.inner_nblks == 3 && blocks.inner_idxs[0] == 0 && blocks.inner_idxs[1] == 1 &&
        blocks.inner_idxs[2] == 0 && blocks.inner_blks[0] * 2 == PairedLayout::rows &&
        blocks.inner_blks[2] == 2 && blocks.inner_blks[1] % PairedLayout::paired_channels == 0;
    if (!is_paired) return {};
    return PairedLayout{.columns = blocks.inner_blks[1],
                        .row_block_step = blocks.strides[0],
                        .column_block_step = blocks.strides[1],
                        .byte_count = layout.byte_count};
}

}    // namespace slipway
