#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "executor/data/dataset.h"

namespace slipway {

/// Samples of a preview, at most.
inline constexpr std::int64_t preview_samples_max = 32;

/// At most `count_max` of `samples` numbers, so that the first n of them are spread over all of
/// them, for any n: 0, the half, the quarters, the eighths.
std::vector<std::int64_t> spread_samples(std::int64_t samples, std::int64_t count_max);

/// Some samples of a dataset, for a person to look at.
///   {"samples": 120, "columns": […] (of a table's first 64 features; else empty), "items":
///   [{"sample": 60,
///    "file", "row" (or null), "part", "class", "labels": {"age": 41} (where labels are numbers),
///    "group" (each null where there is none), "shape": [3, 64, 64], "image": a JPEG as data URL of
///    at most 96 pixels a side, "values": […] (the first 64 features of what is no image), "text"
///    (null), "problem": why it cannot be shown, or null}]}
/// Of a text each item is a file: "text" its first 500 characters, "shape" [bytes]. Features are as
/// stored, before any normalisation.
/// errors  as open_dataset
nlohmann::json preview_dataset(std::string_view format, const std::filesystem::path& path,
                               const DatasetOptions& options = {});

}    // namespace slipway
