#include "executor/nn/loss.h"

#include <numeric>

namespace slipway {

ClassificationSums classification_sums(const Tensor& logits, const Tensor& labels,
                                       const Tensor& weights) {
    const std::int64_t classes = logits.dims()[1];
    const Tensor picked =
        reduce(log_softmax(logits) * one_hot(labels, classes), {1}, Reduction::add);
    const Tensor hits = convert(compare(argmax(logits), labels, Comparison::eq), DType::f32);
    return {.loss = negate(reduce(picked * weights, {0}, Reduction::add)),
            .correct = reduce(hits * weights, {0}, Reduction::add)};
}

namespace {

Tensor sum_of(const Tensor& x) {
    Dims all(x.dims().size());
    std::iota(all.begin(), all.end(), 0);
    return reduce(x, all, Reduction::add);
}

Tensor count_of(const Tensor& is_true) {
    return sum_of(convert(is_true, DType::f32));
}

}    // namespace

TokenSums token_sums(const Tensor& logits, const Tensor& labels, const Tensor& weights) {
    const Tensor is_sample =
        broadcast_in_dim(compare(weights, constant(0), Comparison::gt), labels.dims(), {0});
    const Tensor counted = select(is_sample, labels, constant(-1, DType::i32));
    return {.loss = cross_entropy_sum(logits, counted),
            .count = count_of(compare(counted, constant(0, DType::i32), Comparison::ge)),
            .correct = count_of(compare(argmax(logits), counted, Comparison::eq))};
}

Tensor cross_entropy_sum(const Tensor& logits, const Tensor& labels) {
    const std::int64_t classes = logits.dims().back();
    const std::int64_t rows = logits.shape().element_count() / classes;
    return sum_of(cross_entropy(reshape(logits, {rows, classes}), reshape(labels, {rows})));
}

Tensor binary_cross_entropy_sum(const Tensor& logits, const Tensor& targets) {
    return sum_of(binary_cross_entropy_with_logits(logits, targets));
}

}    // namespace slipway
