#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

#include "executor/data/split/folds.h"

namespace slipway {

/// [sample]: a number that samples with the same content share, and how many samples are the
/// same as one before them. Reads every sample once, on `threads` threads.
struct Contents {
    std::vector<std::int32_t> numbers;
    std::int64_t copies = 0;
};
/// errors  DataError when a sample's file cannot be read
Contents number_contents(const Dataset& dataset, int threads);

/// What can be said of folds, counted anew from which samples each trains on and validates.
///   {"samples": 1000, "folds": 5, "repeats": 1, "training": "others", "class_names": […] (empty
///    where labels are numbers, or over the limit), "group_column": "family" or null, "groups": 75
///    or null,
///    "certificate": {"validated": {"min": 1, "max": 1} (how often a sample validates, all folds
///      together), "each_once": true (in every repeat) or null (the method does not promise it),
///      "shared_samples": 0, "by_group": true (promised), "shared_groups": 0 or null (no groups),
///      "copies": 3 (samples whose content another one before them has), "shared_copies": 2},
///    "parts": [{"fold", "train", "val", "train_groups", "val_groups", "shared_groups",
///      "shared_copies", "train_classes": […], "val_classes": […]}]}
/// What is shared is on both sides of a fold; the certificate has the sum over all folds. Samples
/// that validate and whose content also trains are `shared_copies`: they are counted, not
/// prevented.
/// A promise that does not hold is a bug.
nlohmann::json certify(const Folds& folds, const DatasetIndex& index, const SplitTraits& traits,
                       const Contents& contents);

}    // namespace slipway
