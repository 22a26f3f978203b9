#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/command_line.h"
#include "api/client/commands.h"
#include "api/client/follow.h"
#include "api/spec/dataset_format.h"
#include "api/spec/job_kind.h"
#include "api/spec/table/nearest.h"

namespace slipway::client {
namespace {

void add_job_commands(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "submit", "Submit a job from a JSON file", line,
                        [&line](const HttpClient& c) { return submit(c, line.submit); });
    one->add_option("file", line.submit.file, "job spec; - reads standard input")->required();
    one->add_option("--kind", line.submit.kind,
                    "what the file describes: a job spec, a prediction or an evaluation")
        ->check(CLI::IsMember(
            std::vector<std::string>(all_words<JobKind>().begin(), all_words<JobKind>().end())));
    one->add_flag("--follow", line.submit.follow, "follow the job until it ends");
    one->add_flag("--dry-run", line.submit.dry_run, "validate only; store nothing");
    one = add(app, "jobs", "List jobs, newest first", line,
              [&line](const HttpClient& c) { return list_jobs(c, line.list); });
    one->add_option("--state", line.list.state, "only jobs in these states, comma-separated");
    one->add_option("--best", line.list.best,
                    "order by the best value of this metric, such as val_loss");
    one->add_option("--limit", line.list.limit, "maximum number of jobs")
        ->check(CLI::Range(1, 100000));
    add_with_id(app, "job", "Show one job as JSON", line,
                [&line](const HttpClient& c) { return show_job(c, line.id); });
    add_with_id(app, "follow", "Follow a job until it ends", line,
                [&line](const HttpClient& c) { return follow_job(c, line.id); });
    one = add(app, "events", "Print what happens to jobs, datasets and splits, as it happens", line,
              [&line](const HttpClient& c) { return print_events(c, line.events); });
    one->add_option("--project", line.events.project, "only events of this project");
    one->add_option("--types", line.events.types,
                    "only events of these types, comma-separated, such as state,end");
    one->add_option("--count", line.events.count, "end after so many events; default: go on")
        ->check(CLI::Range(1, 1000000));
    add_with_id(app, "explain", "Explain the state of a job", line,
                [&line](const HttpClient& c) { return explain_job(c, line.id); });
    one = add_with_id(app, "logs", "Print the logs of a job", line,
                      [&line](const HttpClient& c) { return print_logs(c, line.id, line.text); });
    one->add_option("--search", line.text, "only lines whose message contains this text");
    one = add_with_id(
        app, "metrics", "Print the metrics of a job", line,
        [&line](const HttpClient& c) { return print_metrics(c, line.id, line.names, line.csv); });
    one->add_option("--names", line.names, "only these metrics, comma-separated");
    one->add_flag("--csv", line.csv, "print CSV: all points up to 200,000, evenly thinned beyond");
    one = add_with_id(
        app, "tensorboard", "Download the curves of a job as a TensorBoard event file", line,
        [&line](const HttpClient& c) { return fetch_tensorboard(c, line.id, line.out); });
    one->add_option("--out", line.out, "output folder");
    add_with_id(app, "checkpoints", "List the checkpoints of a job", line,
                [&line](const HttpClient& c) { return list_checkpoints(c, line.id); });
    one = add_with_id(
        app, "download", "Download a file of a checkpoint", line,
        [&line](const HttpClient& c) { return download(c, line.id, line.file, line.out); });
    one->add_option("file", line.file, "name of the file, such as model.safetensors")->required();
    one->add_option("--out", line.out, "output file");
    one = add_with_id(
        app, "export", "Export the weights of a checkpoint for other frameworks", line,
        [&line](const HttpClient& c) { return export_weights(c, line.id, line.weights); });
    one->add_option("--dtype", line.weights.dtype, "data type: f32 or bf16")
        ->check(CLI::IsMember({"f32", "bf16"}));
    one->add_option("--weights", line.weights.weights,
                    "average: the moving average if the job keeps one; raw: the weights that "
                    "training continues with")
        ->check(CLI::IsMember({"average", "raw"}));
    one->add_option("--out", line.weights.out, "output file");
}

// "key=value" into `pairs`.
void add_pairs(CLI::App& one, const char* option, std::map<std::string, std::string>& pairs,
               const std::string& text) {
    one.add_option_function<std::vector<std::string>>(
        option,
        [&pairs, option](const std::vector<std::string>& given) {
            for (const std::string& pair : given) {
                const std::size_t equals = pair.find('=');
                if (equals == std::string::npos)
                    throw CLI::ValidationError(option, "must be name=value, got " + pair);
                pairs[pair.substr(0, equals)] = pair.substr(equals + 1);
            }
        },
        text);
}

void add_action_commands(CLI::App& app, Line& line) {
    add_with_id(app, "cancel", "Cancel a job; it saves a checkpoint first", line,
                [&line](const HttpClient& c) { return act_on_job(c, line.id, "cancel"); });
    add_with_id(app, "kill", "Kill a job at once, without saving", line,
                [&line](const HttpClient& c) { return act_on_job(c, line.id, "kill"); });
    add_with_id(app, "pause", "Pause a job; it saves a checkpoint and frees its cores", line,
                [&line](const HttpClient& c) { return act_on_job(c, line.id, "pause"); });
    add_with_id(app, "resume", "Queue a paused job again", line,
                [&line](const HttpClient& c) { return act_on_job(c, line.id, "resume"); });
    add_with_id(app, "checkpoint", "Save a checkpoint of a running job and print its id", line,
                [&line](const HttpClient& c) { return save_checkpoint(c, line.id); });
    CLI::App* one = add_with_id(
        app, "retry",
        "Submit a job that has ended without success again; it continues from its newest "
        "checkpoint",
        line, [&line](const HttpClient& c) { return retry_job(c, line.id, line.follow); });
    one->add_flag("--follow", line.follow, "follow the new job until it ends");
    one = add(app, "fork", "Submit a job like another one, with changes", line,
              [&line](const HttpClient& c) { return fork_job(c, line.fork); });
    one->add_option("id", line.fork.job_id, "id, as returned by the service")->required();
    one->add_option("--set", line.fork.changes,
                    "field of the spec and its new value, such as train.epochs=20; null removes "
                    "the field");
    one->add_option("--file", line.fork.file, "JSON file with the fields of the spec to change");
    one->add_option("--start", line.fork.start,
                    "continue: from the full training state of a checkpoint; weights: from its "
                    "weights only; scratch: without a checkpoint")
        ->check(CLI::IsMember({"continue", "weights", "scratch"}));
    one->add_option("--checkpoint", line.fork.checkpoint,
                    "checkpoint to start from: last, best or an id");
    one->add_flag("--follow", line.fork.follow, "follow the new job until it ends");
    one->add_flag("--dry-run", line.fork.dry_run, "validate only; store nothing");
    one = add(app, "bulk", "Cancel, kill, pause, resume or delete all jobs that match", line,
              [&line](const HttpClient& c) { return bulk(c, line.bulk); });
    one->add_option("action", line.bulk.action, "action: cancel, kill, pause, resume or delete")
        ->required()
        ->check(CLI::IsMember({"cancel", "kill", "pause", "resume", "delete"}));
    one->add_option("--state", line.bulk.state, "jobs in these states, comma-separated");
    one->add_option("--project", line.bulk.project, "jobs of this project");
    one->add_option("--name", line.bulk.name, "jobs whose name contains this text");
    add_pairs(*one, "--label", line.bulk.labels, "jobs with this label, as key=value");
    one->add_option("--id", line.bulk.ids, "these jobs");
    one->add_flag("--dry-run", line.bulk.dry_run, "show what would change; change nothing");
    add_with_id(app, "pin", "Keep a checkpoint until it is unpinned", line,
                [&line](const HttpClient& c) { return act_on_checkpoint(c, line.id, "pin"); });
    add_with_id(app, "unpin", "Let a pinned checkpoint go", line,
                [&line](const HttpClient& c) { return act_on_checkpoint(c, line.id, "unpin"); });
}

void add_predict_commands(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "predict", "Run a trained model over a dataset", line,
                        [&line](const HttpClient& c) { return predict(c, line.predict); });
    PredictOptions& options = line.predict;
    one->add_option("from", options.from, "a job that has ended, or a checkpoint (ckp_…)")
        ->required();
    one->add_option("dataset", options.dataset, "dataset id or name")->required();
    one->add_option("--checkpoint", options.checkpoint,
                    "checkpoint of the job: best, last or a name");
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
                        [&line](const HttpClient& c) { return evaluate(c, line.evaluate); });
    EvaluateOptions& options = line.evaluate;
    one->add_option("from", options.from, "a job that has ended, or a checkpoint (ckp_…)")
        ->required();
    one->add_option("dataset", options.dataset,
                    "dataset id or name; default: that of the training");
    one->add_option("--checkpoint", options.checkpoint,
                    "checkpoint of the job: best, last or a name");
    auto* part = one->add_option("--part", options.part, "only this part of the dataset");
    one->add_option("--split", options.split,
                    "all, or the training or validation samples of the job: train, val; default: "
                    "val on the dataset of the training, all on another one")
        ->excludes(part);
    one->add_option("--cores", options.cores, "number of cores: 1 or 8");
    one->add_option("--precision", options.precision, "precision: f32, bf16 or bf16_true");
    one->add_option("--project", options.project, "project of the evaluation");
    one->add_flag("--follow", options.follow,
                  "follow the job until it ends, and print its metrics");
}

