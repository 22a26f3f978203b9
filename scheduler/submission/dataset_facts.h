#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/json.h"
#include "api/spec/unfit_data.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

// What a dataset's check has found, for comparisons with a job. None before it has ended, where the
// format does not have it, and where the report does not list all of it.

/// The whole report; null before the check has ended.
std::shared_ptr<const Json> report_of(const store::Dataset& dataset);

/// Names of labels that are classes.
std::optional<std::vector<std::string>> class_names(const store::Dataset& dataset);
/// Of columns that are numbers.
std::optional<std::vector<std::string>> number_names(const store::Dataset& dataset);
/// Either.
std::optional<std::vector<std::string>> label_names(const store::Dataset& dataset);
/// A class whose name is no number.
std::optional<std::string> word_among_classes(const store::Dataset& dataset);

/// Columns of its tables or records, whatever they are used for.
std::optional<std::vector<std::string>> column_names(const store::Dataset& dataset);

/// {channels, height, width} or {columns} of every sample.
std::optional<std::vector<std::int64_t>> sample_shape(const store::Dataset& dataset);

struct ImageSizes {
    PixelSize least, most;
};
std::optional<ImageSizes> image_sizes(const store::Dataset& dataset);

/// The first names, for a message: "a, b, …".
std::string shown_names(const std::vector<std::string>& names);

}    // namespace slipway::submission
