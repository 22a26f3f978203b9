#include "executor/data/split/draws.h"

#include <numeric>
#include <utility>

#include "executor/tensor/random.h"

namespace slipway {

std::vector<std::int64_t> shuffled_numbers(std::int64_t count, std::uint64_t seed,
                                           std::uint64_t stream) {
    std::vector<std::int64_t> order(std::size_t(count), 0);
    std::iota(order.begin(), order.end(), 0);
    RandomStream random(seed, site_split, stream);
    for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[std::size_t(random.next_below(i))]);
    }
    return order;
}

std::vector<std::vector<std::int64_t>> group_sizes(const DatasetIndex& index, bool by_class) {
    const std::size_t classes = by_class ? std::size_t(index.class_count()) : 1;
    std::vector<std::vector<std::int64_t>> sizes(index.group_names.size(),
                                                 std::vector<std::int64_t>(classes, 0));
    for (std::size_t i = 0; i < index.labels.size(); ++i) {
        ++sizes[std::size_t(index.groups[i])][by_class ? std::size_t(index.labels[i]) : 0];
    }
    return sizes;
}

}    // namespace slipway
