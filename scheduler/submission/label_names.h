#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/store/datasets.h"

namespace slipway::submission {

// Names of labels as a dataset's check has found them; none before it has ended, or when not all of
// them are listed.

std::optional<std::vector<std::string>> class_names(const store::Dataset& dataset);
/// Of columns that are numbers.
std::optional<std::vector<std::string>> number_names(const store::Dataset& dataset);
/// Either.
std::optional<std::vector<std::string>> label_names(const store::Dataset& dataset);

/// The first of them, for a message: "a, b, …".
std::string shown_names(const std::vector<std::string>& names);

}    // namespace slipway::submission
