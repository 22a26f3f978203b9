#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string_view>

#include "executor/data/dataset.h"
#include "executor/data/shared/known_content.h"

namespace slipway {

/// Reads and checks every file and sample of a dataset once, on `threads` threads (0: one per
/// CPU). What is in the files never throws: it is listed.
///   {"samples": 120, "classes": [{"name", "count"}] (empty where labels are numbers; at
///    most 1000) and "class_count", "labels":
///    [{"name", "mean", "std", "min", "max", "share"}] (of label columns of numbers; share: of the
///    samples with 0.5 or more, null outside of 0 to 1), "groups": [{"name", "count"}] (at most
///    1000) and "group_count", "parts": [{"name", "count"}] (at most 1000) and
///    "part_count", "feature_shape": [3, 64, 64] or null
///    when images differ in size, "image_sizes": {"min": [h, w], "max": [h, w]} or null, "mean":
///    […], "std": […] (before any normalisation; null without a common shape and for more
///    than 10,000 columns),
///    "text": null, or of a text {"bytes", "characters", "lines"} unpacked; its "samples" and the
///    "count" of its parts are lines,
///    "bytes": 123, "content_hash": "sha256:…" over names and contents of all files in sorted
///    order, "damaged": {"count": 2, "images": [as problems]} (null unless the options tolerate
///    damaged images), "warnings": [as problems] (of what can be used and will
///    surprise: a single class, images of several sizes), "problems": [{"file", "row", "field",
///    "message"}] (at most 20),
///    "problem_count": 0}
/// A set with problem_count 0 can be trained on. `memory` gets the hash.
/// errors  not_found without folder, invalid_argument for the format or the options, exhausted
nlohmann::json inspect_dataset(std::string_view format, const std::filesystem::path& path,
                               const DatasetOptions& options = {}, int threads = 0,
                               const ContentMemory& memory = {});

}    // namespace slipway
