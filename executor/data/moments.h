#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

/// Mean and squared deviation of a growing set of samples, per channel or column. Adding one by
/// one in a fixed order gives the same numbers on every machine.
class RunningMoments {
public:
    /// Of one sample: a part of the work that any thread can do.
    struct Sample {
        std::vector<double> mean;
        std::vector<double> squares;    ///< sum of squared deviations from the mean
    };
    static Sample of(std::span<const float> features, std::size_t channels);

    /// `count` is the number of values per channel in the sample.
    void add(const Sample& sample, double count);
    Moments result() const;

private:
    double count_ = 0;
    std::vector<double> mean_;
    std::vector<double> squares_;
};

/// `moments` with one number for each channel or column.
/// errors  invalid_argument when there is neither one number nor as many
Moments of_each_channel(Moments moments, const Dims& feature_dims);

/// The columns of a table whose moments are far from 0; none of images.
std::vector<std::size_t> far_columns(const Moments& moments, const Dims& feature_dims);

/// Each number of `features` becomes (x - mean) / deviation of its channel or column.
void normalize(const Moments& moments, std::span<float> features);

}    // namespace slipway