void add_cross_validation_commands(CLI::App& app, Line& line) {
    CLI::App* cv = app.add_subcommand("cv", "Cross-validations: train on every fold of a split");
    cv->require_subcommand(1);
    CLI::App* one = add(
        *cv, "create", "Create a cross-validation from a JSON file", line,
        [&line](const HttpClient& c) { return create_cross_validation(c, line.cross_validation); });
    one->add_option("file", line.cross_validation.file, "request; - reads standard input")
        ->required();
    one->add_flag("--watch", line.cross_validation.watch, "watch it until it ends");
    one->add_flag("--dry-run", line.cross_validation.dry_run, "validate only; store nothing");
    add_with_id(*cv, "watch", "Watch a cross-validation until it ends, in one line", line,
                [&line](const HttpClient& c) { return watch_cross_validation(c, line.id); });
    one = add(*cv, "list", "List cross-validations, newest first", line,
              [&line](const HttpClient& c) { return list_cross_validations(c, line.list); });
    one->add_option("--state", line.list.state, "only in these states, comma-separated");
    one->add_option("--limit", line.list.limit, "maximum number")->check(CLI::Range(1, 100000));
    add_with_id(*cv, "show", "Show a cross-validation as JSON", line,
                [&line](const HttpClient& c) { return show_cross_validation(c, line.id); });
    add_with_id(*cv, "folds", "List the folds with their counts, jobs and metrics", line,
                [&line](const HttpClient& c) { return list_cross_validation_folds(c, line.id); });
    one = add_with_id(*cv, "summary", "Print mean, spread and errors over the folds", line,
                      [&line](const HttpClient& c) {
                          return print_cross_validation_summary(c, line.id, line.json);
                      });
    one->add_flag("--json", line.json, "print the summary as JSON");
    one = add_with_id(*cv, "compare", "Compare another one on the same split, fold by fold", line,
                      [&line](const HttpClient& c) {
                          return compare_cross_validations(c, line.id, line.file, line.json);
                      });
    one->add_option("other", line.file, "id of the other cross-validation")->required();
    one->add_flag("--json", line.json, "print the comparison as JSON");
    one = add_with_id(*cv, "oof", "Print the out-of-fold predictions as CSV", line,
                      [&line](const HttpClient& c) { return fetch_oof(c, line.id, line.out); });
    one->add_option("--out", line.out, "output file");
    one = add(*cv, "predict", "Predict a dataset with the mean of the models of all folds", line,
              [&line](const HttpClient& c) { return predict_with_folds(c, line.ensemble); });
    one->add_option("id", line.ensemble.id, "cross-validation that has succeeded")->required();
    one->add_option("dataset", line.ensemble.dataset, "dataset id or name")->required();
    one->add_option("--part", line.ensemble.part, "only this part of the dataset");
    one->add_option("--batch", line.ensemble.batch_size_per_core, "batch size per core");
    one->add_option("--cores", line.ensemble.cores, "number of cores of each model: 1 or 8");
    one->add_option("--out", line.ensemble.out, "output file")->required();
    one = add_with_id(*cv, "retry", "Try failed folds again: all, or those of some codes", line,
                      [&line](const HttpClient& c) { return retry_folds(c, line.id, line.retry); });
    add_retry_options(*one, line);
    add_with_id(*cv, "cancel", "Cancel a cross-validation and its jobs", line,
                [&line](const HttpClient& c) { return cancel_cross_validation(c, line.id); });
    add_with_id(*cv, "delete", "Delete a cross-validation that has ended, with its jobs", line,
                [&line](const HttpClient& c) { return delete_cross_validation(c, line.id); });
}

