#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <vector>

#include "api/client/command_line.h"
#include "api/client/follow.h"
#include "api/spec/job_kind.h"

namespace slipway::client {
namespace {

/// An option of `slipway jobs` that is a parameter of the query.
struct JobFilterRow {
    const char* option;
    const char* parameter;
    const char* help;
};

constexpr std::array job_filters{
    JobFilterRow{"--project", "project", "only jobs of this project"},
    JobFilterRow{"--name", "name", "only jobs whose name contains this text; case-insensitive"},
    JobFilterRow{"--kind", "kind", "only jobs of this kind: train, prediction or evaluation"},
    JobFilterRow{"--dataset", "dataset", "only jobs that use this dataset (id)"},
    JobFilterRow{"--parent", "parent",
                 "only trials or folds of this sweep or cross-validation (id); none: only jobs "
                 "that are neither"},
};

void add_basic_commands(CLI::App& app, Line& line) {
    CLI::App* one = add(app, "submit", "Submit a job from a JSON or TOML file", line,
                        [&line](const HttpClient& c) { return submit(c, line.submit); });
    one->add_option("file", line.submit.file,
                    "job spec in JSON, or in TOML (*.toml); - reads JSON from standard input")
        ->required();
    one->add_option("--kind", line.submit.kind,
                    "what the file describes: a job spec, a prediction or an evaluation")
        ->check(CLI::IsMember(
            std::vector<std::string>(all_words<JobKind>().begin(), all_words<JobKind>().end())));
    add_changes(*one, line.submit.changes, "train.optimizer.lr=0.01");
    add_pairs(*one, "--label", line.submit.labels, "label as key=value; can be repeated");
    one->add_flag("--follow", line.submit.follow, "follow the job until it ends");
    one->add_flag("--dry-run", line.submit.dry_run, "validate only; store nothing");
    one = add_list(app, "jobs", "List jobs, newest first", line,
                   [&line](const HttpClient& c) { return list_jobs(c, line.list); });
    one->alias("list");
    one->add_flag_callback(
        "--watch",
        [&line] {
            line.instead = [&line](const HttpClient& c) { return watch_jobs(c, line.list); };
        },
        "update the list every second until interrupted; in a pipe: print a line for each change "
        "of state");
    one->add_option("--state", line.list.state, "only jobs in these states, comma-separated");
    for (const auto& [option, name, help] : job_filters)
        one->add_option(option, line.list.filters[name], help);
    add_pairs(*one, "--label", line.list.labels, "only jobs with this label, as key=value");
    one->add_option("--best", line.list.best,
                    "order by the best value of this metric, such as val_loss");
    one->add_option("--limit", line.list.limit, "maximum number of jobs")
        ->check(CLI::Range(1, 100000));
    add(app, "top",
        "Show the running jobs with their cores and rates; on a terminal, update every two seconds",
        line, print_top);
    add_list(app, "compare",
             "Compare jobs: the fields of their specs that differ, the last and the best metrics",
             line, [&line](const HttpClient& c) { return compare_jobs(c, line.ids); })
        ->add_option("jobs", line.ids,
                     fmt::format("{}; 2 to 20", argument_text(NamedKind::job, NamedBy::beginning)))
        ->required();
    add_with_job(app, "job", "Show one job as JSON", line, show_job)->alias("show");
    add_with_job(app, "follow", "Follow a job until it ends", line,
                 [](const HttpClient& c, const std::string& job) { return follow_job(c, job); });
    add_with_job(app, "watch", "Follow a job until it ends, with its losses drawn on a terminal",
                 line, [](const HttpClient& c, const std::string& job) {
                     return follow_job(c, job, {.curves = true});
                 });
    one = add(app, "events", "Print what happens to jobs, datasets and splits, as it happens", line,
              [&line](const HttpClient& c) { return print_events(c, line.events); });
    one->add_option("--project", line.events.project, "only events of this project");
    one->add_option("--types", line.events.types,
                    "only events of these types, comma-separated, such as state,end");
    one->add_option("--count", line.events.count,
                    "stop after this many events; default: continue until interrupted")
        ->check(CLI::Range(1, 1000000));
}

void add_output_commands(CLI::App& app, Line& line) {
    add_with_job(app, "explain", "Explain the state of a job", line, explain_job);
    CLI::App* one = add(app, "logs", "Print the logs of a job", line, [&line](const HttpClient& c) {
        LogOptions options = line.logs;
        options.job_id = find_id(c, NamedKind::job, options.job_id);
        return print_logs(c, options);
    });
    add_named_argument(*one, line.logs.job_id, NamedKind::job);
    one->add_flag("-f,--follow", line.logs.follow,
                  "print new lines until the job ends; the exit code shows how it ended");
    one->add_option("--search", line.logs.search, "only lines whose message contains this text");
    one->add_option("--level", line.logs.level,
                    "only lines of this level or a more severe one: info, warn or error")
        ->check(CLI::IsMember({"info", "warn", "error"}));
    one->add_option("--since", line.logs.since,
                    "only lines since a duration ago, such as 30s, 10m, 2h or 1d, or since a time, "
                    "such as 2026-01-31T12:00:00Z");
    one =
        add_list(app, "metrics", "Print the metrics of a job", line, [&line](const HttpClient& c) {
            return list_metrics(c, find_id(c, NamedKind::job, line.id), line.names);
        });
    add_named_argument(*one, line.id, NamedKind::job);
    one->add_option("--names", line.names, "only these metrics, comma-separated");
    one->add_flag_callback(
        "--csv",
        [&line] {
            line.instead = [&line](const HttpClient& c) {
                return print_metrics_csv(c, find_id(c, NamedKind::job, line.id), line.names);
            };
        },
        "print CSV: all points; curves with more than 200,000 points in all are thinned evenly");
    one =
        add_with_job(app, "tensorboard", "Download the curves of a job as a TensorBoard event file",
                     line, [&line](const HttpClient& c, const std::string& job) {
                         return fetch_tensorboard(c, job, line.out);
                     });
    one->add_option("--out", line.out, "output folder");
    one = add_list(app, "checkpoints", "List the checkpoints of a job", line,
                   [&line](const HttpClient& c) {
                       return list_checkpoints(c, find_id(c, NamedKind::job, line.id));
                   });
    add_named_argument(*one, line.id, NamedKind::job);
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

/// What a PATCH of a job does.
void add_change_commands(CLI::App& app, Line& line) {
    CLI::App* one = add_with_job(app, "label", "Add labels to a job, or remove some", line,
                                 [&line](const HttpClient& c, const std::string& job) {
                                     return label_job(c, job, line.texts);
                                 });
    one->add_option("labels", line.texts, "name=value to add, name- to remove")->required();
    one = add_with_job(app, "priority", "Change the scheduling class of a queued job", line,
                       [&line](const HttpClient& c, const std::string& job) {
                           return set_priority(c, job, line.text);
                       });
    one->add_option("class", line.text, "urgent, high, normal, low or idle")->required();
    one = add_with_job(app, "pool", "Move a queued job to another pool of hosts", line,
                       [&line](const HttpClient& c, const std::string& job) {
                           return set_pool(c, job, line.text);
                       });
    one->add_option("pool", line.text, "pool, as slipway hosts shows them, or any: all hosts")
        ->required();
}

}    // namespace

void add_job_commands(CLI::App& app, Line& line) {
    add_basic_commands(app, line);
    add_output_commands(app, line);
}

void add_action_commands(CLI::App& app, Line& line) {
    add_with_jobs(
        app, "cancel", "Cancel a job; it saves a checkpoint first", line,
        [](const HttpClient& c, const std::string& job) { return act_on_job(c, job, "cancel"); },
        NamedBy::whole);
    add_with_jobs(
        app, "kill", "Kill a job at once, without saving", line,
        [](const HttpClient& c, const std::string& job) { return act_on_job(c, job, "kill"); },
        NamedBy::whole);
    add_with_jobs(
        app, "pause", "Pause a job; it saves a checkpoint and frees its cores", line,
        [](const HttpClient& c, const std::string& job) { return act_on_job(c, job, "pause"); });
    add_with_jobs(
        app, "resume", "Queue a paused job again", line,
        [](const HttpClient& c, const std::string& job) { return act_on_job(c, job, "resume"); });
    add_with_job(app, "checkpoint", "Save a checkpoint of a running job and print its id", line,
                 save_checkpoint);
    add_delete_jobs(app, line);
    add_change_commands(app, line);
    CLI::App* one = add_with_job(
        app, "retry",
        "Submit a job that has ended without success again; it continues from its newest "
        "checkpoint",
        line, [&line](const HttpClient& c, const std::string& job) {
            return retry_job(c, job, line.follow);
        });
    one->add_flag("--follow", line.follow, "follow the new job until it ends");
    one = add(app, "fork", "Submit a job like another one, with changes", line,
              [&line](const HttpClient& c) {
                  ForkOptions options = line.fork;
                  options.job_id = find_id(c, NamedKind::job, options.job_id);
                  return fork_job(c, options);
              });
    add_named_argument(*one, line.fork.job_id, NamedKind::job);
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
              [&line](const HttpClient& c) {
                  if (line.bulk.action == "delete" && !line.bulk.dry_run)
                      confirm(line, "all jobs that match (--dry-run lists them)");
                  return bulk(c, line.bulk);
              });
    one->add_option("action", line.bulk.action, "action: cancel, kill, pause, resume or delete")
        ->required()
        ->check(CLI::IsMember({"cancel", "kill", "pause", "resume", "delete"}));
    one->add_option("--state", line.bulk.state, "jobs in these states, comma-separated");
    one->add_option("--project", line.bulk.project, "jobs of this project");
    one->add_option("--name", line.bulk.name, "jobs whose name contains this text");
    add_pairs(*one, "--label", line.bulk.labels, "jobs with this label, as key=value");
    one->add_option("--id", line.bulk.ids, "these jobs");
    one->add_flag("--dry-run", line.bulk.dry_run, "show what would change; change nothing");
    add_yes(*one, line);
    add_with_id(app, "pin", "Keep a checkpoint until it is unpinned", line,
                [&line](const HttpClient& c) { return act_on_checkpoint(c, line.id, "pin"); });
    add_with_id(app, "unpin", "Unpin a checkpoint, so that it may be pruned", line,
                [&line](const HttpClient& c) { return act_on_checkpoint(c, line.id, "unpin"); });
}

}    // namespace slipway::client
