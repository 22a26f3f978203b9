#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <span>

#include "api/base/id.h"
#include "api/base/printable.h"
#include "api/base/version.h"
#include "api/client/command_examples.h"
#include "api/client/command_line.h"
#include "api/client/commands.h"
#include "api/client/completion.h"
#include "api/client/find_named.h"
#include "api/client/man_page.h"
#include "api/spec/dataset_format.h"
#include "api/spec/table/nearest.h"

namespace slipway::client {
namespace {

constexpr const char* model_text =
    "a job that has ended, by its id or name, a checkpoint (ckp_…), several with commas between "
    "them, or a cross-validation (cv_…)";

// What names checkpoints by itself, or a job as of find_id.
std::string find_model(const HttpClient& client, const std::string& text) {
    const bool names_checkpoints =
        is_id("ckp", text) || is_id("cv", text) || text.find(',') != std::string::npos;
    return names_checkpoints ? text : find_id(client, NamedKind::job, text);
}

void add_predict_commands(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "predict", "Run a trained model over a dataset", line,
                        [&line](const HttpClient& c) {
                            line.predict.from = find_model(c, line.predict.from);
                            return predict(c, line.predict);
                        });
    PredictOptions& options = line.predict;
    one->add_option("from", options.from, model_text)->required();
    one->add_option("dataset", options.dataset, "dataset id or name")->required();
    one->add_option("--checkpoint", options.checkpoint,
                    "checkpoint of the job: best, last or a name; of each fold: best or last");
    auto* part = one->add_option("--part", options.part, "only this part of the dataset");
    one->add_option("--split", options.split,
                    "all, or the training or validation samples of the job: train, val")
        ->excludes(part);
    one->add_option("--batch", options.batch_size_per_core, "batch size per core");
    one->add_option("--cores", options.cores, "number of cores: 1 or 8");
    one->add_option("--precision", options.precision, "precision: f32, bf16 or bf16_true");
    one->add_option("--project", options.project, "project of the prediction");
    one->add_flag("--follow", options.follow, "follow the job until it ends");
    one->add_option("--out", options.out, "wait until the job ends and write the CSV to this file");
    one = add_with_id(app, "result", "Print the CSV of a prediction", line,
                      [&line](const HttpClient& c) { return print_result(c, line.id, line.out); });
    one->add_option("--out", line.out, "output file");
}

void add_evaluate_command(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "evaluate", "Measure a trained model on labelled samples", line,
                        [&line](const HttpClient& c) {
                            line.evaluate.from = find_model(c, line.evaluate.from);
                            return evaluate(c, line.evaluate);
                        });
    EvaluateOptions& options = line.evaluate;
    one->add_option("from", options.from, model_text)->required();
    one->add_option("dataset", options.dataset,
                    "dataset id or name; default: the dataset of the training");
    one->add_option("--checkpoint", options.checkpoint,
                    "checkpoint of the job: best, last or a name; of each fold: best or last");
    auto* part = one->add_option("--part", options.part, "only this part of the dataset");
    one->add_option("--split", options.split,
                    "all samples, or the training or validation samples of the job: all, train or "
                    "val; default: val for the dataset of the training, else all")
        ->excludes(part);
    one->add_option("--cores", options.cores, "number of cores: 1 or 8");
    one->add_option("--precision", options.precision, "precision: f32, bf16 or bf16_true");
    one->add_option("--project", options.project, "project of the evaluation");
    one->add_flag("--follow", options.follow,
                  "follow the job until it ends, and print its metrics");
}

void add_report_commands(CLI::App& app, Line& line) {
    CLI::App* one =
        add_with_job(app, "report", "Report where a job spends its time, and how to make it faster",
                     line, [&line](const HttpClient& c, const std::string& job) {
                         return print_report(c, job, line.json);
                     });
    one->add_flag("--json", line.json, "print the report as JSON");
    one = add_with_job(app, "graphs", "List the compiled programs of a job, or show one", line,
                       [&line](const HttpClient& c, const std::string& job) {
                           return print_graphs(c, job, line.file, line.format);
                       });
    one->add_option("hash", line.file, "hash of the program to show");
    one->add_option("--format", line.format, "output format: ir, stablehlo, dot, program or json");
    add_with_job(app, "trace", "Print the timeline of a job, for chrome://tracing or Perfetto",
                 line, print_trace);
}

