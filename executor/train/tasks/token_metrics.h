#pragma once

#include "executor/nn/loss.h"
#include "executor/train/task.h"

namespace slipway {

/// What language models are measured by: the mean loss of their tokens, the perplexity that it
/// comes to, and the share of tokens that they guess.
struct TokenMetrics {
    bool perplexity = true;
    bool accuracy = false;

    explicit TokenMetrics(const JobSpec& spec);
    std::vector<TaskSum> named(const TokenSums& sums) const;
    MetricValues values(const MetricSums& sums) const;
};

}    // namespace slipway
