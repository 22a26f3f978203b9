#include "executor/codegen/loop_order.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

// The space of a cluster is cut into dimensions fine enough for the strides of every member. They
// are ordered as the first dense load lies in memory. Where the innermost one is reduced, the
// reduction is one of rows. Where it is not, it is one of columns: what lies within all reduced
// dimensions, at most columns_max partial sums, which stay in the cache; the other dimensions
// become groups. All choices are made from the cluster alone, so that the order of sums is the same
// on every machine.
namespace slipway {

namespace {

// Partial sums of so many columns stay in the second-level cache beside what is read.
constexpr std::int64_t columns_max = 16384;

std::vector<std::size_t> in_row_major(const LoopSpace& space) {
    std::vector<std::size_t> order(space.extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
}

/// Whether the strides fill memory without gaps with the dimensions in this order.
bool is_gapless(const LoopSpace& space, const Dims& strides,
                const std::vector<std::size_t>& order) {
    std::int64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        if (space.extents[order[i]] == 1) continue;
        if (strides[order[i]] != stride) return false;
        stride *= space.extents[order[i]];
    }
    return true;
}

/// The order in which the first load lies that has all elements of the space.
std::vector<std::size_t> physical_order(const LoopOrderRequest& request) {
    const std::vector<std::size_t> row_major = in_row_major(request.space);
    if (request.inputs_program) return row_major;
    for (const LoopValue& value : request.kernel.values) {
        if (value.kind != LoopValueKind::load) continue;
        const Dims& strides = value.access.strides;
        std::vector<std::size_t> order = row_major;
        std::ranges::stable_sort(order, std::greater<>(),
                                 [&](std::size_t i) { return strides[i]; });
        if (is_gapless(request.space, strides, order)) return order;
        if (is_gapless(request.space, strides, row_major)) return row_major;
    }
    return row_major;
}

class Sorter {
public:
    explicit Sorter(const LoopOrderRequest& request) : request_(request) {
        order_.physical = physical_order(request);
    }

    LoopOrder run() {
        if (request_.is_row_form_fixed)
            sort_fixed_rows();
        else if (request_.is_reduced)
            sort_free();
        else
            order_.inner = order_.physical;
        if (order_.inner.empty()) order_.inner = {order_.physical.back()};
        return std::move(order_);
    }

private:
    bool is_in(std::size_t i, const SpaceRange& range) const {
        const std::int64_t stride = request_.space.strides[i];
        return range.first <= stride && stride < range.last;
    }

    bool is_in_row(std::size_t i) const {
        return request_.space.strides[i] < request_.row_elements;
    }

    bool is_in_columns(std::size_t i) const {
        return std::ranges::any_of(request_.columns,
                                   [&](const SpaceRange& range) { return is_in(i, range); });
    }

    void sort_fixed_rows() {
        order_.is_row_form = true;
        for (const std::size_t i : order_.physical) {
            if (is_in_row(i))
                order_.inner.push_back(i);
            else if (request_.columns.empty() || is_in_columns(i))
                order_.rows.push_back(i);
            else
                order_.groups.push_back(i);
        }
    }

    bool is_reduced(std::size_t i) const {
        return request_.row_elements > 0 ? is_in_row(i) : is_in_columns(i);
    }

    void sort_free() {
        std::size_t innermost = order_.physical.back();
        for (const std::size_t i : order_.physical)
            if (request_.space.extents[i] > 1) innermost = i;
        order_.is_row_form = is_reduced(innermost);
        if (order_.is_row_form) {
            for (const std::size_t i : order_.physical)
                (is_reduced(i) ? order_.inner : order_.rows).push_back(i);
            return;
        }
        // Columns: what lies within all that is reduced; the rest makes groups.
        std::int64_t columns = 1;
        bool within = true;
        for (std::size_t k = order_.physical.size(); k-- > 0;) {
            const std::size_t i = order_.physical[k];
            if (is_reduced(i)) {
                order_.rows.insert(order_.rows.begin(), i);
                within = within && request_.space.extents[i] == 1;
                continue;
            }
            const bool fits = columns * request_.space.extents[i] <= columns_max;
            within = within && (fits || order_.inner.empty());
            auto& section = within ? order_.inner : order_.groups;
            section.insert(section.begin(), i);
            columns *= request_.space.extents[i];
        }
    }

    const LoopOrderRequest& request_;
    LoopOrder order_;
};

}    // namespace

LoopSpace space_of(const Cluster& cluster) {
    LoopSpace space;
    for (std::size_t i = cluster.strides.size() - 1; i-- > 0;) {
        space.strides.push_back(cluster.strides[i]);
        space.extents.push_back(cluster.strides[i + 1] / cluster.strides[i]);
    }
    if (space.extents.empty()) return {{1}, {1}};
    return space;
}

Dims strides_in(const LoopSpace& space, const Dims& dims, const Dims& strides, std::int64_t unit) {
    Dims result(space.extents.size(), 0);
    // One element lies everywhere: as vectors do.
    if (space.extents == Dims{1}) return {1};
    std::int64_t first = unit;
    for (std::size_t dimension = dims.size(); dimension-- > 0;) {
        const std::int64_t last = first * dims[dimension];
        for (std::size_t i = 0; i < result.size(); ++i)
            if (space.strides[i] >= first && space.strides[i] < last)
                result[i] = strides[dimension] * (space.strides[i] / first);
        first = last;
    }
    return result;
}

LoopOrder order_of_loops(const LoopOrderRequest& request) {
    return Sorter(request).run();
}

Dims dims_order(const LoopSpace& space, const LoopOrder& order, const Dims& dims) {
    Dims row_major(dims.size());
    std::iota(row_major.begin(), row_major.end(), std::int64_t{0});
    // The dimension that each part of the space belongs to; extents 1 come first.
    Dims found;
    for (const std::int64_t i : row_major)
        if (dims[std::size_t(i)] == 1) found.push_back(i);
    std::size_t last_part = 0;
    for (const std::size_t part : order.physical) {
        std::int64_t stride = 1;
        std::size_t dimension = dims.size();
        while (dimension-- > 0) {
            if (space.strides[part] >= stride && space.strides[part] < stride * dims[dimension])
                break;
            stride *= dims[dimension];
        }
        if (space.extents[part] == 1) continue;
        const bool continues = !found.empty() && found.back() == std::int64_t(dimension);
        if (continues && part < last_part) return row_major;
        if (!continues && std::ranges::count(found, std::int64_t(dimension)) > 0) return row_major;
        if (!continues) found.push_back(std::int64_t(dimension));
        last_part = part;
    }
    return found.size() == dims.size() ? found : row_major;
}

void arrange(LoopKernel& kernel, const LoopSpace& space, const LoopOrder& order) {
    std::vector<std::size_t> loops = order.groups;
    loops.insert(loops.end(), order.rows.begin(), order.rows.end());
    loops.insert(loops.end(), order.inner.begin(), order.inner.end());
    kernel.groups = order.groups.size();
    kernel.rows = order.rows.size();
    for (const std::size_t loop : loops)
        kernel.extents.push_back(space.extents[loop]);
    const auto reorder = [&](LoopAccess& access) {
        Dims strides;
        for (const std::size_t loop : loops)
            strides.push_back(access.strides[loop]);
        access.strides = std::move(strides);
    };
    for (LoopValue& value : kernel.values)
        if (value.kind == LoopValueKind::load || value.kind == LoopValueKind::counter)
            reorder(value.access);
    for (LoopStore& store : kernel.stores)
        reorder(store.to);
}

}    // namespace slipway
