#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <vector>

namespace slipway::client {

/// The predictions of several models of one task for the same samples, as one: the mean of their
/// probabilities (columns p_NAME) or of their predicted values (predicted_NAME); of classes, the
/// one of the largest mean probability and, of equal ones, the first. Columns that say which sample
/// a row is of must be the same in all. A number that one model does not have is missing in the
/// result. Reads row by row. Returns the number of rows.
/// errors  throws invalid_argument when the files have other columns, other samples or another
///         number of rows than the first, or are no CSV of predictions
std::int64_t average_predictions(const std::vector<std::unique_ptr<std::istream>>& models,
                                 std::ostream& out);

}    // namespace slipway::client
