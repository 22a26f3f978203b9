#pragma once

#include <optional>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/requests.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

// What the report of a checked dataset says of a split before it is made. Pointers are those of the
// split. Nothing of what the report does not tell: of a dataset that is still being checked, of
// groups of another column.

/// More folds than samples or groups.
std::vector<Problem> check_split_fit(const SplitCreate& split, const store::Dataset& dataset);

/// A class that is spread over the folds and is too small to be in each.
std::optional<Problem> rare_class_warning(const SplitCreate& split, const store::Dataset& dataset);

}    // namespace slipway::submission
