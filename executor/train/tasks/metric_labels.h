#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace slipway {

/// The longest spelling of a label. With a prefix (val_auc_), also in a cross-validation
/// (cv.….weighted_mean), it stays within the 200 bytes that the store keeps of a metric's name and
/// that a sweep's objective may have.
inline constexpr std::size_t metric_label_bytes_max = 160;

/// How labels are spelled in the names of metrics, as in auc_NAME, each in another way. ASCII
/// characters other than letters, digits, dots and dashes become '_', and so do the control
/// characters and the blank of Latin-1; longer ones are cut between characters. A spelling that an
/// earlier label has gets a number: "no_finding_2". A label that needs no change keeps its
/// spelling.
std::vector<std::string> metric_labels(const std::vector<std::string>& labels);

}    // namespace slipway
