#include "executor/nn/metrics.h"

#include <numeric>

namespace slipway {

namespace {

Tensor sum_of(const Tensor& x) {
    Dims all(x.dims().size());
    std::iota(all.begin(), all.end(), 0);
    return reduce(x, all, Reduction::add);
}

/// [n] numbers, each repeated along a second axis.
Tensor across(const Tensor& x, std::int64_t columns) {
    return broadcast_in_dim(x, {x.dims()[0], columns}, {0});
}

Tensor to_numbers(const Tensor& condition) {
    return convert(condition, DType::f32);
}

}    // namespace

Tensor smoothed_cross_entropy(const Tensor& logits, const Tensor& labels, double smoothing) {
    const std::int64_t classes = logits.dims()[1];
    const Tensor log_shares = log_softmax(logits);
    const Tensor at_label = reduce(log_shares * one_hot(labels, classes), {1}, Reduction::add);
    const Tensor everywhere = reduce(log_shares, {1}, Reduction::add);
    return negate(at_label * constant(1 - smoothing) +
                  everywhere * constant(smoothing / double(classes)));
}

Tensor soft_cross_entropy(const Tensor& logits, const Tensor& shares, double smoothing) {
    const std::int64_t classes = logits.dims()[1];
    const Tensor log_shares = log_softmax(logits);
    const Tensor labelled = slice(log_shares, {0, 0}, shares.dims(), {1, 1});
    const Tensor at_labels = reduce(labelled * shares, {1}, Reduction::add);
    if (smoothing == 0) return negate(at_labels);
    const Tensor everywhere = reduce(log_shares, {1}, Reduction::add);
    return negate(at_labels * constant(1 - smoothing) +
                  everywhere * constant(smoothing / double(classes)));
}

Tensor top_hits(const Tensor& logits, const Tensor& labels, std::int64_t k, const Tensor& weights) {
    const std::int64_t classes = logits.dims()[1];
    const Dims& dims = logits.dims();
    const Tensor classes_of = iota({DType::i32, dims}, 1);
    const Tensor own = across(labels, classes);
    const Tensor is_own = compare(classes_of, own, Comparison::eq);
    const Tensor none = broadcast(constant(0), dims);
    const Tensor at_label =
        across(reduce(select(is_own, logits, none), {1}, Reduction::add), classes);
    const Tensor ties_before = logical_and(compare(logits, at_label, Comparison::eq),
                                           compare(classes_of, own, Comparison::lt));
    const Tensor larger =
        to_numbers(logical_or(compare(logits, at_label, Comparison::gt), ties_before));
    const Tensor rank = reduce(larger, {1}, Reduction::add);
    return sum_of(to_numbers(compare(rank, constant(double(k)), Comparison::lt)) * weights);
}

Tensor confusion_counts(const Tensor& logits, const Tensor& labels, const Tensor& weights) {
    const std::int64_t classes = logits.dims()[1];
    const Tensor predicted = argmax(logits);
    const Tensor size = constant(double(classes), DType::i32);
    const Tensor place = labels * size + predicted;
    const Tensor beyond = broadcast(constant(double(classes * classes), DType::i32), place.dims());
    // A NaN's argmax is the extent: without this it would count for the next label's first class.
    const Tensor row = select(compare(predicted, size, Comparison::lt), place, beyond);
    return scatter_add(broadcast(constant(0), {classes * classes}), row, weights);
}

MultilabelSums multilabel_sums(const Tensor& logits, const Tensor& targets, const Tensor& weights) {
    const Tensor weight = across(weights, logits.dims()[1]);
    const Tensor taken = compare(logits, constant(0), Comparison::ge);
    const Tensor there = compare(targets, constant(0.5), Comparison::ge);
    const Tensor right = to_numbers(logical_not(logical_xor(taken, there)));
    return {.loss = sum_of(binary_cross_entropy_with_logits(logits, targets) * weight),
            .correct = sum_of(right * weight)};
}

RegressionSums regression_sums(const Tensor& outputs, const Tensor& targets,
                               const Tensor& weights) {
    const Tensor weight = across(weights, outputs.dims()[1]);
    const Tensor difference = outputs - targets;
    return {.squares = reduce(difference * difference * weight, {0}, Reduction::add),
            .absolute = reduce(abs(difference) * weight, {0}, Reduction::add)};
}

}    // namespace slipway
