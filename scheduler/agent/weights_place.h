#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "scheduler/store/store.h"

namespace slipway {

/// Where the weights are that a job begins with, by model.init.from of its stored spec: the folder
/// of a checkpoint, or the file of an upload. Empty when the spec names none; nothing when what it
/// names is no longer kept.
std::optional<std::filesystem::path> find_weights_place(store::Store& store,
                                                        const std::string& spec,
                                                        const std::filesystem::path& home);

/// Where the checkpoint of a stored prediction is (from.checkpoint, an id); nothing when it is not
/// kept any more.
std::optional<std::filesystem::path> find_predicting_place(store::Store& store,
                                                           const std::string& prediction,
                                                           const std::filesystem::path& home);

}    // namespace slipway
