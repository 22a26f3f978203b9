#include "api/client/command_line.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace slipway::client {

CLI::App* add(CLI::App& parent, const char* name, const char* text, Line& line, Command command) {
    CLI::App* one = parent.add_subcommand(name, text);
    one->callback([&line, command = std::move(command)] { line.chosen = command; });
    return one;
}

CLI::App* add_with_id(CLI::App& parent, const char* name, const char* text, Line& line,
                      Command command) {
    CLI::App* one = add(parent, name, text, line, std::move(command));
    one->add_option("id", line.id, "id, as returned by the service")->required();
    return one;
}

void add_retry_options(CLI::App& command, Line& line) {
    command.add_option("--code", line.retry.codes,
                       "only what failed with this code, such as data_error; can be repeated");
    command.add_flag("--dry-run", line.retry.dry_run, "show what would be tried again");
}

}    // namespace slipway::client
