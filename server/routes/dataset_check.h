#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/dataset_root.h"
#include "api/spec/field.h"
#include "scheduler/store/datasets.h"
#include "server/routes/services.h"

namespace slipway {

/// The dataset that a job names, or why it cannot be used. A dataset that is still being checked is
/// fine: the job waits.
struct NamedDataset {
    std::optional<store::Dataset> dataset;    ///< none when there are problems
    /// At /data/dataset: missing (with the nearest names) or failed.
    std::vector<Problem> problems;

    std::string id() const { return dataset ? dataset->id : std::string(); }
};
NamedDataset find_named_dataset(store::Store& store, std::string_view project,
                                const std::string& id_or_name);

/// What is wrong with the folder that a dataset of `project` is to be made from; none: it lies
/// below a root that is open to the project. Links are followed: what counts is where the path
/// really is. What other roots have is not told.
std::vector<Problem> check_dataset_path(const std::string& path, std::string_view project,
                                        const std::vector<DatasetRoot>& roots);

}    // namespace slipway
