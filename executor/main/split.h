#pragma once

#include <CLI/App.hpp>

#include <filesystem>
#include <string>

namespace slipway {

/// `slipway-executor split`: one dataset divided, for a person or for the agent.
struct SplitCommand {
    std::string format;
    std::filesystem::path path;
    std::string options = "{}";    ///< JSON object: label_column, …
    std::string request;           ///< JSON object, as posted to /v1/datasets/{id}/splits
    std::string content_hash;      ///< that the dataset must have; empty: any
    std::filesystem::path out;     ///< gets the manifest
    int threads = 0;
};

/// Adds the subcommand `split`, which fills `command`.
CLI::App* add_split(CLI::App& app, SplitCommand& command);

/// Writes the manifest and returns the report: make_split's with "bytes" of the manifest and
/// "problem_count" 0, or the problem. Throws nothing for bad data or a bad request.
std::string split_to_json(const SplitCommand& command);

}    // namespace slipway
