#pragma once

#include <string>
#include <vector>

namespace slipway {

/// How labels are spelled in the names of metrics, as in auc_NAME, each in another way. ASCII
/// characters other than letters, digits, dots and dashes become '_'. A spelling that an earlier
/// label has gets a number: "no_finding_2". A label that needs no change keeps its spelling.
std::vector<std::string> metric_labels(const std::vector<std::string>& labels);

}    // namespace slipway
