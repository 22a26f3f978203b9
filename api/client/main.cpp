#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "api/client/commands.h"
#include "api/client/follow.h"
#include "api/client/printable.h"
#include "api/spec/table/nearest.h"

namespace slipway::client {
namespace {

using Command = std::function<ExitCode(const HttpClient&)>;

// What the command line holds; CLI11 fills it, the chosen command reads it.
struct Line {
    ConnectOptions connect;
    SubmitOptions submit;
    ListOptions list;
    DatasetOptions dataset;
    ExportWeightsOptions weights;
    PredictOptions predict;
    std::string id;
    std::string file;
    std::string out;
    std::string names;
    std::string format = "ir";
    std::string role = "editor";
    int core = 0;
    bool csv = false;
    bool keep_made = false;
    bool json = false;
    Command chosen;
};

CLI::App* add(CLI::App& parent, const char* name, const char* text, Line& line, Command command) {
    CLI::App* one = parent.add_subcommand(name, text);
    one->callback([&line, command = std::move(command)] { line.chosen = command; });
    return one;
}

CLI::App* add_with_id(CLI::App& parent, const char* name, const char* text, Line& line,
                      Command command) {
    CLI::App* one = add(parent, name, text, line, std::move(command));
    one->add_option("id", line.id, "as the service gave it")->required();
    return one;
}

void add_job_commands(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "submit", "Queue a job from a JSON file", line,
                        [&line](const HttpClient& c) { return submit(c, line.submit); });
    one->add_option("file", line.submit.file, "the job spec; - reads standard input")->required();
    one->add_flag("--follow", line.submit.follow, "stay until the job ends");
    one->add_flag("--dry-run", line.submit.dry_run, "only say what would be stored");
    one = add(app, "jobs", "List jobs, newest first", line,
              [&line](const HttpClient& c) { return list_jobs(c, line.list); });
    one->add_option("--state", line.list.state, "only these states, with commas between");
    one->add_option("--limit", line.list.limit, "at most so many")->check(CLI::Range(1, 100000));
    add_with_id(app, "job", "Show one job as JSON", line,
                [&line](const HttpClient& c) { return show_job(c, line.id); });
    add_with_id(app, "follow", "Watch a job until it ends", line,
                [&line](const HttpClient& c) { return follow_job(c, line.id); });
    add_with_id(app, "cancel", "End a job; it saves first", line,
                [&line](const HttpClient& c) { return act_on_job(c, line.id, "cancel"); });
    add_with_id(app, "kill", "End a job at once", line,
                [&line](const HttpClient& c) { return act_on_job(c, line.id, "kill"); });
    add_with_id(app, "explain", "Why a job waits, or what it does", line,
                [&line](const HttpClient& c) { return explain_job(c, line.id); });
    add_with_id(app, "logs", "Print what a job said", line,
                [&line](const HttpClient& c) { return print_logs(c, line.id); });
    one = add_with_id(app, "metrics", "Print a job's metrics", line, [&line](const HttpClient& c) {
        return print_metrics(c, line.id, line.names, line.csv);
    });
    one->add_option("--names", line.names, "only these, with commas between");
    one->add_flag("--csv", line.csv, "every point, as CSV");
    one = add_with_id(
        app, "tensorboard", "Fetch a job's curves as an event file for TensorBoard", line,
        [&line](const HttpClient& c) { return fetch_tensorboard(c, line.id, line.out); });
    one->add_option("--out", line.out, "the folder to put it in");
    add_with_id(app, "checkpoints", "List a job's checkpoints", line,
                [&line](const HttpClient& c) { return list_checkpoints(c, line.id); });
    one = add_with_id(
        app, "download", "Fetch one file of a checkpoint", line,
        [&line](const HttpClient& c) { return download(c, line.id, line.file, line.out); });
    one->add_option("file", line.file, "such as model.safetensors")->required();
    one->add_option("--out", line.out, "where to put it");
    one = add_with_id(
        app, "export", "Fetch a checkpoint's weights for other frameworks", line,
        [&line](const HttpClient& c) { return export_weights(c, line.id, line.weights); });
    one->add_option("--dtype", line.weights.dtype, "f32 or bf16")
        ->check(CLI::IsMember({"f32", "bf16"}));
    one->add_option("--weights", line.weights.weights,
                    "average: the moving average where the job keeps one; raw: the weights that "
                    "training goes on with")
        ->check(CLI::IsMember({"average", "raw"}));
    one->add_option("--out", line.weights.out, "where to put it");
}

void add_predict_commands(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "predict", "Run a trained network over a data set", line,
                        [&line](const HttpClient& c) { return predict(c, line.predict); });
    PredictOptions& options = line.predict;
    one->add_option("from", options.from, "a job that has ended, or a checkpoint (ckp_…)")
        ->required();
    one->add_option("dataset", options.dataset, "by id or name")->required();
    one->add_option("--checkpoint", options.checkpoint, "of a job: best, last or a name");
    auto* part = one->add_option("--part", options.part, "only this part of the data set");
    one->add_option("--split", options.split, "all, or the job's own side: train or val")
        ->excludes(part);
    one->add_option("--batch", options.batch_size_per_core, "samples that a core computes at once");
    one->add_option("--cores", options.cores, "1 or 8");
    one->add_option("--precision", options.precision, "f32, bf16 or bf16_true");
    one->add_option("--project", options.project, "what it belongs to");
    one->add_flag("--follow", options.follow, "stay until it ends");
    one->add_option("--out", options.out, "stay until it ends and put the CSV there");
    one = add_with_id(app, "result", "Print the CSV of a prediction", line,
                      [&line](const HttpClient& c) { return print_result(c, line.id, line.out); });
    one->add_option("--out", line.out, "where to put it");
}

