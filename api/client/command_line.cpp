#include "api/client/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "api/base/printable.h"
#include "api/client/find_job.h"

namespace slipway::client {
namespace {

// Each job of `named`; what fails for one is told, and the others go on. The first failure is how
// the program ends.
ExitCode run_for_each(const HttpClient& client, const std::vector<std::string>& named,
                      const JobCommand& command) {
    if (named.size() == 1) return command(client, find_job(client, named.front()));
    ExitCode outcome = ExitCode::ok;
    for (const std::string& one : named) {
        ExitCode ended = ExitCode::ok;
        try {
            ended = command(client, find_job(client, one));
        } catch (const Stop& stop) {
            // One of many is wrong: the others are as good as before.
            fmt::print(stderr, "slipway: {}: {}\n", printable_line(one),
                       printable_text(stop.what()));
            ended = stop.code();
        }
        if (outcome == ExitCode::ok) outcome = ended;
    }
    return outcome;
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

CLI::App* add_with_job(CLI::App& parent, const char* name, const char* text, Line& line,
                       JobCommand command) {
    CLI::App* one =
        add(parent, name, text, line, [&line, command = std::move(command)](const HttpClient& c) {
            return command(c, find_job(c, line.id));
        });
    one->add_option("job", line.id, job_text)->required();
    return one;
}

CLI::App* add_with_jobs(CLI::App& parent, const char* name, const char* text, Line& line,
                        JobCommand command) {
    CLI::App* one =
        add(parent, name, text, line, [&line, command = std::move(command)](const HttpClient& c) {
            return run_for_each(c, line.ids, command);
        });
    one->add_option("jobs", line.ids, fmt::format("{}; several can be given", job_text))
        ->required();
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
