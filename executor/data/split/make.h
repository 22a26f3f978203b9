#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

#include "api/spec/requests.h"
#include "executor/data/dataset.h"

namespace slipway {

/// What a split is made of.
struct SplitOrder {
    std::string format;
    std::filesystem::path path;
    DatasetOptions options = {};
    SplitCreate request;
    std::string content_hash = {};    ///< that the files must have; empty: whatever they have
    int threads = 0;                  ///< 0: one per CPU
};

struct MadeSplit {
    std::string manifest;    ///< write_manifest
    /// certify's, and "hash": the manifest's, "content_hash": the dataset's.
    nlohmann::json report;
};

/// Divides a dataset and certifies the result. Reads every file once, for its hash and for samples
/// that are the same.
/// errors  DataError for what is in the files and when they have changed since content_hash;
///         invalid_argument for what the data does not have; not_found
MadeSplit make_split(const SplitOrder& order);

}    // namespace slipway
