#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/field.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

/// The dataset that a job names, or why it cannot be used. A dataset that is still being checked is
/// fine: the job waits.
struct NamedDataset {
    std::optional<store::Dataset> dataset;    ///< none when there are problems
    /// At /data/dataset: missing (with the nearest names) or failed.
    std::vector<Problem> problems;
};
NamedDataset find_named_dataset(store::Store& store, std::string_view project,
                                const std::string& id_or_name, Tick asked_at = store::asked_now);

}    // namespace slipway::submission
