#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "server/main/options.h"

namespace slipway {

/// Adds the options that choose the launcher and say how it submits.
void add_launcher_options(CLI::App& app, Options& options);

/// The launcher's name as --launcher takes it.
std::string launcher_word(LauncherKind kind);

/// Some attempts are jobs of Slurm.
bool uses_slurm(const Options& options);

/// errors  throws CLI::ValidationError for options of Slurm that cannot be given, or that have no
///         meaning
void check_launcher_options(const Options& options);

}    // namespace slipway
