#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace slipway::client {

/// The page of a command for man(1), in the macros of man(7): name, synopsis, arguments, options,
/// commands below it and examples, all from the table of commands. The program's own page has
/// environment and files as well.
/// version   of the program
std::string man_page(const CLI::App& command, std::string_view version);

/// "slipway-sweep-create": what the page is called, and its file without ".1".
std::string man_page_name(const CLI::App& command);

/// Writes the page of every command below `app`, and its own, into `folder`/man1.
/// errors  throws Stop{usage} when a file cannot be written
void write_man_pages(const CLI::App& app, std::string_view version, const std::string& folder);

}    // namespace slipway::client
