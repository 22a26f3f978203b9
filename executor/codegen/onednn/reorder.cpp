#include "executor/codegen/onednn/reorder.h"

#include <algorithm>

#include "executor/codegen/onednn/primitive.h"

namespace slipway {

namespace {

constexpr std::size_t rank_max = 6;

/// The view without the extents 1, whose strides carry no meaning.
View squeezed(const View& view) {
    View result{{}, {}, view.offset};
    for (std::size_t i = 0; i < view.dims.size(); ++i) {
        if (view.dims[i] == 1) continue;
        result.dims.push_back(view.dims[i]);
        result.strides.push_back(view.strides[i]);
    }
    return result;
}

}    // namespace

std::optional<LibraryKernel> make_reorder(const View& view, DType dtype, int workers) {
    const auto type = onednn::data_type_of(dtype);
    const View from = squeezed(view);
    const bool walks_forward =
        std::ranges::all_of(from.strides, [](std::int64_t stride) { return stride > 0; });
    if (!type || element_count(view) == 0 || from.dims.empty() || from.dims.size() > rank_max ||
        !walks_forward)
        return {};
    return onednn::make_single_threaded(
        [&](const dnnl::engine& engine) -> std::optional<LibraryKernel> {
            const onednn::Desc source = onednn::desc_of(from, *type);
            const onednn::Desc target = onednn::desc_of(dense_view(from.dims), *type);
            const dnnl::reorder::primitive_desc plan(engine, source, engine, target,
                                                     onednn::plan_owned_scratchpad());
            if (onednn::rank_of(plan.impl_info_str()) == 0) return {};
            return onednn::assemble({.engine = engine,
                                     .primitive = dnnl::reorder(plan),
                                     .reads = {{DNNL_ARG_FROM, from.offset, source, source}},
                                     .result = {DNNL_ARG_TO, 0, target, target},
                                     .scratchpad = plan.scratchpad_desc()},
                                    workers, plan.impl_info_str());
        });
}

}    // namespace slipway
