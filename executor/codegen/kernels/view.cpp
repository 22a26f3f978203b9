#include "executor/codegen/kernels/view.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace slipway {

View dense_view(Dims dims) {
    Dims strides = strides_of(dims);
    return {std::move(dims), std::move(strides), 0};
}

std::int64_t element_count(const View& view) {
    std::int64_t count = 1;
    for (const std::int64_t extent : view.dims)
        count *= extent;
    return count;
}

bool is_dense(const View& view) {
    return same_places(view, dense_view(view.dims));
}

View ordered_view(const Dims& dims, const Dims& order) {
    View view{dims, Dims(dims.size(), 1), 0};
    std::int64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        const auto dimension = std::size_t(order[i]);
        view.strides[dimension] = stride;
        stride *= dims[dimension];
    }
    return view;
}

std::optional<Dims> order_of(const View& view) {
    if (is_dense(view)) return row_major(view.dims.size());
    // Extents 1 lie nowhere: they come first.
    Dims order = row_major(view.dims.size());
    const auto stride = [&](std::int64_t i) {
        return view.dims[std::size_t(i)] == 1 ? std::numeric_limits<std::int64_t>::max()
                                              : view.strides[std::size_t(i)];
    };
    std::ranges::stable_sort(order, std::greater<>(), stride);
    if (!same_places(view, ordered_view(view.dims, order))) return {};
    return order;
}

Dims row_major(std::size_t rank) {
    Dims order(rank);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return order;
}

bool same_places(const View& a, const View& b) {
    if (element_count(a) == 0) return true;
    if (a.offset != b.offset) return false;
    for (std::size_t i = 0; i < a.dims.size(); ++i)
        if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
    return true;
}

View broadcast_view(const View& x, const Dims& dims, const Dims& dimensions) {
    View result{dims, Dims(dims.size(), 0), x.offset};
    for (std::size_t i = 0; i < dimensions.size(); ++i)
        if (x.dims[i] != 1) result.strides[std::size_t(dimensions[i])] = x.strides[i];
    return result;
}

View transposed_view(const View& x, const Dims& permutation) {
    View result{{}, {}, x.offset};
    for (const std::int64_t i : permutation) {
        result.dims.push_back(x.dims[std::size_t(i)]);
        result.strides.push_back(x.strides[std::size_t(i)]);
    }
    return result;
}

View sliced_view(const View& x, const SliceAttributes& slice) {
    View result = x;
    for (std::size_t i = 0; i < x.dims.size(); ++i) {
        const std::int64_t step = slice.strides[i];
        result.dims[i] = (slice.limit[i] - slice.start[i] + step - 1) / step;
        result.strides[i] = x.strides[i] * step;
        result.offset += slice.start[i] * x.strides[i];
    }
    return result;
}

View reversed_view(const View& x, const Dims& dimensions) {
    View result = x;
    for (const std::int64_t dimension : dimensions) {
        const auto i = std::size_t(dimension);
        result.offset += (x.dims[i] - 1) * x.strides[i];
        result.strides[i] = -x.strides[i];
    }
    return result;
}

std::optional<View> reshaped_view(const View& x, const Dims& dims) {
    if (element_count(x) == 0) return dense_view(dims);
    // The runs of dimensions that one stride can walk, then the new dims cut out of them.
    const Nest nest = make_nest(x.dims, std::span(&x, 1));
    View result{dims, Dims(dims.size(), 0), x.offset};
    std::size_t dimension = dims.size();
    for (std::size_t loop = nest.extents.size(); loop-- > 0;) {
        std::int64_t left = nest.extents[loop];
        std::int64_t stride = nest.steps[0][loop];
        while (left > 1) {
            if (dimension == 0) return {};
            const std::int64_t extent = dims[--dimension];
            if (left % extent != 0) return {};
            result.strides[dimension] = stride;
            stride *= extent;
            left /= extent;
        }
    }
    return result;
}

std::int64_t Nest::element_count() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents)
        count *= extent;
    return count;
}

Nest make_nest(const Dims& dims, std::span<const View> views) {
    Nest nest{{}, std::vector<Dims>(views.size()), {}};
    for (const View& view : views)
        nest.offsets.push_back(view.offset);
    if (std::ranges::count(dims, 0) > 0) {
        nest.extents = {0};
        for (Dims& steps : nest.steps)
            steps = {1};
        return nest;
    }
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] == 1) continue;
        bool merges = !nest.extents.empty();
        for (std::size_t k = 0; merges && k < views.size(); ++k)
            merges = nest.steps[k].back() == views[k].strides[i] * dims[i];
        if (merges)
            nest.extents.back() *= dims[i];
        else
            nest.extents.push_back(dims[i]);
        for (std::size_t k = 0; k < views.size(); ++k) {
            if (merges) nest.steps[k].pop_back();
            nest.steps[k].push_back(views[k].strides[i]);
        }
    }
    if (nest.extents.empty()) {
        nest.extents = {1};
        for (Dims& steps : nest.steps)
            steps = {1};
    }
    return nest;
}

}    // namespace slipway
