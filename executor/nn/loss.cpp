#include "executor/nn/loss.h"

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

}    // namespace slipway
