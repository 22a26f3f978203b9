#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/store.h"

namespace slipway {

/// Where the weights are that a job begins with, by model.init.from of its stored spec: the folder
/// of a checkpoint, or the file of an upload. Empty when the spec names none; nothing when what it
/// names is no longer kept.
std::optional<std::filesystem::path> find_weights_location(store::Store& store,
                                                           const std::string& spec,
                                                           const ArtifactStore& artifacts);

/// Where the network is that a job imports, by model.from of its stored spec: the file of an
/// upload. Empty when the spec names none; nothing when the upload is no longer kept.
std::optional<std::filesystem::path> find_network_location(store::Store& store,
                                                           const std::string& spec,
                                                           const ArtifactStore& artifacts);

/// Where the checkpoints are that the payload of a job names (from.checkpoints, ids, or
/// from.checkpoint, one id, whatever the kind), in its order. Empty when it names none; nothing
/// when one that it names is no longer kept.
std::optional<std::vector<std::filesystem::path>> find_payload_checkpoints(
    store::Store& store, const std::string& payload, const ArtifactStore& artifacts);

}    // namespace slipway