void add_report_commands(CLI::App& app, Line& line) {
    CLI::App* one = add_with_id(
        app, "report", "Report where a job spends its time, and how to make it faster", line,
        [&line](const HttpClient& c) { return print_report(c, line.id, line.json); });
    one->add_flag("--json", line.json, "print the report as JSON");
    one = add_with_id(
        app, "graphs", "List the compiled programs of a job, or show one", line,
        [&line](const HttpClient& c) { return print_graphs(c, line.id, line.file, line.format); });
    one->add_option("hash", line.file, "hash of the program to show");
    one->add_option("--format", line.format, "output format: ir, stablehlo, dot, program or json");
    add_with_id(app, "trace", "Print the timeline of a job, for chrome://tracing or Perfetto", line,
                [&line](const HttpClient& c) { return print_trace(c, line.id); });
}

void add_dataset_commands(CLI::App& app, Line& line) {
    add(app, "datasets", "List datasets", line,
        [](const HttpClient& c) { return list_datasets(c); });
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
    add_with_id(*dataset, "show", "Show a dataset as JSON, by id or name", line,
                [&line](const HttpClient& c) { return show_dataset(c, line.id); });
    add_with_id(*dataset, "delete", "Delete a dataset that no job uses", line,
                [&line](const HttpClient& c) { return delete_dataset(c, line.id); });
}

