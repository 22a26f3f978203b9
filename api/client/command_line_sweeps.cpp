#include <CLI/CLI.hpp>

#include "api/client/command_line.h"

namespace slipway::client {
namespace {

constexpr NamedKind sweep_kind = NamedKind::sweep;

void add_sweep_import(CLI::App& sweep, Line& line) {
    CLI::App* one =
        add(sweep, "import", "Start a sweep from a file of Weights & Biases or Determined", line,
            [&line](const HttpClient& c) { return import_sweep_file(c, line.sweep_import); });
    SweepImportArguments& given = line.sweep_import;
    one->add_option("file", given.file, "sweep file in YAML; - reads standard input")->required();
    one->add_option("--job", given.job,
                    "job spec that the values are put into; default: trials run elsewhere");
    one->add_option(
        "--map", given.places,
        "NAME=PATH: path of a parameter in the job spec; NAME=-: leave it out; can be repeated");
    one->add_option("--metric", given.metric,
                    "objective, such as val_loss, instead of that of the file");
    one->add_option("--max-trials", given.max_trials,
                    "number of trials, instead of that of the file")
        ->check(CLI::Range(1, 100000));
    one->add_flag("--watch,--follow", given.watch, "watch the sweep until it ends");
    one->add_flag_callback(
        "--print",
        [&line] { line.alone = [&line] { return print_imported_sweep(line.sweep_import); }; },
        "print the sweep as JSON; start nothing");
}

void add_sweep_studies(CLI::App& sweep, Line& line) {
    CLI::App* one =
        add_with_named(sweep, "suggest", "Ask a sweep without a job for trials to run", line,
                       sweep_kind, [&line](const HttpClient& c, const std::string& id) {
                           return suggest_trials(c, id, line.suggest);
                       });
    one->add_option("--count", line.suggest.count, "number of trials")->check(CLI::Range(1, 100));
    one->add_option("--lease", line.suggest.lease_s,
                    "seconds in which each trial must be observed again; otherwise the next who "
                    "asks gets it; default: no limit")
        ->check(CLI::Range(1, 604800));
    one->add_flag("--json", line.suggest.json, "print JSON");
    one = add_with_named(sweep, "observe", "Report what a trial that runs elsewhere has measured",
                         line, sweep_kind, [&line](const HttpClient& c, const std::string& id) {
                             return observe_trial(c, id, line.observe);
                         });
    one->add_option("trial", line.observe.trial, "number of the trial")->required();
    one->add_option("--time", line.observe.time, "epochs or steps that it has trained for")
        ->check(CLI::Range(1, 1'000'000'000));
    one->add_option("--value", line.observe.value,
                    "value of the objective: a number, nan, inf or -inf");
    one->add_option("--end", line.observe.end, "the trial has ended: completed or failed")
        ->check(CLI::IsMember({"completed", "failed"}));
    one->add_option("--lease", line.observe.lease_s,
                    "seconds, from now, in which the trial must be observed again")
        ->check(CLI::Range(1, 604800));
    add_with_named(sweep, "importance", "Show which parameters matter", line, sweep_kind,
                   show_importance);
    one = add_with_named(sweep, "simulate", "Replay the recorded trials under another algorithm",
                         line, sweep_kind, [&line](const HttpClient& c, const std::string& id) {
                             return simulate_sweep(c, id, line.sweep_simulate);
                         });
    one->add_option("algorithm", line.sweep_simulate.algorithm,
                    "name of the algorithm, such as median_stop, or its JSON object")
        ->required();
    one->add_option("--max-concurrent", line.sweep_simulate.max_concurrent,
                    "maximum number of trials at a time; default: that of the sweep")
        ->check(CLI::Range(1, 1000));
}

void add_sweep_promote(CLI::App& sweep, Line& line) {
    CLI::App* one = add(sweep, "promote", "Submit a job that trains the best trial longer", line,
                        [&line](const HttpClient& c) {
                            line.promote.sweep_id = find_id(c, sweep_kind, line.promote.sweep_id);
                            return promote_sweep(c, line.promote);
                        });
    add_named_argument(*one, line.promote.sweep_id, sweep_kind);
    one->add_option("--trial", line.promote.trial, "number of the trial; default: the best one")
        ->check(CLI::NonNegativeNumber);
    one->add_option("--set", line.promote.changes,
                    "field of the spec and its new value, such as train.epochs=50, more than the "
                    "trial's");
    one->add_option("--file", line.promote.file, "JSON file with the fields of the spec to change");
    one->add_option("--start", line.promote.start,
                    "continue: from the trial's checkpoint; weights: from its weights only; "
                    "scratch: without a checkpoint")
        ->check(CLI::IsMember({"continue", "weights", "scratch"}));
    one->add_flag("--no-pin", line.promote.unpinned, "do not pin the checkpoint");
    one->add_flag("--follow", line.promote.follow, "follow the new job until it ends");
    one->add_flag("--dry-run", line.promote.dry_run, "validate only; store nothing");
}

void add_sweep_changes(CLI::App& sweep, Line& line) {
    CLI::App* one =
        add_with_named(sweep, "set", "Change the name, the labels or the concurrency of a sweep",
                       line, sweep_kind, [&line](const HttpClient& c, const std::string& id) {
                           return change_sweep(c, id, line.sweep_change);
                       });
    one->add_option("--name", line.sweep_change.name, "new name");
    one->add_option("--label", line.sweep_change.labels,
                    "KEY=VALUE, or KEY= to remove a label; can be repeated");
    one->add_option("--max-concurrent", line.sweep_change.max_concurrent,
                    "maximum number of trials at a time")
        ->check(CLI::Range(1, 1000));
    one =
        add_with_named(sweep, "retry", "Retry failed trials: all, one, or those with certain codes",
                       line, sweep_kind, [&line](const HttpClient& c, const std::string& id) {
                           if (line.trial >= 0) return retry_trial(c, id, line.trial);
                           return retry_sweep(c, id, line.retry);
                       });
    add_retry_options(*one, line);
    one->add_option("trial", line.trial, "number of the trial; default: all failed trials")
        ->check(CLI::NonNegativeNumber)
        ->excludes(one->get_option("--code"))
        ->excludes(one->get_option("--dry-run"));
}

}    // namespace

void add_sweep_commands(CLI::App& app, Line& line) {
    CLI::App* sweep = app.add_subcommand("sweep", "Search hyperparameters with many jobs");
    sweep->require_subcommand(1);
    CLI::App* one = add(*sweep, "create", "Start a sweep from a JSON or TOML file", line,
                        [&line](const HttpClient& c) { return create_sweep(c, line.sweep); });
    one->add_option("file", line.sweep.file,
                    "sweep in JSON, or in TOML (*.toml); - reads JSON from standard input")
        ->required();
    add_changes(*one, line.sweep.changes, "limits.max_trials=20");
    one->add_flag("--watch,--follow", line.sweep.watch, "watch the sweep until it ends");
    one->add_flag("--dry-run", line.sweep.dry_run, "show the first trials; store nothing");
    add_list(*sweep, "list", "List the newest 50 sweeps", line, list_sweeps);
    add_with_named(*sweep, "show", "Show one sweep as JSON", line, sweep_kind, show_sweep);
    add_with_named(*sweep, "watch", "Show the progress of a sweep in one line until it ends", line,
                   sweep_kind, watch_sweep);
    one = add_list(
        *sweep, "trials", "List the trials of a sweep", line, [&line](const HttpClient& c) {
            return list_sweep_trials(c, find_id(c, sweep_kind, line.id), line.trial_order);
        });
    add_named_argument(*one, line.id, sweep_kind);
    one->add_option("--order", line.trial_order, "order: number, best or worst")
        ->check(CLI::IsMember({"number", "best", "worst"}));
    one = add_with_named(*sweep, "best", "Show the best trial and its checkpoint", line, sweep_kind,
                         [&line](const HttpClient& c, const std::string& id) {
                             return show_best(c, id, line.json);
                         });
    one->add_flag("--spec", line.json, "print its job spec, for slipway submit");
    one = add_list(*sweep, "decisions", "List what a sweep decided and why", line,
                   [&line](const HttpClient& c) {
                       return list_sweep_decisions(c, find_id(c, sweep_kind, line.id));
                   });
    add_named_argument(*one, line.id, sweep_kind);
    const auto act = [](const char* verb) {
        return [verb](const HttpClient& c, const std::string& id) {
            return act_on_sweep(c, id, verb);
        };
    };
    add_with_named(*sweep, "pause", "Pause a sweep and its jobs", line, sweep_kind, act("pause"));
    add_with_named(*sweep, "resume", "Continue a paused sweep", line, sweep_kind, act("resume"));
    add_with_named(*sweep, "stop", "End a sweep; its jobs are cancelled", line, sweep_kind,
                   act("stop"), NamedBy::whole);
    one = add_with_named(*sweep, "extend",
                         "Raise the number of trials of a sweep; a sweep that has ended continues",
                         line, sweep_kind, [&line](const HttpClient& c, const std::string& id) {
                             return extend_sweep(c, id, line.max_trials);
                         });
    one->add_option("max_trials", line.max_trials, "new maximum number of trials")
        ->required()
        ->check(CLI::Range(1, 100000));
    add_sweep_changes(*sweep, line);
    add_sweep_promote(*sweep, line);
    add_delete(*sweep, "Delete a sweep that has ended, with its jobs", line, sweep_kind,
               delete_sweep);
    add_sweep_import(*sweep, line);
    add_sweep_studies(*sweep, line);
}

}    // namespace slipway::client
