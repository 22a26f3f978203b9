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

/// Operands and result of one product, ready to be multiplied.
struct Product {
    Stored lhs, rhs;
    std::int64_t lhs_term_step, rhs_term_step;
    std::int64_t rows, columns, terms, terms_at_once;
    std::int64_t result_offset, result_step;

    Product(const View& a, const View& b, const View& c)
        : lhs(a),
          rhs(b),
          lhs_term_step(a.strides[1]),
          rhs_term_step(b.strides[0]),
          rows(c.dims[0]),
          columns(c.dims[1]),
          terms(a.dims[1]),
          terms_at_once(onednn::terms_at_once(lhs, terms)),
          result_offset(c.offset),
          result_step(std::max(c.strides[0], c.dims[1])) {}

    /// `adds`: to what the result holds.
    void multiply(const std::byte* a, const std::byte* b, std::byte* c, bool adds) const {
        const float* const left = reinterpret_cast<const float*>(a) + lhs.offset;
        const float* const right = reinterpret_cast<const float*>(b) + rhs.offset;
        float* const to = reinterpret_cast<float*>(c) + result_offset;
        for (std::int64_t term = 0; term < terms; term += terms_at_once) {
            const dnnl_status_t status =
                dnnl_sgemm(lhs.transposed, rhs.transposed, rows, columns,
                           std::min(terms_at_once, terms - term), 1, left + term * lhs_term_step,
                           lhs.step, right + term * rhs_term_step, rhs.step,
                           adds || term > 0 ? 1.0F : 0.0F, to, result_step);
            if (status != dnnl_success)
                throw Error(ErrorCode::internal,
                            fmt::format("oneDNN: status {} of a product", int(status)));
        }
    }
};

}    // namespace

LibraryKernel make_gemm(const View& lhs, const View& rhs, const View& result, bool adds) {
    const auto run = [product = Product(lhs, rhs, result), adds](const KernelCall& call) {
        keep_this_worker_single();
        product.multiply(call.reads[0], call.reads[1], call.writes[0], adds);
    };
    return {.kernel = run, .scratch_bytes = 0, .name = "sgemm", .packing = {}};
}

}    // namespace slipway::onednn
