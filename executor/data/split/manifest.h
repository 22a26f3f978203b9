#pragma once

#include <filesystem>
#include <string>

#include "executor/data/split/folds.h"

namespace slipway {

/// A stored split: what it was made of and what it says. The same content and request give the same
/// bytes on every machine.
struct SplitManifest {
    SplitCreate request;
    std::string content_hash;        ///< of the dataset: hash_content
    std::string sample_list_hash;    ///< likewise: hash_sample_list
    Folds folds;
    bool operator==(const SplitManifest&) const = default;
};

/// As JSON text: {"version": 1, "request": {…}, "dataset": {"content_hash", "sample_list_hash",
/// "samples"}, "folds": 5, "training": "others", "validation": [[0, 3, …]]}. `validation` has a
/// list for each repeat: the fold that each sample validates in, -1 for none.
std::string write_manifest(const SplitManifest& manifest);

/// errors  data_loss when the text is not what write_manifest writes
SplitManifest parse_manifest(const std::string& text);

/// "sha256:…" of a manifest's text.
std::string manifest_hash(const std::string& text);

/// Where a job's manifest is, and what is known of it.
struct SplitFile {
    std::filesystem::path path;
    std::string hash = {};            ///< manifest_hash of its text; empty: not known
    std::string content_hash = {};    ///< of the dataset that the job reads; empty: not known
};

/// errors  DataError when the file is gone, is no manifest or not the one that was made
SplitManifest read_manifest(const SplitFile& file);

/// The fold of a stored split that divides `dataset`, opened from `dataset_path` with the group
/// column of the manifest's request.
/// errors  DataError as read_manifest, and when the dataset is another one or has changed since;
///         invalid_argument when there is no such fold
Split read_fold(const SplitFile& file, std::int64_t fold, const Dataset& dataset,
                const std::filesystem::path& dataset_path);

}    // namespace slipway
