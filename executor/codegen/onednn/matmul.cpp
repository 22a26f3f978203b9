#include "executor/codegen/onednn/matmul.h"

#include <algorithm>

#include "executor/codegen/onednn/primitive.h"

namespace slipway {

namespace {

using onednn::Desc;
using onednn::LibraryDims;

constexpr auto f32 = dnnl::memory::data_type::f32;

/// Strides as the library wants them: those of extents 1 carry no meaning, so they get one that
/// fits. Nothing when it would refuse or be slow.
std::optional<Dims> usable_strides(const View& view) {
    const Dims& dims = view.dims;
    Dims strides = view.strides;
    if (dims[1] == 1) strides[1] = strides[2] == 1 || dims[2] == 1 ? dims[2] : 1;
    if (dims[2] == 1) strides[2] = strides[1] == 1 && dims[1] != 1 ? dims[1] : 1;
    const bool by_rows = strides[2] == 1 && strides[1] >= dims[2];
    const bool by_columns = strides[1] == 1 && strides[2] >= dims[1];
    if (!by_rows && !by_columns) return {};
    if (dims[0] == 1) strides[0] = std::max(strides[1] * dims[1], strides[2] * dims[2]);
    if (strides[0] < 1) return {};
    return strides;
}

}    // namespace

bool is_matmul_operand(const View& view) {
    return usable_strides(view).has_value();
}

std::optional<LibraryKernel> make_matmul(const View& lhs, const View& rhs, int workers) {
    if (element_count(lhs) == 0 || element_count(rhs) == 0) return {};
    const std::optional<Dims> lhs_strides = usable_strides(lhs);
    const std::optional<Dims> rhs_strides = usable_strides(rhs);
    if (!lhs_strides || !rhs_strides) return {};
    const std::int64_t batch = lhs.dims[0], m = lhs.dims[1], n = rhs.dims[2];
    return onednn::make_single_threaded([&](const dnnl::engine& engine) {
        const Desc a(lhs.dims, f32, *lhs_strides);
        const Desc b(rhs.dims, f32, *rhs_strides);
        const Desc c({batch, m, n}, f32, LibraryDims{m * n, n, 1});
        const dnnl::matmul::primitive_desc plan(dnnl::matmul::desc(a, b, c),
                                                onednn::plan_owned_scratchpad(), engine);
        return onednn::assemble(
            {.engine = engine,
             .primitive = dnnl::matmul(plan),
             .reads = {{DNNL_ARG_SRC, lhs.offset, a, a}, {DNNL_ARG_WEIGHTS, rhs.offset, b, b}},
             .result = {DNNL_ARG_DST, 0, c, c},
             .scratchpad = plan.scratchpad_desc()},
            workers, plan.impl_info_str());
    });
}

}    // namespace slipway
