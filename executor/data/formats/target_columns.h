#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/formats/csv_reader.h"

namespace slipway {

/// The columns of a table whose numbers are the labels (DatasetOptions::label_columns).
class TargetColumns {
public:
    /// None: labels are classes.
    TargetColumns() = default;
    /// `options` must outlive it.
    /// errors  throws DataError for a column that the table does not have; invalid_argument for one
    ///         that is a feature as well
    TargetColumns(const CsvReader& table, const DatasetOptions& options);

    bool holds(std::size_t column) const;
    /// Appends a record's numbers to `targets`, or nothing, and says which field is wrong and why.
    std::optional<DataProblem> read(const std::vector<std::string>& fields,
                                    std::vector<float>& targets) const;

private:
    const DatasetOptions* options_ = nullptr;    ///< lives longer
    std::vector<std::size_t> columns_;
};

/// Why a finite number cannot be a label, in words; none when it can.
std::optional<std::string> target_problem(float value, const DatasetOptions& options);

/// errors  throws invalid_argument when a label column is among feature_columns
void check_target_columns(const DatasetOptions& options);

}    // namespace slipway
