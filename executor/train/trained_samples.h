#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "executor/checkpoint/checkpoint.h"
#include "executor/data/dataset.h"

namespace slipway {

/// What a network was trained on, as far as it must be given the same again: the weights mean
/// nothing without it. Each checkpoint keeps it as samples.json; of a text the tokenizer instead.
struct TrainedSamples {
    Dims feature_dims;                 ///< of an evaluated sample
    std::vector<std::string> names;    ///< of the classes, or of the labels that are numbers
    std::vector<std::string>
        columns;                     ///< of a table's features; empty: in the order that they have
    std::int64_t image_size = 0;     ///< what images were brought to; 0: as they were
    std::int64_t channels = 0;       ///< likewise
    std::vector<double> mean;        ///< what was taken from each feature; empty: nothing
    std::vector<float> deviation;    ///< what it was divided by; empty: nothing
    bool operator==(const TrainedSamples&) const = default;
};

/// samples.json: every number comes back as it was.
CheckpointFile file_of(const TrainedSamples& samples);

/// From a checkpoint's folder.
/// errors  TrainError checkpoint_corrupt when it is not there (an older version made the
///         checkpoint) or damaged
TrainedSamples read_trained_samples(const std::filesystem::path& checkpoint);

/// The same of weights to start from; none where they do not say it: a file, a text, and
/// checkpoints of older versions.
/// errors  TrainError checkpoint_corrupt when it is damaged
std::optional<TrainedSamples> find_trained_samples(const std::filesystem::path& from);

/// Has a table read with the columns in the order of the weights that a job starts from, where the
/// table has the same ones: a weight belongs to a name, not to a place.
///   columns  those that the table would be read with
void order_columns(const TrainedSamples& trained, const std::vector<std::string>& columns,
                   DatasetOptions& options);

/// Has a dataset read as the trained ones were: columns by name, images of their size, normalised
/// by the same numbers.
void apply(const TrainedSamples& samples, DatasetOptions& options);

}    // namespace slipway