void add_dataset_commands(CLI::App& app, Line& line) {
    add_list(app, "datasets", "List datasets", line, list_datasets);
    CLI::App* dataset = app.add_subcommand("dataset", "Create, show or delete a dataset");
    dataset->require_subcommand(1);
    CLI::App* one = add(*dataset, "create", "Create a dataset and wait until it is checked", line,
                        [&line](const HttpClient& c) { return create_dataset(c, line.dataset); });
    one->add_option("name", line.dataset.name,
                    "name of the dataset, or a .json file with the full request")
        ->required();
    one->add_option("--format", line.dataset.format,
                    fmt::format("file format: {}", fmt::join(all_words<DatasetFormat>(), ", ")));
    auto* path = one->add_option("--path", line.dataset.path,
                                 "folder on the host, inside a dataset root of the service");
    one->add_option("--upload", line.dataset.upload,
                    "file to upload: a zip, a tar or a single data file")
        ->excludes(path)
        ->check(CLI::ExistingFile);
    add_pairs(*one, "--option", line.dataset.options,
              "format option as name=value, such as label_column=label");
    one->add_flag("!--no-wait", line.dataset.wait, "do not wait for the check");
    add_with_named(*dataset, "show", "Show a dataset as JSON", line, NamedKind::dataset,
                   show_dataset);
    add_delete(*dataset, "Delete a dataset that no job uses", line, NamedKind::dataset,
               delete_dataset);
}

void add_data_commands(CLI::App& app, Line& line) {
    CLI::App* data = app.add_subcommand("data", "Upload data to the service");
    data->require_subcommand(1);
    CLI::App* one =
        add(*data, "push",
            "Upload a folder or a file and create a dataset from it; after an interruption, run it "
            "again to continue",
            line, [&line](const HttpClient& c) { return push_data(c, line.data_push); });
    DataPushOptions& options = line.data_push;
    one->add_option("path", options.path, "folder or file on this machine")->required();
    one->add_option("--name", options.name, "name of the dataset; default: that of the path");
    one->add_option("--format", options.format,
                    fmt::format("file format: {}; default: recognised by the names of the files",
                                fmt::join(all_words<DatasetFormat>(), ", ")));
    one->add_option("--project", options.project, "project of the dataset");
    add_pairs(*one, "--option", options.options,
              "format option as name=value, such as label_column=label");
    one->add_flag("!--no-wait", options.wait, "do not wait for the check");
    add(app, "upload",
        "Upload a file for a job (a network or weights) and print its id; after an interruption, "
        "run it again to continue",
        line, [&line](const HttpClient& c) { return upload_file(c, line.file); })
        ->add_option("file", line.file, "file on this machine")
        ->required()
        ->check(CLI::ExistingFile);
}

void add_project_commands(CLI::App& app, Line& line) {
    add_list(app, "projects", "List projects with their weight, quota and usage", line,
             list_projects);
    CLI::App* project =
        app.add_subcommand("project", "Change the weight or the quota of a project");
    project->require_subcommand(1);
    CLI::App* one = add(*project, "set", "Set the weight or the quota of a project", line,
                        [&line](const HttpClient& c) { return set_project(c, line.project); });
    one->add_option("name", line.project.name, "name of the project; a new one is created")
        ->required();
    one->add_option("--weight", line.project.weight,
                    "weight of its share of the cores, relative to other projects");
    auto* cores = one->add_option("--cores-max", line.project.cores_max,
                                  "maximum number of cores that its jobs hold at a time");
    one->add_flag("--no-cores-max", line.project.no_cores_max, "remove the quota")->excludes(cores);
    auto* class_max = one->add_option("--class-max", line.project.class_max,
                                      "most urgent class that its jobs may have");
    one->add_flag("--no-class-max", line.project.no_class_max, "allow every class")
        ->excludes(class_max);
}

