#pragma once

#include "executor/graph/ops.h"

namespace slipway {

/// What one core says about its batch; sums, so that cores and batches add up exactly.
struct ClassificationSums {
    Tensor loss;       ///< f32 scalar: sum over samples of weight * -log softmax(logits)[label]
    Tensor correct;    ///< f32 scalar: sum of the weights of the samples whose largest logit is the
                       ///< label's
};

/// logits f32 [n, classes]   labels i32 [n]   weights f32 [n]: 1 for a sample, 0 for padding
ClassificationSums classification_sums(const Tensor& logits, const Tensor& labels,
                                       const Tensor& weights);

/// What one core says about the tokens of its batch; sums, as above.
struct TokenSums {
    Tensor loss;       ///< f32 scalar: sum over counted tokens of -log softmax(logits)[label]
    Tensor count;      ///< f32 scalar: tokens counted
    Tensor correct;    ///< f32 scalar: those whose largest logit is the label's
};

/// logits [n, s, vocabulary]   labels i32 [n, s], below vocabulary; a negative one counts nothing
/// weights f32 [n]: 1 for a sample, 0 for padding, of which nothing counts
TokenSums token_sums(const Tensor& logits, const Tensor& labels, const Tensor& weights);

/// The sum of -log softmax(logits)[label] over all rows, as a scalar.
/// logits [..., classes]   labels i32 [...]; a label of -100 counts nothing
Tensor cross_entropy_sum(const Tensor& logits, const Tensor& labels);
/// The sum of the binary cross-entropies of all elements, as a scalar. targets: 0 to 1
Tensor binary_cross_entropy_sum(const Tensor& logits, const Tensor& targets);

}    // namespace slipway
