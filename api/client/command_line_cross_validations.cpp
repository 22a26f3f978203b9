#include <CLI/CLI.hpp>

#include "api/client/command_line.h"

namespace slipway::client {

void add_cross_validation_commands(CLI::App& app, Line& line) {
    constexpr NamedKind kind = NamedKind::cross_validation;
    CLI::App* cv = app.add_subcommand("cv", "Cross-validations: train on every fold of a split");
    cv->require_subcommand(1);
    CLI::App* one = add(
        *cv, "create", "Create a cross-validation from a JSON or TOML file", line,
        [&line](const HttpClient& c) { return create_cross_validation(c, line.cross_validation); });
    one->add_option("file", line.cross_validation.file,
                    "request in JSON, or in TOML (*.toml); - reads JSON from standard input")
        ->required();
    add_changes(*one, line.cross_validation.changes, "job.train.epochs=5");
    one->add_flag("--watch,--follow", line.cross_validation.watch, "watch it until it ends");
    one->add_flag("--dry-run", line.cross_validation.dry_run, "validate only; store nothing");
    add_with_named(*cv, "watch",
                   "Show the progress of a cross-validation in one line until it ends", line, kind,
                   watch_cross_validation);
    one = add_list(*cv, "list", "List cross-validations, newest first", line,
                   [&line](const HttpClient& c) { return list_cross_validations(c, line.list); });
    one->add_option("--state", line.list.state, "only in these states, comma-separated");
    one->add_option("--limit", line.list.limit, "maximum number")->check(CLI::Range(1, 100000));
    add_with_named(*cv, "show", "Show a cross-validation as JSON", line, kind,
                   show_cross_validation);
    one = add_list(*cv, "folds", "List the folds with their counts, jobs and metrics", line,
                   [&line](const HttpClient& c) {
                       return list_cross_validation_folds(c, find_id(c, kind, line.id));
                   });
    add_named_argument(*one, line.id, kind);
    one = add_with_named(*cv, "summary",
                         "Print the mean and the errors of each metric over the folds", line, kind,
                         [&line](const HttpClient& c, const std::string& id) {
                             return print_cross_validation_summary(c, id, line.json);
                         });
    one->add_flag("--json", line.json, "print the summary as JSON");
    one = add_with_named(
        *cv, "compare", "Compare two cross-validations of the same split, fold by fold", line, kind,
        [&line](const HttpClient& c, const std::string& id) {
            return compare_cross_validations(c, id, find_id(c, kind, line.file), line.json);
        });
    one->add_option("other", line.file, "id or name of the other cross-validation")->required();
    one->add_flag("--json", line.json, "print the comparison as JSON");
    one = add_with_named(
        *cv, "oof", "Print the out-of-fold predictions as CSV", line, kind,
        [&line](const HttpClient& c, const std::string& id) { return fetch_oof(c, id, line.out); });
    one->add_option("--out", line.out, "output file");
    one = add(*cv, "predict", "Predict a dataset with the mean of the models of all folds", line,
              [&line](const HttpClient& c) {
                  line.ensemble.from = find_id(c, kind, line.ensemble.from);
                  return predict_with_folds(c, line.ensemble);
              });
    one->add_option("id", line.ensemble.from,
                    "cross-validation that has succeeded, by its id or name")
        ->required();
    one->add_option("dataset", line.ensemble.dataset, "dataset id or name")->required();
    line.ensemble.checkpoint.clear();
    one->add_option("--checkpoint", line.ensemble.checkpoint,
                    "checkpoint of each fold: best, last; default: the one that it is judged by");
    one->add_option("--part", line.ensemble.part, "only this part of the dataset");
    one->add_option("--batch", line.ensemble.batch_size_per_core, "batch size per core");
    one->add_option("--cores", line.ensemble.cores, "number of cores: 1 or 8");
    one->add_option("--out", line.ensemble.out, "output file")->required();
    one = add_with_named(*cv, "retry", "Retry failed folds: all, or those with certain codes", line,
                         kind, [&line](const HttpClient& c, const std::string& id) {
                             return retry_folds(c, id, line.retry);
                         });
    add_retry_options(*one, line);
    add_with_named(*cv, "cancel", "Cancel a cross-validation and its jobs", line, kind,
                   cancel_cross_validation, NamedBy::whole);
    add_delete(*cv, "Delete a cross-validation that has ended, with its jobs", line, kind,
               delete_cross_validation);
}

}    // namespace slipway::client
