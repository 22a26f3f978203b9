#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace slipway {

/// An option whose value is a word, which CLI11 keeps as a number.
struct ConfigWord {
    std::string option;    ///< "--log-level"
    std::string word;
};

/// The values of an app's long options after it was parsed, defaults and those of the configuration
/// file included, as a file that --config reads. Options without a value are comments.
/// `hidden`: options whose value is nobody's business; they are comments, too.
std::string config_text(const CLI::App& app, const std::vector<ConfigWord>& words,
                        const std::vector<std::string>& hidden);

}    // namespace slipway
