#pragma once

#include <optional>
#include <span>

namespace slipway {

/// Area under the ROC curve: the share of pairs of one sample that has the label and one that has
/// not in which the first has the higher score; a tie is half a pair. Exact: by ranks, ties at
/// their middle (Mann and Whitney 1947), in double.
///   there  one for each score: whether the sample has the label
/// None where all samples have it or none has, and when a score is no number.
std::optional<double> area_under_curve(std::span<const float> scores, std::span<const bool> there);

}    // namespace slipway
