#include "executor/codegen/onednn/matmul_views.h"

#include <algorithm>

namespace slipway::onednn {

namespace {

bool is_batch_of_one(const MatmulSpec& spec) {
    return spec.result.dims.size() == 3 && spec.result.dims[0] == 1;
}

std::optional<View> usable_side(const MatmulSpec& spec, View view) {
    if (!is_batch_of_one(spec)) return usable_view(view);
    view.dims.erase(view.dims.begin());
    view.strides.erase(view.strides.begin());
    return usable_view(view);
}

}    // namespace

std::optional<View> usable_view(const View& view) {
    if (element_count(view) == 0) return {};
    if (const std::optional<Dims> order = order_of({view.dims, view.strides, 0}); order) {
        View usable = ordered_view(view.dims, *order);
        usable.offset = view.offset;
        if (usable.strides.back() == 1 || *(usable.strides.end() - 2) == 1) return usable;
    }
    View usable = view;
    const std::size_t rows = view.dims.size() - 2, columns = rows + 1;
    const Dims& dims = usable.dims;
    Dims& strides = usable.strides;
    if (dims[rows] == 1)
        strides[rows] = strides[columns] == 1 || dims[columns] == 1 ? dims[columns] : 1;
    if (dims[columns] == 1)
        strides[columns] = strides[rows] == 1 && dims[rows] != 1 ? dims[rows] : 1;
    const bool by_rows = strides[columns] == 1 && strides[rows] >= dims[columns];
    const bool by_columns = strides[rows] == 1 && strides[columns] >= dims[rows];
    if (!by_rows && !by_columns) return {};
    for (std::size_t i = rows; i-- > 0;) {
        if (dims[i] == 1)
            strides[i] = i + 1 == rows ? std::max(strides[rows] * dims[rows],
                                                  strides[columns] * dims[columns])
                                       : strides[i + 1] * dims[i + 1];
        if (strides[i] < 1) return {};
    }
    return usable;
}

std::optional<MatmulViews> usable_views(const MatmulSpec& spec) {
    const std::optional<View> lhs = usable_side(spec, spec.lhs);
    const std::optional<View> rhs = usable_side(spec, spec.rhs);
    const std::optional<View> result = usable_side(spec, spec.result);
    if (!lhs || !rhs || !result) return {};
    if (result->strides.back() != 1 && result->dims.back() != 1) return {};
    return MatmulViews{*lhs, *rhs, *result};
}

}    // namespace slipway::onednn