void add_report_commands(CLI::App& app, Line& line) {
    CLI::App* one =
        add_with_id(app, "report", "Where a job's time goes, and what to do about it", line,
                    [&line](const HttpClient& c) { return print_report(c, line.id, line.json); });
    one->add_flag("--json", line.json, "for programs");
    one = add_with_id(
        app, "graphs", "List the programs a job made, or show one", line,
        [&line](const HttpClient& c) { return print_graphs(c, line.id, line.file, line.format); });
    one->add_option("hash", line.file, "of the one to show");
    one->add_option("--format", line.format, "ir, stablehlo, dot, program or json");
    add_with_id(app, "trace", "Print a job's timeline, for chrome://tracing or Perfetto", line,
                [&line](const HttpClient& c) { return print_trace(c, line.id); });
}

void add_dataset_commands(CLI::App& app, Line& line) {
    add(app, "datasets", "List data sets", line,
        [](const HttpClient& c) { return list_datasets(c); });
    CLI::App* dataset = app.add_subcommand("dataset", "Create, show or delete a data set");
    dataset->require_subcommand(1);
    CLI::App* one = add(*dataset, "create", "Create one and wait until it is checked", line,
                        [&line](const HttpClient& c) { return create_dataset(c, line.dataset); });
    one->add_option("name", line.dataset.name, "its name, or a .json file with the whole request")
        ->required();
    one->add_option("--format", line.dataset.format,
                    "idx, csv, image_folder, image_csv, cifar10, tfrecord, webdataset or text");
    auto* path = one->add_option("--path", line.dataset.path,
                                 "a folder below a root that the service was started with");
    one->add_option("--upload", line.dataset.upload, "a file to send: zip, tar or a single one")
        ->excludes(path)
        ->check(CLI::ExistingFile);
    one->add_option_function<std::vector<std::string>>(
        "--option",
        [&line](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
                const std::size_t equals = pair.find('=');
                if (equals == std::string::npos)
                    throw CLI::ValidationError("--option", "must be name=value, got " + pair);
                line.dataset.options[pair.substr(0, equals)] = pair.substr(equals + 1);
            }
        },
        "name=value, such as label_column=label");
    one->add_flag("!--no-wait", line.dataset.wait, "return before it is checked");
    add_with_id(*dataset, "show", "Show one as JSON (by id or name)", line,
                [&line](const HttpClient& c) { return show_dataset(c, line.id); });
    add_with_id(*dataset, "delete", "Delete one that no job uses", line,
                [&line](const HttpClient& c) { return delete_dataset(c, line.id); });
}

