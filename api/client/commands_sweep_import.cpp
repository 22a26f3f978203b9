#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/base/printable.h"
#include "api/client/commands.h"
#include "api/client/request_document.h"
#include "api/client/sweep_commands.h"
#include "api/client/sweep_text.h"
#include "api/sweep_import/sweep_import.h"

namespace slipway::client {
namespace {

void put_place(std::map<std::string, std::string>& places, const std::string& text) {
    const std::size_t sign = text.rfind('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
        throw Stop(ExitCode::usage,
                   fmt::format("--map {} must be NAME=PATH, or NAME=- to leave it out",
                               printable_line(text)));
    if (!places.emplace(text.substr(0, sign), text.substr(sign + 1)).second)
        throw Stop(ExitCode::usage,
                   fmt::format("--map names {} twice", printable_line(text.substr(0, sign))));
}

Json job_in(const std::string& path) {
    const Result<ParsedJson> parsed = parse_json(read_text(path));
    if (!parsed) throw Stop(ExitCode::usage, fmt::format("{}: {}", path, parsed.error().what()));
    if (!parsed->value.is_object())
        throw Stop(ExitCode::usage, fmt::format("{}: a job spec is an object", path));
    return parsed->value;
}

// The body, after its notes on stderr.
Json imported_body(const SweepImportArguments& arguments) {
    SweepImportOptions options{.metric = arguments.metric};
    for (const std::string& text : arguments.places)
        put_place(options.places, text);
    if (!arguments.job.empty()) options.job = job_in(arguments.job);
    if (arguments.max_trials > 0) options.max_trials = arguments.max_trials;
    const Result<ImportedSweep> imported = import_sweep(read_text(arguments.file), options);
    if (!imported)
        throw Stop(ExitCode::usage, fmt::format("{} cannot be imported:\n{}", arguments.file,
                                                imported.error().what()));
    for (const std::string& note : imported->notes)
        fmt::print(stderr, "{}\n", printable_line(note));
    return imported->body;
}

}    // namespace

ExitCode print_imported_sweep(const SweepImportArguments& arguments) {
    fmt::print("{}\n", printable_text(imported_body(arguments).dump(2)));
    return ExitCode::ok;
}

ExitCode import_sweep_file(const HttpClient& client, const SweepImportArguments& arguments) {
    const Json sweep = call(client, "POST", "/v1/sweeps", imported_body(arguments));
    fmt::print("{}\n", cell(sweep, "id"));
    return arguments.watch ? watch_sweep(client, cell(sweep, "id")) : ExitCode::ok;
}

}    // namespace slipway::client
