#pragma once

#include <CLI/CLI.hpp>

#include "server/main/raw_options.h"

namespace slipway {

/// The check of an option for a folder or a file that it is there: a command may look by itself.
inline constexpr const char* is_present = "present";

/// The options of a command, in groups. `raw` outlives the app. A group's options stand in the
/// configuration file under their long names, because every group of `serve` is the main app's too:
/// that is where CLI11 puts what the file says, before the command's own options overwrite it.
void add_common(CLI::App& app, RawOptions& raw);
void add_log(CLI::App& app, RawOptions& raw);
void add_machine(CLI::App& app, RawOptions& raw);
void add_cgroup(CLI::App& app, RawOptions& raw);
void add_confinement(CLI::App& app, RawOptions& raw);
void add_executors(CLI::App& app, RawOptions& raw);
void add_listener(CLI::App& app, RawOptions& raw);
void add_edge(CLI::App& app, RawOptions& raw);
void add_limits(CLI::App& app, RawOptions& raw);

}    // namespace slipway