void add_machine_commands(CLI::App& app, Line& line) {
    add(app, "cores", "List the virtual cores and who holds them", line,
        [](const HttpClient& c) { return list_cores(c); });
    CLI::App* one = add(app, "drain", "Let no new job onto a core", line,
                        [&line](const HttpClient& c) { return drain_core(c, line.core, true); });
    one->add_option("core", line.core, "1 to 8")->required();
    one = add(app, "undrain", "Let jobs onto a core again", line,
              [&line](const HttpClient& c) { return drain_core(c, line.core, false); });
    one->add_option("core", line.core, "1 to 8")->required();
    CLI::App* token = app.add_subcommand("token", "Create, list or revoke tokens");
    token->require_subcommand(1);
    one = add_with_id(*token, "create", "Create one; it is printed once", line,
                      [&line](const HttpClient& c) { return create_token(c, line.id, line.role); });
    one->add_option("--role", line.role, "viewer, editor or admin");
    add(*token, "list", "List tokens", line, [](const HttpClient& c) { return list_tokens(c); });
    one = add_with_id(
        *token, "revoke", "Revoke one, and the tokens that it made", line,
        [&line](const HttpClient& c) { return revoke_token(c, line.id, line.keep_made); });
    one->add_flag("--keep-made", line.keep_made, "leave the tokens that it made");
    add(app, "version", "The service's version", line,
        [](const HttpClient& c) { return print_version(c); });
}

// The command whose own command is missing, or the program itself.
const CLI::App& innermost(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.front());
}

std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name()
                                       : full_name(*app.get_parent()) + " " + app.get_name();
}

// What to say of a word that is no command; nothing when the fault is another.
std::optional<std::string> unknown_command(const CLI::App& app) {
    const CLI::App& parent = innermost(app);
    const std::vector<std::string> words = app.remaining(true);
    const auto commands = parent.get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty() || words.empty() || words.front().starts_with('-')) return std::nullopt;
    std::vector<std::string> names;
    for (const CLI::App* command : commands)
        names.push_back(command->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto meant = nearest(words.front(), views);
    return fmt::format("there is no command `{} {}`; {}", full_name(parent), words.front(),
                       meant ? fmt::format("did you mean `{} {}`?", full_name(parent), *meant)
                             : fmt::format("it has {}", fmt::join(names, ", ")));
}

int run(int argc, char** argv) {
    Line line;
    CLI::App app(
        "Slipway's command-line client. The service's address and the token come from SLIPWAY_URL "
        "and SLIPWAY_TOKEN, or from the home folder (--home, SLIPWAY_HOME).",
        "slipway");
    app.footer(
        "Exit codes: 0 done; 1 the job or the data set failed; 2 wrong use; 3 the job was "
        "cancelled; 4 refused by the service; 5 no service.");
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option("--url", line.connect.url,
                   "such as http://127.0.0.1:8470; else the home folder's service");
    app.add_option("--home", line.connect.home, "the service's home folder, for its admin-token");
    app.add_option("--ca", line.connect.certificate_authority, "PEM file to trust (https)");
    add_job_commands(app, line);
    add_predict_commands(app, line);
    add_report_commands(app, line);
    add_dataset_commands(app, line);
    add_machine_commands(app, line);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0)
            if (const auto said = unknown_command(app)) throw Stop(ExitCode::usage, *said);
        return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
    }
    return static_cast<int>(line.chosen(connect(line.connect)));
}

}    // namespace
}    // namespace slipway::client

int main(int argc, char** argv) {
    using slipway::client::ExitCode;
    using slipway::client::printable_text;
    try {
        return slipway::client::run(argc, argv);
    } catch (const slipway::client::Stop& stop) {
        fmt::print(stderr, "slipway: {}\n", printable_text(stop.what()));
        return static_cast<int>(stop.code());
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipway: {}\n", printable_text(error.what()));
        return static_cast<int>(ExitCode::unreachable);
    }
}
