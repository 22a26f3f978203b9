#pragma once

#include <span>
#include <vector>

#include "executor/train/batch_inputs.h"

namespace slipway {

/// How many labels of samples that are no padding a batch of label rows [n, labels] has.
Tensor label_count(const BatchInputs& batch);

/// Blocks [n, labels] side by side, and each sample's weight behind them: [n, blocks * labels + 1].
Tensor label_rows(std::vector<Tensor> blocks, const Tensor& weights);

/// What label_rows made of all batches, without the padding.
class LabelRows {
public:
    /// `rows` must outlive it.
    LabelRows(std::span<const float> rows, std::size_t labels, std::size_t blocks);

    std::size_t count() const { return places_.size(); }
    float at(std::size_t sample, std::size_t block, std::size_t label) const {
        return rows_[places_[sample] + block * labels_ + label];
    }

private:
    std::span<const float> rows_;
    std::size_t labels_;
    std::vector<std::size_t> places_;
};

}    // namespace slipway
