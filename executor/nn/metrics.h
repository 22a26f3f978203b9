#pragma once

#include "executor/graph/ops.h"

/// What a core says about its batch besides the loss: sums over samples in f32, so that cores and
/// batches add up. Every number is of [n] samples, or a sum over them.
///   logits   f32 [n, classes], or [n, labels]
///   weights  f32 [n]: 1 for a sample, 0 for padding
namespace slipway {

/// f32 [n]: the label's row of a softmax loss with label smoothing (Szegedy and others 2016), as
/// torch's: (1 - smoothing) of -log p at the label, and smoothing of its mean over all classes.
///   labels  i32 [n]
Tensor smoothed_cross_entropy(const Tensor& logits, const Tensor& labels, double smoothing);

/// f32 [n]: the same of labels that are shares of classes, as torch's cross_entropy of
/// probabilities.
///   shares  f32 [n, at most classes]: classes beyond have none
Tensor soft_cross_entropy(const Tensor& logits, const Tensor& shares, double smoothing);

/// Sum of the weights of the samples whose label is among the `k` largest logits. Of equal logits
/// the first counts as the larger, as with argmax.
///   labels  i32 [n]
Tensor top_hits(const Tensor& logits, const Tensor& labels, std::int64_t k, const Tensor& weights);

/// f32 [classes * classes]: at label * classes + prediction the sum of the weights of the samples
/// that have this label and are taken for that class. A sample with a NaN among its logits is in
/// none.
///   labels  i32 [n]
Tensor confusion_counts(const Tensor& logits, const Tensor& labels, const Tensor& weights);

/// Sums over all labels of all samples: each label is there or not, by itself.
struct MultilabelSums {
    Tensor loss;       ///< binary cross-entropy, as torch's BCEWithLogitsLoss before its mean
    Tensor correct;    ///< how many labels are right: taken for there from a chance of 0.5 on
};
/// targets f32 [n, labels], 0 to 1; one of 0.5 or more is there.
MultilabelSums multilabel_sums(const Tensor& logits, const Tensor& targets, const Tensor& weights);

/// f32 [labels]: of each label, over the samples.
struct RegressionSums {
    Tensor squares;     ///< of (output - target)^2
    Tensor absolute;    ///< of |output - target|
};
/// outputs, targets f32 [n, labels].
RegressionSums regression_sums(const Tensor& outputs, const Tensor& targets, const Tensor& weights);

}    // namespace slipway
