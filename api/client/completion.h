#pragma once

#include <array>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace slipway::client {

inline constexpr std::array<std::string_view, 3> completion_shells{"bash", "zsh", "fish"};

/// A script that makes the shell complete the commands and options of `app`, and files elsewhere.
/// shell   a word of `completion_shells`
std::string completion_script(const CLI::App& app, std::string_view shell);

}    // namespace slipway::client
