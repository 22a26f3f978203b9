#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "executor/train/model.h"

namespace slipway {

/// What became of a file of weights. Names in the network's order, then in the file's.
struct LoadedWeights {
    std::vector<std::string> loaded;
    std::vector<std::string> missing;    ///< of the network, not in the file: initial values stay
    /// In the file, not of the network or of another shape or of an element type that is not read.
    std::vector<std::string> skipped;
    std::vector<std::string> replaced;    ///< of the head, which keeps its initial values
    std::vector<std::string> unknown;     ///< outputs whose names the file does not have: likewise
    bool head_ordered = false;            ///< the file had the outputs in another order
    bool has_unread = false;              ///< tensors whose element type is not read
};

/// What the rows of a head answer: classes, or labels that are numbers.
struct HeadNames {
    std::vector<std::string> in_file = {};    ///< empty: the file does not say
    std::vector<std::string> here = {};
    std::int64_t outputs = 0;    ///< rows; those beyond the names have none
};

struct LoadOptions {
    bool strict = true;           ///< nothing may be missing or skipped
    bool replace_head = false;    ///< the file's head is not looked at
    HeadNames names = {};         ///< where they differ, rows of the head are taken by name
};

/// Sets the model's initial values to those of a safetensors file, or of a checkpoint (its folder).
/// f16 and bf16 are widened, f64 is narrowed. Batch counts that the file does not have stay 0. A
/// tied tensor is read under any of its names; stored twice, the copies must be equal. Names may be
/// those of older files: without the model's base, and gamma and beta of a norm. errors  TrainError
/// data_error when it cannot be read, or a file has values that are not finite;
///         spec_error when it is strict and names or
///         shapes differ, or when nothing fits at all (says which do not)
LoadedWeights load_initial_weights(Model& model, const std::filesystem::path& from,
                                   const LoadOptions& options);

/// "122 tensors loaded from x; head replaced: fc.weight, fc.bias": for the log.
std::string describe(const LoadedWeights& loaded, const std::filesystem::path& from);

}    // namespace slipway
