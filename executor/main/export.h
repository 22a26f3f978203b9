#pragma once

#include <CLI/App.hpp>

#include <filesystem>
#include <string>

namespace slipway {

/// What was asked of `slipway-executor export`.
struct ExportCommand {
    std::filesystem::path checkpoint;    ///< its folder
    std::filesystem::path out;           ///< a file
    std::string dtype = "f32";
    std::string weights = "average";
};

/// Adds the subcommand `export`, which fills `command`.
CLI::App* add_export(CLI::App& app, ExportCommand& command);

/// Writes the weights (executor/checkpoint/export_weights.h).
/// errors  Error in words for the person who typed the command
void run_export(const ExportCommand& command);

}    // namespace slipway
