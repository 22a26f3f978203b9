#include "executor/codegen/onednn/gemm.h"

#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>

#include "api/base/error.h"
#include "executor/codegen/onednn/primitive.h"

namespace slipway::onednn {

namespace {

/// A matrix for the routine: where it begins, whether it is stored transposed, and how far its
/// stored rows are apart.
struct Stored {
    std::int64_t offset;
    char transposed;
    std::int64_t step;

    explicit Stored(const View& view)
        : offset(view.offset),
          transposed(view.strides[1] == 1 ? 'N' : 'T'),
          step(view.strides[1] == 1 ? std::max(view.strides[0], view.dims[1])
                                    : std::max(view.strides[1], view.dims[0])) {}
};

}    // namespace

LibraryKernel make_gemm(const View& lhs, const View& rhs, const View& result, bool adds) {
    const Stored a(lhs), b(rhs);
    const std::int64_t result_step = std::max(result.strides[0], result.dims[1]);
    const auto run = [a, b, result_step, offset = result.offset, rows = result.dims[0],
                      columns = result.dims[1], terms = lhs.dims[1],
                      kept = adds ? 1.0F : 0.0F](const KernelCall& call) {
        keep_this_worker_single();
        const auto numbers = [&](std::size_t i, const Stored& stored) {
            return reinterpret_cast<const float*>(call.reads[i]) + stored.offset;
        };
        const dnnl_status_t status =
            dnnl_sgemm(a.transposed, b.transposed, rows, columns, terms, 1, numbers(0, a), a.step,
                       numbers(1, b), b.step, kept,
                       reinterpret_cast<float*>(call.writes[0]) + offset, result_step);
        if (status != dnnl_success)
            throw Error(ErrorCode::internal,
                        fmt::format("oneDNN: status {} of a product", int(status)));
    };
    return {.kernel = run, .scratch_bytes = 0, .name = "sgemm", .packing = {}};
}

}    // namespace slipway::onednn
