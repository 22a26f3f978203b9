#include "executor/train/tasks/label_rows.h"

#include <utility>

#include "api/base/check.h"

namespace slipway {

Tensor label_count(const BatchInputs& batch) {
    const auto labels = double(batch.labels.dims()[1]);
    return reduce(batch.weights, {0}, Reduction::add) * constant(labels);
}

Tensor label_rows(std::vector<Tensor> blocks, const Tensor& weights) {
    blocks.push_back(reshape(weights, {weights.dims()[0], 1}));
    return concatenate(std::move(blocks), 1);
}

LabelRows::LabelRows(std::span<const float> rows, std::size_t labels, std::size_t blocks)
    : rows_(rows), labels_(labels) {
    const std::size_t width = blocks * labels + 1;
    check(rows.size() % width == 0, "rows are whole");
    for (std::size_t begin = 0; begin < rows.size(); begin += width)
        if (rows[begin + width - 1] > 0) places_.push_back(begin);
}

}    // namespace slipway