void add_member_commands(CLI::App& app, Line& line) {
    CLI::App* one =
        add(app, "members", "List the members of a project and their roles", line,
            [&line](const HttpClient& c) { return list_members(c, line.member.project); });
    one->add_option("--project", line.member.project, "project; default: default");
    CLI::App* member =
        app.add_subcommand("member", "Give members roles in a project, or remove them");
    member->require_subcommand(1);
    CLI::App* set = add(*member, "set", "Give a member a role in a project", line,
                        [&line](const HttpClient& c) { return set_member(c, line.member); });
    set->add_option("--role", line.member.role, "viewer, editor or admin")->required();
    CLI::App* remove = add(*member, "remove", "Remove a member from a project", line,
                           [&line](const HttpClient& c) { return remove_member(c, line.member); });
    for (CLI::App* each : {set, remove}) {
        each->add_option("name", line.member.name, "name of the member")->required();
        each->add_option("--project", line.member.project, "project; default: default");
    }
}

void add_group_commands(CLI::App& app, Line& line) {
    CLI::App* one =
        add_list(app, "groups", "List the groups of jobs of a project and their limits", line,
                 [&line](const HttpClient& c) { return list_groups(c, line.group_project); });
    one->add_option("--project", line.group_project, "project; default: default");
    CLI::App* group = app.add_subcommand("group", "Change the limit of a group of jobs");
    group->require_subcommand(1);
    one = add_with_id(*group, "set", "Set how many jobs of a group run at the same time", line,
                      [&line](const HttpClient& c) {
                          return set_group(c, line.group_project, line.id, line.group_limit);
                      });
    one->get_option("id")->description("name of the group");
    one->add_option("--limit", line.group_limit, "maximum number of running jobs")->required();
    one->add_option("--project", line.group_project, "project; default: default");
}

void add_queue_commands(CLI::App& app, Line& line) {
    CLI::App* queue = app.add_subcommand(
        "queue", "Show statistics and decisions of the queue, or simulate a change");
    queue->require_subcommand(1);
    CLI::App* one = add(
        *queue, "stats", "Count the queued jobs by class, project and reason, and cores by pool",
        line, [&line](const HttpClient& c) { return print_queue_stats(c, line.queue_project); });
    one->add_option("--project", line.queue_project, "only the jobs of this project");
    one = add_list(*queue, "decisions", "List what the scheduler decided and why, newest first",
                   line, [&line](const HttpClient& c) { return list_decisions(c, line.id); });
    one->add_option("--job", line.id, "only decisions on this job");
    one = add(*queue, "simulate", "Simulate when a job would start and which jobs it would delay",
              line, [&line](const HttpClient& c) { return simulate_queue(c, line.simulate); });
    one->add_option("--file", line.simulate.file,
                    "file with the spec of a job that would be submitted now");
    one->add_option("--job", line.simulate.job_id, "id of a queued job");
    one->add_option("--class", line.simulate.job_class, "class that this job would have");
    one->add_option("--more-hosts", line.simulate.more_hosts, "hosts that would be added");
    one->add_option("--cores-per-host", line.simulate.cores_per_host, "cores of each of them");
    one->add_option("--pool", line.simulate.pool,
                    "pool of these hosts; default: the default pool of the service, or local");
}

