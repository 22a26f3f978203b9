#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

/// How samples are divided into training and validation.
struct SplitOptions {
    double val_fraction = 0.1;    ///< in [0, 1); 0: no validation
    std::uint64_t seed = 0;
    bool by_group = false;      ///< whole groups go to one side
    bool stratified = false;    ///< validation has each class in the set's proportion
};

/// Which samples train and which validate: ascending, disjoint, together every sample divided.
struct Split {
    std::vector<std::int64_t> train;
    std::vector<std::int64_t> val;
};

/// Divides all samples of a dataset. The same data, options and seed give the same lists on every
/// machine.
///   plain          validation is round(val_fraction * samples), drawn without replacement
///   stratified     round(val_fraction * count) of each class
///   by_group       groups in random order, each taken for validation while that brings its size
///                  (stratified: its count of each class) nearer to val_fraction; no group is on
///                  both sides, and each side has at least one
/// errors  invalid_argument when val_fraction is outside [0, 1), when a side would be empty, when
///         by_group is asked of a set without groups or with one
Split split_samples(const DatasetIndex& index, const SplitOptions& options);

/// The named parts of a dataset as training and validation; an empty `val` gives no validation.
/// errors  invalid_argument naming the parts that exist
Split split_by_parts(const DatasetIndex& index, const std::string& train, const std::string& val);

/// Counts of a split, and the certificate that nothing leaks.
struct SplitCounts {
    std::int64_t train = 0;
    std::int64_t val = 0;
    std::int64_t train_groups = 0;
    std::int64_t val_groups = 0;
    std::int64_t shared_groups = 0;             ///< groups on both sides; 0 for a split by group
    std::int64_t shared_samples = 0;            ///< always 0
    std::vector<std::int64_t> train_classes;    ///< samples of each class
    std::vector<std::int64_t> val_classes;
};
SplitCounts count_split(const DatasetIndex& index, const Split& split);

}    // namespace slipway
