// A kernel for a block of rows is the kernel of the whole matrix over a window: extents are
// narrowed and every access is moved to the window's first row and column; values and their
// order stay, so each element has the bits that the whole kernel would give it. Zeros beyond a
// block are a kernel of constants over the same stores.
#include "executor/codegen/causal_block_kernels.h"

namespace slipway {

namespace {

/// Elements of the matrices: rows of a block, from this column on.
struct Window {
    RowBlock rows;
    std::int64_t first_column = 0, last_column = 0;
};

void move_to(LoopAccess& access, std::size_t row_loop, const Window& window) {
    access.offset +=
        access.strides[row_loop] * window.rows.first + access.strides.back() * window.first_column;
}

LoopKernel over_window(LoopKernel kernel, std::size_t row_loop, const Window& window) {
    kernel.extents[row_loop] = window.rows.last - window.rows.first;
    kernel.extents.back() = window.last_column - window.first_column;
    for (LoopValue& value : kernel.values)
        if (value.kind == LoopValueKind::load || value.kind == LoopValueKind::counter)
            move_to(value.access, row_loop, window);
    for (LoopStore& store : kernel.stores)
        move_to(store.to, row_loop, window);
    coalesce(kernel);
    // A call names no bounds: the kernel knows its own.
    kernel.flat = false;
    return kernel;
}

/// Stores zeros where the request wants them, everywhere.
LoopKernel zeroing(const CausalBlockRequest& request) {
    LoopKernel kernel{.extents = request.kernel.extents,
                      .values = {},
                      .stores = {},
                      .reads = request.kernel.reads,
                      .writes = request.kernel.writes};
    for (const std::size_t position : request.zeroed) {
        LoopStore store = request.kernel.stores[position];
        const DType dtype = request.kernel.values[store.value].dtype;
        kernel.values.push_back({.kind = LoopValueKind::constant, .dtype = dtype});
        store.value = ValueId(kernel.values.size() - 1);
        kernel.stores.push_back(std::move(store));
    }
    return kernel;
}

}    // namespace

std::vector<LoopKernel> causal_block_kernels(const CausalBlockRequest& request) {
    const std::int64_t columns = request.kernel.extents.back();
    const LoopKernel zeros = zeroing(request);
    std::vector<LoopKernel> kernels;
    for (const RowBlock& block : row_blocks(columns)) {
        const Window inside{block, 0, block.last}, beyond{block, block.last, columns};
        kernels.push_back(over_window(request.kernel, request.row_loop, inside));
        if (block.last < columns && !request.zeroed.empty())
            kernels.push_back(over_window(zeros, request.row_loop, beyond));
    }
    return kernels;
}

}    // namespace slipway