void add_project_commands(CLI::App& app, Line& line) {
    add(app, "projects", "List projects with their weight, quota and usage", line,
        [](const HttpClient& c) { return list_projects(c); });
    CLI::App* project = app.add_subcommand("project", "Change what a project is entitled to");
    project->require_subcommand(1);
    CLI::App* one = add(*project, "set", "Set the weight or the quota of a project", line,
                        [&line](const HttpClient& c) { return set_project(c, line.project); });
    one->add_option("name", line.project.name, "name of the project; a new one is created")
        ->required();
    one->add_option("--weight", line.project.weight,
                    "weight of its share of the cores, relative to other projects");
    auto* cores = one->add_option("--cores-max", line.project.cores_max,
                                  "cores that its jobs hold at a time, at most");
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
    CLI::App* member = app.add_subcommand("member", "Change who may do what in a project");
    member->require_subcommand(1);
    CLI::App* set = add(*member, "set", "Give a member a role in a project", line,
                        [&line](const HttpClient& c) { return set_member(c, line.member); });
    set->add_option("--role", line.member.role, "viewer, editor or admin")->required();
    CLI::App* remove = add(*member, "remove", "Take the role of a member in a project away", line,
                           [&line](const HttpClient& c) { return remove_member(c, line.member); });
    for (CLI::App* each : {set, remove}) {
        each->add_option("name", line.member.name, "name of the member")->required();
        each->add_option("--project", line.member.project, "project; default: default");
    }
}

