#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace slipway {

/// An epoch has ended, or the part of it that this attempt trained.
struct EpochSummary {
    std::int64_t epoch = 0;     ///< 1-based
    std::int64_t epochs = 0;    ///< started ones of the whole job
    std::int64_t step = 0;      ///< steps done
    double train_s = 0;         ///< without evaluating and saving
    double evaluate_s = 0;
    std::int64_t samples = 0;    ///< trained on
    double samples_per_s = 0;    ///< in train_s
    /// The mean training loss of the epoch, then its evaluation's values.
    std::vector<std::pair<std::string, double>> values;
};

/// "epoch 2 of 5 (step 312): training 12.1 s, evaluation 0.8 s, 1234 samples/s, train_loss 0.5".
std::string describe(const EpochSummary& summary);

}    // namespace slipway
