#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace slipway::client {

/// A service and who one is there.
struct Context {
    std::string url;
    std::string token;
    std::string certificate_authority = {};    ///< PEM file for https; empty: the system's
};

/// What `slipway login` keeps, as JSON in a file that only its owner can read:
/// {"current": NAME, "contexts": {NAME: {"url", "token", "certificate_authority"}}}.
struct Contexts {
    std::string current = {};    ///< empty: none
    std::map<std::string, Context> all = {};
};

/// SLIPWAY_CONFIG, else slipway/config.json below XDG_CONFIG_HOME or ~/.config.
std::filesystem::path contexts_file();

/// Nothing where there is no file. errors  throws Stop{usage} for a file that is not one of
/// contexts
Contexts read_contexts();

/// Replaces the file; mode 0600, its folder is made with mode 0700.
/// errors  throws Stop{usage} when it cannot be written
void write_contexts(const Contexts& contexts);

/// The context of this name. errors  throws Stop{usage} with the names there are
const Context& find_context(const Contexts& contexts, const std::string& name);

}    // namespace slipway::client