void add_group_commands(CLI::App& app, Line& line) {
    CLI::App* one =
        add(app, "groups", "List the groups of jobs of a project and their limits", line,
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
    CLI::App* queue = app.add_subcommand("queue", "Look at the queue as a whole");
    queue->require_subcommand(1);
    CLI::App* one =
        add(*queue, "stats", "Count the queued jobs by class, project and reason", line,
            [&line](const HttpClient& c) { return print_queue_stats(c, line.queue_project); });
    one->add_option("--project", line.queue_project, "only the jobs of this project");
    one = add(*queue, "decisions", "List what the scheduler decided and why, the newest first",
              line, [&line](const HttpClient& c) { return list_decisions(c, line.id); });
    one->add_option("--job", line.id, "only decisions on this job");
    one = add(*queue, "simulate", "Simulate when a job would start and whom it would delay", line,
              [&line](const HttpClient& c) { return simulate_queue(c, line.simulate); });
    one->add_option("--file", line.simulate.file, "spec of a job that would be submitted now");
    one->add_option("--job", line.simulate.job_id, "id of a queued job");
    one->add_option("--class", line.simulate.job_class, "class that this job would have");
    one->add_option("--more-hosts", line.simulate.more_hosts, "hosts that would be added");
    one->add_option("--cores-per-host", line.simulate.cores_per_host, "cores of each of them");
}

void add_webhook_commands(CLI::App& app, Line& line) {
    add(app, "webhooks", "List webhooks", line,
        [](const HttpClient& c) { return list_webhooks(c); });
    CLI::App* webhook = app.add_subcommand("webhook", "Create, change, test or delete webhooks");
    webhook->require_subcommand(1);
    CLI::App* one =
        add(*webhook, "create", "Create a webhook; prints its id and, only this once, its secret",
            line, [&line](const HttpClient& c) { return create_webhook(c, line.webhook); });
    one->add_option("url", line.webhook.url, "URL that messages are posted to")->required();
    one->add_option("--project", line.webhook.project, "project whose jobs it is told of");
    one->add_option("--description", line.webhook.description, "what it is for");
    one->add_option("--event", line.webhook.events, "event to send; can be repeated; default: all")
        ->allow_extra_args(false);
    one =
        add_with_id(*webhook, "set", "Change a webhook; prints, only this once, a new secret", line,
                    [&line](const HttpClient& c) { return set_webhook(c, line.id, line.webhook); });
    one->add_option("--url", line.webhook.url, "new URL");
    one->add_option("--event", line.webhook.events,
                    "event to send instead of those until now; can be repeated")
        ->allow_extra_args(false);
    one->add_option("--description", line.webhook.description, "what it is for");
    auto* enable = one->add_flag("--enable", line.webhook.enable, "send again");
    one->add_flag("--disable", line.webhook.disable, "send nothing until it is enabled")
        ->excludes(enable);
    one->add_flag("--rotate-secret", line.webhook.rotate_secret,
                  "make a new secret; the old one signs as well for 24 hours");
    add_with_id(*webhook, "test", "Send a test message and tell how it was taken", line,
                [&line](const HttpClient& c) { return test_webhook(c, line.id); });
    add_with_id(*webhook, "deliveries", "List the newest deliveries of a webhook", line,
                [&line](const HttpClient& c) { return list_deliveries(c, line.id); });
    one =
        add_with_id(*webhook, "redeliver", "Send a delivery again", line,
                    [&line](const HttpClient& c) { return redeliver(c, line.id, line.delivery); });
    one->add_option("delivery", line.delivery, "id of the delivery")->required();
    add_with_id(*webhook, "delete", "Delete a webhook with its deliveries", line,
                [&line](const HttpClient& c) { return delete_webhook(c, line.id); });
}

void add_machine_commands(CLI::App& app, Line& line) {
    add(app, "hosts", "List the hosts, and who drained them and why", line,
        [](const HttpClient& c) { return list_hosts(c); });
    CLI::App* host =
        app.add_subcommand("host", "Drain, take back or remove a host, or let one join");
    host->require_subcommand(1);
    CLI::App* whole =
        add_with_id(*host, "drain", "Stop scheduling new jobs on a host", line,
                    [&line](const HttpClient& c) { return drain_host(c, line.id, line.reason); });
    whole->get_option("id")->description("name of the host");
    whole->add_option("--reason", line.reason, "reason, shown to jobs that wait for the host");
    add_with_id(*host, "remove", "Remove a host that is drained or lost", line,
                [&line](const HttpClient& c) { return remove_host(c, line.id); })
        ->get_option("id")
        ->description("name of the host");
    CLI::App* join =
        add(*host, "join-token", "Print, only this once, a token that lets a host join", line,
            [&line](const HttpClient& c) { return create_join_token(c, line.join_token); });
    join->add_option("--host", line.join_token.host, "only for the host of this name");
    join->add_option("--uses", line.join_token.uses, "number of hosts that may join with it")
        ->check(CLI::Range(1, 100));
    join->add_option("--expires-s", line.join_token.expires_in_s, "seconds until it expires")
        ->check(CLI::Range(60, 7 * 86400));
    add_with_id(*host, "undrain", "Resume scheduling jobs on a host", line,
                [&line](const HttpClient& c) { return undrain_host(c, line.id); })
        ->get_option("id")
        ->description("name of the host");
    CLI::App* kept =
        add(app, "retention", "Show how long what ended jobs leave is kept, and what would go now",
            line, [&line](const HttpClient& c) { return show_retention(c, line.retention); });
    const auto days = [&](const char* flag, int& value, const char* kind) {
        kept->add_option(flag, value, fmt::format("try another number of days for {}", kind))
            ->check(CLI::Range(1, 36500));
    };
    days("--events-days", line.retention.events_days, "events");
    days("--logs-days", line.retention.logs_days, "log lines");
    days("--metrics-days", line.retention.metrics_days, "metric points");
    days("--checkpoints-days", line.retention.checkpoints_days, "checkpoints");
    days("--jobs-days", line.retention.jobs_days, "jobs");
    add(app, "cores", "List the virtual cores and the jobs that hold them", line,
        [](const HttpClient& c) { return list_cores(c); });
    CLI::App* one = add(app, "drain", "Stop scheduling new jobs on a core", line,
                        [&line](const HttpClient& c) { return drain_core(c, line.core, true); });
    one->add_option("core", line.core, "core number, 1 to 8")->required();
    one = add(app, "undrain", "Resume scheduling jobs on a core", line,
              [&line](const HttpClient& c) { return drain_core(c, line.core, false); });
    one->add_option("core", line.core, "core number, 1 to 8")->required();
    CLI::App* token = app.add_subcommand("token", "Create, list or revoke tokens");
    token->require_subcommand(1);
    one = add(*token, "create", "Create a token; its secret is printed only once", line,
              [&line](const HttpClient& c) { return create_token(c, line.token); });
    one->add_option("name", line.token.name, "name of the token")->required();
    one->add_option("--project", line.token.projects,
                    "project that it may access; can be repeated; default: all")
        ->allow_extra_args(false);
    one->add_option("--member", line.token.member,
                    "member whose token it is: it may do what the member may");
    one->add_option("--role", line.token.role, "role: viewer, editor or admin");
    add(*token, "list", "List tokens", line, [](const HttpClient& c) { return list_tokens(c); });
    one = add_with_id(
        *token, "revoke", "Revoke a token and the tokens that it created", line,
        [&line](const HttpClient& c) { return revoke_token(c, line.id, line.keep_made); });
    one->add_flag("--keep-made", line.keep_made, "keep the tokens that it created");
    add(app, "version", "Print the version of the service", line,
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
        "Command-line client of Slipway. The URL of the service and the token are read from "
        "SLIPWAY_URL and SLIPWAY_TOKEN, or from the home folder (--home, SLIPWAY_HOME).",
        "slipway");
    app.footer(
        "Exit codes: 0 success; 1 the job or the dataset failed; 2 usage error; 3 the job was "
        "cancelled; 4 rejected by the service; 5 service unreachable.");
    app.require_subcommand(1);
    app.fallthrough();
    app.add_option(
        "--url", line.connect.url,
        "URL of the service, such as http://127.0.0.1:8470; default: that of the home folder");
    app.add_option("--home", line.connect.home,
                   "home folder of the service, which holds its admin-token");
    app.add_option("--ca", line.connect.certificate_authority,
                   "PEM file of the certificate authority to trust (https)");
    add_job_commands(app, line);
    add_action_commands(app, line);
    add_predict_commands(app, line);
    add_evaluate_command(app, line);
    add_cross_validation_commands(app, line);
    add_report_commands(app, line);
    add_dataset_commands(app, line);
    add_project_commands(app, line);
    add_member_commands(app, line);
    add_group_commands(app, line);
    add_queue_commands(app, line);
    add_webhook_commands(app, line);
    add_sweep_commands(app, line);
    add_machine_commands(app, line);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0)
            if (const auto said = unknown_command(app)) throw Stop(ExitCode::usage, *said);
        return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
    }
    if (line.alone) return static_cast<int>(line.alone());
    return static_cast<int>(line.chosen(connect(line.connect)));
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
