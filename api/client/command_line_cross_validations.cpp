#include <CLI/CLI.hpp>

#include "api/client/command_line.h"

namespace slipway::client {

void add_cross_validation_commands(CLI::App& app, Line& line) {
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
    add_with_id(*cv, "watch", "Show the progress of a cross-validation in one line until it ends",
                line, [&line](const HttpClient& c) { return watch_cross_validation(c, line.id); });
    one = add_list(*cv, "list", "List cross-validations, newest first", line,
                   [&line](const HttpClient& c) { return list_cross_validations(c, line.list); });
    one->add_option("--state", line.list.state, "only in these states, comma-separated");
    one->add_option("--limit", line.list.limit, "maximum number")->check(CLI::Range(1, 100000));
    add_with_id(*cv, "show", "Show a cross-validation as JSON", line,
                [&line](const HttpClient& c) { return show_cross_validation(c, line.id); });
    add_list(*cv, "folds", "List the folds with their counts, jobs and metrics", line,
             [&line](const HttpClient& c) { return list_cross_validation_folds(c, line.id); })
        ->add_option("id", line.id, "id, as returned by the service")
        ->required();
    one = add_with_id(*cv, "summary", "Print the mean and the errors of each metric over the folds",
                      line, [&line](const HttpClient& c) {
                          return print_cross_validation_summary(c, line.id, line.json);
                      });
    one->add_flag("--json", line.json, "print the summary as JSON");
    one =
        add_with_id(*cv, "compare", "Compare two cross-validations of the same split, fold by fold",
                    line, [&line](const HttpClient& c) {
                        return compare_cross_validations(c, line.id, line.file, line.json);
                    });
    one->add_option("other", line.file, "id of the other cross-validation")->required();
    one->add_flag("--json", line.json, "print the comparison as JSON");
    one = add_with_id(*cv, "oof", "Print the out-of-fold predictions as CSV", line,
                      [&line](const HttpClient& c) { return fetch_oof(c, line.id, line.out); });
    one->add_option("--out", line.out, "output file");
    one = add(*cv, "predict", "Predict a dataset with the mean of the models of all folds", line,
              [&line](const HttpClient& c) { return predict_with_folds(c, line.ensemble); });
    one->add_option("id", line.ensemble.from, "cross-validation that has succeeded")->required();
    one->add_option("dataset", line.ensemble.dataset, "dataset id or name")->required();
    line.ensemble.checkpoint = "last";
    one->add_option("--checkpoint", line.ensemble.checkpoint,
                    "checkpoint of each fold: best, last");
    one->add_option("--part", line.ensemble.part, "only this part of the dataset");
    one->add_option("--batch", line.ensemble.batch_size_per_core, "batch size per core");
    one->add_option("--cores", line.ensemble.cores, "number of cores: 1 or 8");
    one->add_option("--out", line.ensemble.out, "output file")->required();
    one = add_with_id(*cv, "retry", "Retry failed folds: all, or those with certain codes", line,
                      [&line](const HttpClient& c) { return retry_folds(c, line.id, line.retry); });
    add_retry_options(*one, line);
    add_with_id(*cv, "cancel", "Cancel a cross-validation and its jobs", line,
                [&line](const HttpClient& c) { return cancel_cross_validation(c, line.id); });
    add_with_id(*cv, "delete", "Delete a cross-validation that has ended, with its jobs", line,
                [&line](const HttpClient& c) { return delete_cross_validation(c, line.id); });
}

}    // namespace slipway::client
