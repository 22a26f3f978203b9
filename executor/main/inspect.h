#pragma once

#include <filesystem>
#include <string>

namespace slipway {

/// `slipway-executor inspect`: one dataset checked once, for a person or for the agent.
struct InspectOptions {
    std::string format;
    std::filesystem::path path;           ///< the dataset; with `unpack`, inside `into`
    std::string options = "{}";           ///< JSON object: label_column, …
    std::filesystem::path unpack = {};    ///< an archive or a single file to unpack first; or empty
    std::filesystem::path into = {};      ///< the folder that `unpack` makes
    std::string name = {};                ///< what a single file was called
    bool preview = false;                 ///< with some samples to look at
    int threads = 0;
    /// Of this host's executors, for the content hash of `path`; empty: none.
    std::filesystem::path memory = {};
};

/// The report as JSON text: what inspect_dataset says; after a failure the same shape with the
/// failure as its one problem and "error" = its code. A set without problems also has "preview",
/// preview_dataset's, where it was asked for. Throws nothing for bad data.
std::string inspect_to_json(const InspectOptions& options);

}    // namespace slipway