void add_webhook_commands(CLI::App& app, Line& line) {
    add_list(app, "webhooks", "List webhooks", line, list_webhooks);
    CLI::App* webhook = app.add_subcommand("webhook", "Create, change, test or delete webhooks");
    webhook->require_subcommand(1);
    CLI::App* one =
        add(*webhook, "create", "Create a webhook; prints its id, and its secret only this once",
            line, [&line](const HttpClient& c) { return create_webhook(c, line.webhook); });
    one->add_option("url", line.webhook.url, "URL that messages are posted to")->required();
    one->add_option("--project", line.webhook.project, "project whose jobs it reports");
    one->add_option("--description", line.webhook.description, "description of its purpose");
    one->add_option("--event", line.webhook.events, "event to send; can be repeated; default: all")
        ->allow_extra_args(false);
    one = add_with_id(
        *webhook, "set", "Change a webhook; a new secret is printed only this once", line,
        [&line](const HttpClient& c) { return set_webhook(c, line.id, line.webhook); });
    one->add_option("--url", line.webhook.url, "new URL");
    one->add_option("--event", line.webhook.events,
                    "event to send instead of the previous ones; can be repeated")
        ->allow_extra_args(false);
    one->add_option("--description", line.webhook.description, "description of its purpose");
    auto* enable = one->add_flag("--enable", line.webhook.enable, "send messages again");
    one->add_flag("--disable", line.webhook.disable, "send nothing until it is enabled")
        ->excludes(enable);
    one->add_flag("--rotate-secret", line.webhook.rotate_secret,
                  "create a new secret; the old one also signs for 24 hours");
    add_with_id(*webhook, "test", "Send a test message and show whether it was accepted", line,
                [&line](const HttpClient& c) { return test_webhook(c, line.id); });
    add_list(*webhook, "deliveries", "List the newest deliveries of a webhook", line,
             [&line](const HttpClient& c) { return list_deliveries(c, line.id); })
        ->add_option("id", line.id, "id, as returned by the service")
        ->required();
    one =
        add_with_id(*webhook, "redeliver", "Send a delivery again", line,
                    [&line](const HttpClient& c) { return redeliver(c, line.id, line.delivery); });
    one->add_option("delivery", line.delivery, "id of the delivery")->required();
    one = add_with_id(*webhook, "delete", "Delete a webhook with its deliveries", line,
                      [&line](const HttpClient& c) {
                          confirm(line, "webhook " + printable_line(line.id));
                          return delete_webhook(c, line.id);
                      });
    add_yes(*one, line);
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

std::string no_such_command(const CLI::App& parent, const std::string& word,
                            const std::vector<std::string>& names) {
    constexpr std::size_t listed_max = 20;
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto meant = nearest(word, views);
    std::string hint = fmt::format("`{} --help` lists them", full_name(parent));
    if (names.size() <= listed_max) hint = fmt::format("it has {}", fmt::join(names, ", "));
    if (meant) hint = fmt::format("did you mean `{} {}`?", full_name(parent), *meant);
    return fmt::format("there is no command `{} {}`; {}", full_name(parent), word, hint);
}

// What to say of a word that is no command; nothing when the fault is another.
std::optional<std::string> unknown_command(const CLI::App& app, std::span<char* const> arguments) {
    const CLI::App* first = app.get_subcommands().empty() ? nullptr : app.get_subcommands().front();
    const std::vector<std::string> words = app.remaining(true);
    // `get jobs`: a word before the first command is one that does not exist.
    const auto place = [&](const std::string& word) {
        return std::ranges::find(arguments, word, [](const char* one) { return std::string(one); });
    };
    const auto command = first == nullptr ? arguments.end() : place(first->get_name());
    const bool leads =
        command != arguments.end() && !words.empty() && place(words.front()) < command;
    const CLI::App& parent = leads ? app : innermost(app);
    const auto commands = parent.get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty() || words.empty() || words.front().starts_with('-')) return std::nullopt;
    std::vector<std::string> names;
    for (const CLI::App* one : commands)
        names.push_back(one->get_name());
    return no_such_command(parent, words.front(), names);
}

// What to say of an option that the command does not have; nothing when the fault is another.
std::optional<std::string> unknown_option(const CLI::App& app) {
    const CLI::App& command = innermost(app);
    std::vector<std::string> names;
    for (const CLI::App* one = &command; one != nullptr; one = one->get_parent())
        for (const CLI::Option* option : one->get_options())
            for (const std::string& name : option->get_lnames())
                names.push_back("--" + name);
    const std::vector<std::string_view> views(names.begin(), names.end());
    for (const std::string& word : app.remaining(true)) {
        if (!word.starts_with("--")) continue;
        const auto meant = nearest(word.substr(0, word.find('=')), views);
        return fmt::format("`{}` has no option {}; {}", full_name(command), word,
                           meant ? fmt::format("did you mean {}?", *meant)
                                 : fmt::format("`{} --help` lists them", full_name(command)));
    }
    return std::nullopt;
}

[[noreturn]] void reject_line(const CLI::App& app, std::span<char* const> arguments,
                              const CLI::ParseError& error) {
    if (const auto said = unknown_command(app, arguments)) throw Stop(ExitCode::usage, *said);
    if (const auto said = unknown_option(app)) throw Stop(ExitCode::usage, *said);
    throw Stop(ExitCode::usage,
               fmt::format("{}; see `{} --help`", error.what(), full_name(innermost(app))));
}

