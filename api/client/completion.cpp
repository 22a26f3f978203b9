#include "api/client/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <vector>

#include "api/base/check.h"

// Each script walks over the words that are typed as long as they name commands, and offers what
// the last of them has: its commands and its options. All three are made from the table of commands
// itself, so a command that is added is completed.

namespace slipway::client {
namespace {

struct Word {
    std::string text;
    std::string meaning;
};

// The words behind each command, by its full name: "slipway sweep".
using Words = std::map<std::string, std::vector<Word>>;

// The first sentence, as far as a list shows it.
std::string short_text(std::string text) {
    text = text.substr(0, text.find(';'));
    std::erase_if(text,
                  [](char letter) { return letter == '\n' || letter == '\'' || letter == ':'; });
    return text;
}

void collect(const CLI::App& app, const std::string& name, Words& words) {
    std::vector<Word>& here = words[name];
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        here.push_back({command->get_name(), short_text(command->get_description())});
        for (const std::string& alias : command->get_aliases())
            here.push_back({alias, short_text(command->get_description())});
    }
    for (const CLI::Option* option : app.get_options())
        for (const std::string& long_name : option->get_lnames())
            here.push_back({"--" + long_name, short_text(option->get_description())});
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        collect(*command, name + " " + command->get_name(), words);
        for (const std::string& alias : command->get_aliases())
            collect(*command, name + " " + alias, words);
    }
}

std::string command_patterns(const Words& words) {
    std::vector<std::string> names;
    for (const auto& [name, _] : words)
        if (name.find(' ') != std::string::npos) names.push_back("\"" + name + "\"");
    return fmt::format("{}", fmt::join(names, "|"));
}

std::string bash_script(const Words& words) {
    std::string cases;
    for (const auto& [name, here] : words) {
        std::vector<std::string> texts;
        for (const Word& word : here)
            texts.push_back(word.text);
        cases += fmt::format("        \"{}\") words=\"{}\" ;;\n", name, fmt::join(texts, " "));
    }
    return fmt::format(R"(# bash completion of slipway; made by `slipway completion bash`
_slipway() {{
    local at=slipway words= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$at ${{COMP_WORDS[i]}}" in
            {}) at="$at ${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$at" in
{}    esac
    COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _slipway slipway
)",
                       command_patterns(words), cases);
}

std::string zsh_script(const Words& words) {
    std::string cases;
    for (const auto& [name, here] : words) {
        std::vector<std::string> texts;
        for (const Word& word : here)
            texts.push_back(fmt::format("'{}:{}'", word.text, word.meaning));
        cases += fmt::format("        \"{}\") found=({}) ;;\n", name, fmt::join(texts, " "));
    }
    return fmt::format(R"(#compdef slipway
# zsh completion of slipway; made by `slipway completion zsh`
_slipway() {{
    local at=slipway i
    local -a found
    for ((i = 2; i < CURRENT; i++)); do
        case "$at ${{words[i]}}" in
            {}) at="$at ${{words[i]}}" ;;
        esac
    done
    case "$at" in
{}    esac
    _describe -t commands slipway found || _files
}}
compdef _slipway slipway
)",
                       command_patterns(words), cases);
}

std::string fish_script(const Words& words) {
    std::string lines;
    for (const auto& [name, here] : words)
        for (const Word& word : here)
            lines +=
                word.text.starts_with("--")
                    ? fmt::format("complete -c slipway -n '__slipway_at \"{}\"' -l {} -d '{}'\n",
                                  name, word.text.substr(2), word.meaning)
                    : fmt::format("complete -c slipway -n '__slipway_at \"{}\"' -a {} -d '{}'\n",
                                  name, word.text, word.meaning);
    std::string names;
    for (const auto& [name, _] : words)
        names += fmt::format(" \"{}\"", name);
    return fmt::format(R"(# fish completion of slipway; made by `slipway completion fish`
function __slipway_at
    set -l at slipway
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word"{}
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
{})",
                       names, lines);
}

}    // namespace

std::string completion_script(const CLI::App& app, std::string_view shell) {
    Words words;
    collect(app, app.get_name(), words);
    if (shell == "bash") return bash_script(words);
    if (shell == "zsh") return zsh_script(words);
    check(shell == "fish", "the shell is one of the table's");
    return fish_script(words);
}

}    // namespace slipway::client
