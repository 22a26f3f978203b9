#include "executor/codegen/iteration_space.h"

#include <algorithm>

namespace slipway {

std::int64_t reduced_elements(const Node& node) {
    return node.operands[0].shape().element_count() /
           std::max<std::int64_t>(1, node.shape.element_count());
}

std::vector<std::int64_t> strides_in_space(const Dims& dims, std::int64_t unit) {
    std::vector<std::int64_t> strides{unit};
    for (std::size_t i = dims.size(); i-- > 0;)
        strides.push_back(strides.back() * dims[i]);
    return strides;
}

std::vector<SpaceRange> reduced_ranges(const Node& node) {
    const Dims& dims = node.operands[0].dims();
    const Dims& reduced = std::get<ReduceAttributes>(node.attributes).dimensions;
    std::vector<SpaceRange> ranges;
    std::int64_t stride = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
        const std::int64_t next = stride * dims[i];
        if (dims[i] != 1 && std::ranges::count(reduced, std::int64_t(i)) > 0) {
            if (!ranges.empty() && ranges.back().last == stride)
                ranges.back().last = next;
            else
                ranges.push_back({stride, next});
        }
        stride = next;
    }
    return ranges;
}

std::optional<std::vector<std::int64_t>> refined(const std::vector<std::int64_t>& a,
                                                 const std::vector<std::int64_t>& b) {
    std::vector<std::int64_t> both;
    std::ranges::set_union(a, b, std::back_inserter(both));
    both.erase(std::ranges::unique(both).begin(), both.end());
    for (std::size_t i = 1; i < both.size(); ++i)
        if (both[i] % both[i - 1] != 0) return {};
    return both;
}

}    // namespace slipway
