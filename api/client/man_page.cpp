#include "api/client/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "api/base/posix.h"
#include "api/client/service.h"

// A page is made of the same table as --help and the completion, so that no option lacks its line.
// It uses the few macros of man(7) that groff and mandoc both know; every letter that one of them
// could take for a request or an escape is escaped.

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string full_name(const CLI::App& app, char between) {
    return app.get_parent() == nullptr
               ? app.get_name()
               : full_name(*app.get_parent(), between) + between + app.get_name();
}

// The code point that begins at `at`, which moves behind it. The texts are our own: valid UTF-8.
std::uint32_t next_code_point(std::string_view text, std::size_t& at) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const int more = first >= 0xf0U ? 3 : first >= 0xe0U ? 2 : first >= 0xc0U ? 1 : 0;
    std::uint32_t code = more == 0 ? first : first & (0x3fU >> static_cast<unsigned>(more));
    for (int i = 0; i < more && at < text.size(); ++i)
        code = code << 6U | (static_cast<unsigned char>(text[at++]) & 0x3fU);
    return code;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const bool is_first = at == 0 || text[at - 1] == '\n';
        const std::uint32_t code = next_code_point(text, at);
        if (is_first && (code == '.' || code == '\'')) out += "\\&";
        if (code == '\\')
            out += "\\e";
        else if (code == '-')
            out += "\\-";
        else if (code == '\'')
            out += "\\(aq";
        else if (code == '`')
            out += "\\(ga";
        else if (code == '^')
            out += "\\(ha";
        else if (code == '~')
            out += "\\(ti";
        else if (code < 0x80U)
            out += static_cast<char>(code);
        else
            fmt::format_to(std::back_inserter(out), "\\[u{:04X}]", code);
    }
    return out;
}

std::string upper_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char letter) {
        return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    });
    return text;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

std::string option_head(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames())
        names.push_back(fmt::format("\\fB{}\\fR", escaped("-" + name)));
    for (const std::string& name : option.get_lnames())
        names.push_back(fmt::format("\\fB{}\\fR", escaped("--" + name)));
    std::string head = fmt::format("{}", fmt::join(names, ", "));
    if (takes_value(option))
        head += fmt::format(" \\fI{}\\fR", option.get_lnames().empty()
                                               ? std::string("VALUE")
                                               : escaped(upper_case(option.get_lnames().front())));
    return head;
}

std::string argument_text(const CLI::Option& option) {
    const std::string name = fmt::format("\\fI{}\\fR", escaped(upper_case(option.get_name())));
    const std::string many = option.get_items_expected_max() > 1 ? name + " ..." : name;
    return option.get_required() ? many : "[" + many + "]";
}

std::string item(const std::string& head, std::string_view text) {
    return fmt::format(".TP\n{}\n{}\n", head, escaped(text));
}

std::string synopsis(const CLI::App& command) {
    std::string text = fmt::format(".SH SYNOPSIS\n\\fB{}\\fR", escaped(full_name(command, ' ')));
    text += " [\\fIOPTION\\fR ...]";
    for (const CLI::Option* option : command.get_options())
        if (option->get_positional()) text += " " + argument_text(*option);
    if (!commands_of(command).empty()) text += " \\fICOMMAND\\fR ...";
    return text + "\n";
}

std::string options_text(const CLI::App& command) {
    std::string arguments;
    std::string options;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_positional())
            arguments += item(argument_text(*option), option->get_description());
        else
            options += item(option_head(*option), option->get_description());
    }
    if (!arguments.empty()) arguments = ".SH ARGUMENTS\n" + arguments;
    return arguments + ".SH OPTIONS\n" + options;
}

std::string commands_text(const CLI::App& command) {
    std::string text;
    for (const CLI::App* one : commands_of(command))
        text += item(fmt::format("\\fB{}\\fR(1)", escaped(man_page_name(*one))),
                     one->get_description());
    return text.empty() ? text : ".SH COMMANDS\n" + text;
}

// The footer of a command holds its examples, that of the program its exit codes.
std::string footer_text(const CLI::App& command) {
    constexpr std::string_view head = "Examples:\n";
    const std::string footer = command.get_footer();
    if (footer.empty()) return {};
    if (!footer.starts_with(head)) return fmt::format(".SH EXIT STATUS\n{}\n", escaped(footer));
    return fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(footer.substr(head.size())));
}

struct Named {
    std::string_view name;
    std::string_view meaning;
};
constexpr std::array variables{
    Named{"SLIPWAY_CONTEXT", "Context of `slipway login` to use."},
    Named{"SLIPWAY_URL", "URL of the service."},
    Named{"SLIPWAY_HOME", "Home folder of a service on this machine."},
    Named{"SLIPWAY_TOKEN", "Token; used with any service."},
    Named{"SLIPWAY_CA", "PEM file of the certificate authority to trust."},
    Named{"SLIPWAY_CONFIG", "File of the contexts."},
    Named{"NO_COLOR", "When it is set and not empty, nothing is coloured."},
};
constexpr std::array files{
    Named{"~/.config/slipway/config.json", "Contexts, with their tokens; only its owner reads it."},
    Named{"~/.cache/slipway/uploads", "Uploads of `slipway data push` that were interrupted."},
};

template <class Rows>
std::string section(std::string_view title, const Rows& rows) {
    std::string text = fmt::format(".SH {}\n", title);
    for (const Named& row : rows)
        text += item(fmt::format("\\fB{}\\fR", escaped(row.name)), row.meaning);
    return text;
}

std::string see_also(const CLI::App& command) {
    if (command.get_parent() == nullptr) return {};
    std::string text = ".SH SEE ALSO\n";
    for (const CLI::App* one = command.get_parent(); one != nullptr; one = one->get_parent())
        text += fmt::format("\\fB{}\\fR(1){}\n", escaped(man_page_name(*one)),
                            one->get_parent() == nullptr ? "" : ",");
    return text;
}

}    // namespace

std::string man_page_name(const CLI::App& command) {
    return full_name(command, '-');
}

std::string man_page(const CLI::App& command, std::string_view version) {
    const std::string name = man_page_name(command);
    const std::string text = command.get_description();
    const bool is_program = command.get_parent() == nullptr;
    // One line says what a page is about; the rest is a paragraph.
    const std::size_t end = std::min(text.find(". "), text.find("; "));
    std::string page = fmt::format(".TH {} 1 \"\" \"slipway {}\" \"Slipway\"\n", upper_case(name),
                                   escaped(version));
    page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(text.substr(0, end)));
    page += synopsis(command);
    page += fmt::format(".SH DESCRIPTION\n{}\n", escaped(text.ends_with('.') ? text : text + "."));
    page += options_text(command);
    if (!is_program)
        page += fmt::format(".PP\nThe options of \\fB{}\\fR(1) can be given as well.\n", "slipway");
    page += commands_text(command);
    if (is_program) page += section("ENVIRONMENT", variables) + section("FILES", files);
    return page + footer_text(command) + see_also(command);
}

void write_man_pages(const CLI::App& app, std::string_view version, const std::string& folder) {
    const fs::path pages = fs::path(folder) / "man1";
    try {
        fs::create_directories(pages);
        write_file_aside(pages / (man_page_name(app) + ".1"), man_page(app, version));
    } catch (const std::exception& error) {    // told to who named the folder
        throw Stop(ExitCode::usage,
                   fmt::format("{} cannot be written: {}", pages.string(), error.what()));
    }
    for (const CLI::App* command : commands_of(app))
        write_man_pages(*command, version, folder);
}

}    // namespace slipway::client
