// CLI11 has a writer of its own (config_to_str). It writes what was given, and defaults only as
// they were when an option was added: not what another option of the same variable has changed
// since, and enumerations as numbers. So each option's variable is read once all is parsed.
#include "server/main/print_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace slipway {
namespace {

constexpr std::array<std::string_view, 3> not_settings{"help", "config", "print-config"};

std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

bool is_number(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text.substr(text.front() == '-' ? 1 : 0),
                                                [](char c) { return c >= '0' && c <= '9'; });
}

std::string toml_value(const std::string& text) {
    return is_number(text) || text == "true" || text == "false" ? text : toml_text(text);
}

// "[a,b]" is how CLI11 writes a list.
std::string toml_list(std::string_view text) {
    text.remove_prefix(1);
    text.remove_suffix(1);
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        out += (out.empty() ? "" : ", ") + toml_text(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return "[" + out + "]";
}

std::string value_of(CLI::Option& option, const std::vector<ConfigWord>& words) {
    const auto word = std::ranges::find(words, option.get_name(), &ConfigWord::option);
    if (word != words.end()) return toml_value(word->word);
    const std::string text = option.capture_default_str()->get_default_str();
    if (text.starts_with('[') && text.ends_with(']')) return text == "[]" ? "" : toml_list(text);
    return text.empty() ? "" : toml_value(text);
}

}    // namespace

std::string config_text(const CLI::App& app, const std::vector<ConfigWord>& words,
                        const std::vector<std::string>& hidden) {
    std::string text;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_lnames().empty()) continue;
        const std::string name = option->get_lnames().front();
        if (std::ranges::find(not_settings, name) != not_settings.end()) continue;
        const bool is_hidden = std::ranges::find(hidden, "--" + name) != hidden.end();
        // Reading the variable changes the option's text of its default alone.
        const std::string value =
            is_hidden ? "" : value_of(*const_cast<CLI::Option*>(option), words);
        if (value.empty())
            text += fmt::format("# {} = {}\n", name, is_hidden ? "(not shown)" : "(not set)");
        else
            text += fmt::format("{} = {}\n", name, value);
    }
    return text;
}

}    // namespace slipway