void add_completion_command(CLI::App& app, Line& line) {
    CLI::App* one = app.add_subcommand(
        "completion", "Print a script that lets a shell complete commands and options");
    one->add_option("shell", line.text, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember(
            std::vector<std::string>(completion_shells.begin(), completion_shells.end())));
    one->callback([&app, &line] {
        line.alone = [&app, &line] {
            fmt::print("{}", completion_script(app, line.text));
            return ExitCode::ok;
        };
    });
}

// The command that these words name. errors  throws Stop{usage}
const CLI::App& command_named(const CLI::App& app, std::span<const std::string> words) {
    if (words.empty()) return app;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (command->check_name(words.front())) return command_named(*command, words.subspan(1));
        names.push_back(command->get_name());
    }
    throw Stop(ExitCode::usage, no_such_command(app, words.front(), names));
}

void add_help_command(CLI::App& app, Line& line) {
    CLI::App* one = app.add_subcommand("help", "Print the help of the program or of a command");
    one->add_option("command", line.texts, "words of the command; default: the program");
    one->callback([&app, &line] {
        line.alone = [&app, &line] {
            app.clear();    // help of a program with a parsed command is that of the command
            const CLI::App& command = command_named(app, line.texts);
            const CLI::App* parent = command.get_parent();
            fmt::print("{}", command.help(parent == nullptr ? "" : full_name(*parent)));
            return ExitCode::ok;
        };
    });
}

void add_man_command(CLI::App& app, Line& line) {
    CLI::App* one =
        app.add_subcommand("man", "Print the manual page of the program or of a command");
    one->add_option("command", line.texts, "words of the command; default: the program");
    one->add_option("--out", line.out,
                    "write the pages of all commands into this folder of manual pages, such as "
                    "~/.local/share/man");
    one->callback([&app, &line] {
        line.alone = [&app, &line] {
            if (line.out.empty())
                fmt::print("{}", man_page(command_named(app, line.texts), release_version()));
            else
                write_man_pages(app, release_version(), line.out);
            return ExitCode::ok;
        };
    });
}

void add_shared_options(CLI::App& app, Line& line) {
    app.footer(
        "Exit codes: 0 success; 1 the job or the dataset failed; 2 usage error; 3 the job was "
        "cancelled; 4 rejected by the service; 5 service unreachable.");
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("--version", version_text("slipway"),
                         "Print the version of this program and exit");
    app.add_option("--context", line.connect.context,
                   "context of `slipway login` to use instead of the current one");
    app.add_option(
        "--url", line.connect.url,
        "URL of the service, such as http://127.0.0.1:8470; default: that of the home folder");
    app.add_option("--home", line.connect.home,
                   "home folder of the service, which holds its admin-token");
    app.add_option("--ca", line.connect.certificate_authority,
                   "PEM file of the certificate authority to trust (https)");
}

int run(int argc, char** argv) {
    Line line;
    CLI::App app(
        "Command-line client of Slipway. The service and the token are taken from the first of "
        "these that is given: --context, --url, --home; SLIPWAY_CONTEXT; SLIPWAY_URL with "
        "SLIPWAY_TOKEN, SLIPWAY_HOME; the current context of `slipway login`; the home folder.",
        "slipway");
    add_shared_options(app, line);
    add_job_commands(app, line);
    add_action_commands(app, line);
    add_predict_commands(app, line);
    add_evaluate_command(app, line);
    add_cross_validation_commands(app, line);
    add_report_commands(app, line);
    add_dataset_commands(app, line);
    add_data_commands(app, line);
    add_project_commands(app, line);
    add_member_commands(app, line);
    add_group_commands(app, line);
    add_queue_commands(app, line);
    add_webhook_commands(app, line);
    add_sweep_commands(app, line);
    add_machine_commands(app, line);
    add_token_commands(app, line);
    add_context_commands(app, line);
    add_completion_command(app, line);
    add_man_command(app, line);
    add_help_command(app, line);
    add_examples(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) reject_line(app, std::span(argv, std::size_t(argc)), error);
        return app.exit(error);    // --help and --version
    }
    if (line.alone) return static_cast<int>(line.alone());
    const Command& command = line.instead ? line.instead : line.chosen;
    return static_cast<int>(command(connect(line.connect)));
}

}    // namespace
}    // namespace slipway::client

int main(int argc, char** argv) {
    using slipway::printable_text;
    using slipway::client::ExitCode;
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
