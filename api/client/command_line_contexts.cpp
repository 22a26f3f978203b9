#include <CLI/CLI.hpp>

#include "api/client/command_line.h"

namespace slipway::client {

void add_context_commands(CLI::App& app, Line& line) {
    const auto add_alone = [&line](CLI::App& parent, const char* name, const char* text,
                                   std::function<ExitCode()> command) {
        CLI::App* one = parent.add_subcommand(name, text);
        one->callback([&line, command = std::move(command)] { line.alone = command; });
        return one;
    };
    CLI::App* one =
        add_alone(app, "login", "Store the address of a service and a token as a context",
                  [&line] { return login(line.connect, line.login); });
    one->add_option("--name", line.login.name, "name of the context; default: host and port");
    one->add_option("--token-file", line.login.token_file,
                    "file with the token, or - for standard input; default: ask on a terminal, "
                    "else read standard input");
    one = add_alone(app, "logout", "Remove a context and its token",
                    [&line] { return logout(line.id); });
    one->add_option("name", line.id, "name of the context; default: the current one");
    CLI::App* context = app.add_subcommand("context", "List the contexts, or choose one");
    context->require_subcommand(1);
    one = add_alone(*context, "list", "List the contexts of slipway login",
                    [&line] { return print_listing(list_contexts(), line.output); });
    one->add_option("-o,--output", line.output, "output format: table, json, jsonl or csv")
        ->check(CLI::IsMember({"table", "wide", "json", "jsonl", "csv"}));
    one = add_alone(*context, "use", "Make a context the current one",
                    [&line] { return use_context(line.id); });
    one->add_option("name", line.id, "name of the context")->required();
}

}    // namespace slipway::client
