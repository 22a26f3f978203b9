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

/// How many terms to multiply at once. Where lhs is to be turned around and its rows are 4 KiB or
/// more apart, the routine reads from more lines at the same place of the caches than these hold,
/// but not of 128 rows. One thread, GFLOP/s of rows x terms x columns, all at once / so:
///   2048x1024x512  131  161      1024x2048x256  138  157      1536x2048x384  138  158
///   3072x512x768   162  159      3072x128x768   167  167
std::int64_t terms_at_once(const Stored& lhs, std::int64_t terms) {
    constexpr std::int64_t far = 4096 / sizeof(float), few = 128;
    return lhs.transposed == 'T' && lhs.step >= far ? few : std::max<std::int64_t>(1, terms);
}

}    // namespace

LibraryKernel make_gemm(const View& lhs, const View& rhs, const View& result, bool adds) {
    const Stored a(lhs), b(rhs);
    const std::int64_t result_step = std::max(result.strides[0], result.dims[1]);
    const std::int64_t terms = lhs.dims[1], at_once = terms_at_once(a, terms);
    const std::int64_t lhs_step = lhs.strides[1], rhs_step = rhs.strides[0];
    const auto run = [=, offset = result.offset, rows = result.dims[0],
                      columns = result.dims[1]](const KernelCall& call) {
        keep_this_worker_single();
        const auto* const left = reinterpret_cast<const float*>(call.reads[0]) + a.offset;
        const auto* const right = reinterpret_cast<const float*>(call.reads[1]) + b.offset;
        auto* const to = reinterpret_cast<float*>(call.writes[0]) + offset;
        for (std::int64_t term = 0; term < terms; term += at_once) {
            const dnnl_status_t status = dnnl_sgemm(
                a.transposed, b.transposed, rows, columns, std::min(at_once, terms - term), 1,
                left + term * lhs_step, a.step, right + term * rhs_step, b.step,
                adds || term > 0 ? 1.0F : 0.0F, to, result_step);
            if (status != dnnl_success)
                throw Error(ErrorCode::internal,
                            fmt::format("oneDNN: status {} of a product", int(status)));
        }
    };
    return {.kernel = run, .scratch_bytes = 0, .name = "sgemm", .packing = {}};
}

}    // namespace slipway::onednn
