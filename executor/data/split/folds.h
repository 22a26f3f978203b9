#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/requests.h"
#include "executor/data/split.h"

namespace slipway {

/// What a fold trains on.
enum class FoldTraining {
    others,    ///< every sample that it does not validate
    earlier    ///< every sample listed before the first that it validates
};
std::string_view to_string(FoldTraining training) noexcept;

/// A dataset divided once or several times: the whole content of a stored split.
struct Folds {
    static constexpr std::int32_t nowhere = -1;    ///< validates in no fold

    std::int64_t count = 0;    ///< of all repeats together
    FoldTraining training = FoldTraining::others;
    /// [repeat][sample]: the fold in [0, count) that the sample validates in, or `nowhere`. Repeat
    /// r has the folds from r * count / repeats on.
    std::vector<std::vector<std::int32_t>> validates_in;

    std::int64_t repeats() const { return std::int64_t(validates_in.size()); }
    bool operator==(const Folds&) const = default;
};

/// Divides all samples of a dataset. The same index and request give the same folds on every
/// machine.
///   fraction                one fold: split_samples
///   kfold                   a random order is dealt out: fold sizes differ by at most 1
///   stratified_kfold        the same class by class: sizes and the counts of every class differ by
///                           at most 1
///   group_kfold             the largest group first, each to the smallest fold so far
///   stratified_group_kfold  likewise, each to the fold that has least of the group's classes, by
///                           the share of each class
///   leave_one_group_out     fold g validates group g
///   repeated_kfold          repeat r is kfold in an order of its own, with groups or classes where
///                           the request names them; repeat 0 is what the single methods give
///   time_series             the end of the list in `folds` stretches of samples / (folds + 1),
///   what
///                           is left over is before the first
/// `group_by` and `stratify_by` of a method that has them are what the index has: it was opened for
/// them.
/// errors  invalid_argument when the data does not have what is asked for: groups, classes, as many
///         samples or groups as folds; over split_folds_max folds
Folds draw_folds(const DatasetIndex& index, const SplitCreate& request);

/// What one fold trains on and validates.
/// errors  invalid_argument when there is no such fold
Split split_of_fold(const Folds& folds, std::int64_t fold);

/// What a method does with groups and classes, and what it promises.
struct SplitTraits {
    bool by_group = false;      ///< no group is on both sides of a fold
    bool stratified = false;    ///< classes are spread evenly
    bool each_once = false;     ///< each sample validates once in each repeat
};
SplitTraits traits_of(const SplitCreate& request);

}    // namespace slipway
