#include "api/client/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "api/base/printable.h"

namespace slipway::client {
namespace {

std::vector<std::string> find_all(const HttpClient& client, const std::vector<std::string>& named,
                                  NamedBy by) {
    std::vector<std::string> ids;
    for (const std::string& one : named)
        ids.push_back(find_id(client, NamedKind::job, one, by));
    return ids;
}

// What the service rejects for one job is printed, and the others go on. The first failure is how
// the program ends.
ExitCode run_for_each(const HttpClient& client, const std::vector<std::string>& ids,
                      const IdCommand& command) {
    if (ids.size() == 1) return command(client, ids.front());
    ExitCode outcome = ExitCode::ok;
    for (const std::string& id : ids) {
        ExitCode ended = ExitCode::ok;
        try {
            ended = command(client, id);
        } catch (const Stop& stop) {
            fmt::print(stderr, "slipway: {}: {}\n", id, printable_text(stop.what()));
            ended = stop.code();
        }
        if (outcome == ExitCode::ok) outcome = ended;
    }
    return outcome;
}

// "digits (ds_…)": what was typed, and what it was found to be.
std::string named_with_id(const std::string& named, const std::string& id) {
    return named == id ? id : fmt::format("{} ({})", printable_line(named), id);
}

}    // namespace

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
    command.add_option(
        "--code", line.retry.codes,
        "retry only those that failed with this code, such as data_error; can be repeated");
    command.add_flag("--dry-run", line.retry.dry_run, "show what would be retried; change nothing");
}

void add_named_argument(CLI::App& command, std::string& into, NamedKind kind, NamedBy by) {
    const bool is_job = kind == NamedKind::job;
    command.add_option(is_job ? "job" : "id", into, argument_text(kind, by))->required();
}

CLI::App* add_with_named(CLI::App& parent, const char* name, const char* text, Line& line,
                         NamedKind kind, IdCommand command, NamedBy by) {
    CLI::App* one = add(parent, name, text, line,
                        [&line, kind, by, command = std::move(command)](const HttpClient& c) {
                            return command(c, find_id(c, kind, line.id, by));
                        });
    add_named_argument(*one, line.id, kind, by);
    return one;
}

CLI::App* add_with_job(CLI::App& parent, const char* name, const char* text, Line& line,
                       IdCommand command) {
    return add_with_named(parent, name, text, line, NamedKind::job, std::move(command));
}

CLI::App* add_with_jobs(CLI::App& parent, const char* name, const char* text, Line& line,
                        IdCommand command, NamedBy by) {
    CLI::App* one = add(parent, name, text, line,
                        [&line, by, command = std::move(command)](const HttpClient& c) {
                            return run_for_each(c, find_all(c, line.ids, by), command);
                        });
    one->add_option("jobs", line.ids,
                    fmt::format("{}; several can be given", argument_text(NamedKind::job, by)))
        ->required();
    return one;
}

void add_yes(CLI::App& command, Line& line) {
    command.add_flag("-y,--yes", line.yes, "delete without asking");
}

void confirm(const Line& line, const std::string& what) {
    if (line.yes) return;
    if (isatty(STDIN_FILENO) != 1)
        throw Stop(ExitCode::usage,
                   fmt::format("delete {}? Add --yes; there is no terminal to ask on", what));
    fmt::print(stderr, "Delete {}? [y/N] ", what);
    std::string answer;
    std::getline(std::cin, answer);
    if (answer != "y" && answer != "Y" && answer != "yes")
        throw Stop(ExitCode::usage, "nothing was deleted");
}

CLI::App* add_delete(CLI::App& parent, const char* text, Line& line, NamedKind kind,
                     IdCommand command) {
    CLI::App* one = add_with_named(
        parent, "delete", text, line, kind,
        [&line, kind, command = std::move(command)](const HttpClient& c, const std::string& id) {
            confirm(line, fmt::format("{} {}", word_of(kind), named_with_id(line.id, id)));
            return command(c, id);
        },
        NamedBy::whole);
    add_yes(*one, line);
    return one;
}

CLI::App* add_delete_jobs(CLI::App& app, Line& line) {
    CLI::App* one =
        add(app, "delete", "Delete jobs that have ended, with all their data", line,
            [&line](const HttpClient& c) {
                const std::vector<std::string> ids = find_all(c, line.ids, NamedBy::whole);
                std::vector<std::string> shown;
                for (std::size_t i = 0; i < ids.size(); ++i)
                    shown.push_back(named_with_id(line.ids[i], ids[i]));
                confirm(line, fmt::format("{} {}", word_of(NamedKind::job, ids.size() > 1),
                                          fmt::join(shown, ", ")));
                return run_for_each(c, ids, delete_job);
            });
    one->add_option(
           "jobs", line.ids,
           fmt::format("{}; several can be given", argument_text(NamedKind::job, NamedBy::whole)))
        ->required();
    add_yes(*one, line);
    return one;
}

CLI::App* add_list(CLI::App& parent, const char* name, const char* text, Line& line,
                   ListCommand command) {
    CLI::App* one =
        add(parent, name, text, line, [&line, command = std::move(command)](const HttpClient& c) {
            return print_listing(command(c), line.output);
        });
    one->add_option(
           "-o,--output", line.output,
           "output format: table, wide (more columns), json, jsonl (one object per line) or csv")
        ->check(CLI::IsMember(std::vector<std::string>(output_forms.begin(), output_forms.end())));
    return one;
}

void add_changes(CLI::App& one, std::vector<std::string>& changes, const char* example) {
    one.add_option("--set", changes,
                   fmt::format("field of the file and its new value, such as {}; null removes the "
                               "field; can be repeated",
                               example))
        ->allow_extra_args(false);
}

void add_pairs(CLI::App& one, const char* option, std::map<std::string, std::string>& pairs,
               const std::string& text) {
    one.add_option_function<std::vector<std::string>>(
           option,
           [&pairs, option](const std::vector<std::string>& given) {
               for (const std::string& pair : given) {
                   const std::size_t equals = pair.find('=');
                   if (equals == std::string::npos || equals == 0)
                       throw CLI::ValidationError(option, "must be name=value, got " + pair);
                   pairs[pair.substr(0, equals)] = pair.substr(equals + 1);
               }
           },
           text)
        ->allow_extra_args(false);
}

}    // namespace slipway::client
