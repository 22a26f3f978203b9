#include "api/base/id.h"
#include "api/spec/cross_validation_spec.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

bool is_split_id(std::string_view text) {
    return is_id("spl", text);
}

const TextForm split_id_form{"the id of a split (spl_…)", "^spl_[0-9a-z]{26}$", is_split_id};

/// A fold that is the only one has no mean and no spread.
void judge_cross_split(const CrossValidationSpec& spec, const Reader& at) {
    if (!spec.split && spec.split_id.empty()) {
        const Reader here = at.at("split");
        return here.report("missing_field",
                           fmt::format("{} is required: how to divide the dataset, or name a split "
                                       "that it has in split_id",
                                       here.path()));
    }
    if (!spec.split || spec.split->method != SplitMethod::fraction) return;
    const Reader here = at.at("split").at("method");
    std::vector<std::string_view> methods(all_words<SplitMethod>().begin() + 1,
                                          all_words<SplitMethod>().end());
    here.report("not_allowed",
                fmt::format("{} fraction has a single fold; use {}, or a job with "
                            "data.split.val_fraction",
                            here.path(), joined_with_or(methods)),
                as_strings(methods));
}

/// What every fold has of its own.
void judge_fold_job(const Json& given, const CrossValidationSpec& spec, const Reader& at) {
    const Json& job = given.at("job");
    const Reader here = at.at("job");
    const auto refuse = [](const Reader& field, const std::string& why) {
        field.report("inconsistent", fmt::format("{} {}", field.path(), why));
    };
    if (job.contains("name"))
        refuse(here.at("name"), "is made for each fold; name the cross-validation instead");
    if (job.contains("project") && spec.job.project != spec.project) {
        refuse(here.at("project"),
               fmt::format("must be the project of the cross-validation ({}), got {}; leave it out",
                           spec.project, spec.job.project));
    }
    if (job.at("data").contains("split")) {
        refuse(here.at("data").at("split"),
               "is the fold's; say how to divide the dataset in split, and leave it out");
    }
    if (spec.outputs.refit_on_all && spec.job.train.early_stopping) {
        refuse(here.at("train").at("early_stopping"),
               "needs validation samples, and outputs.refit_on_all trains without; leave one of "
               "them out");
    }
    if (language_task(spec.job.model.arch)) {
        refuse(
            here.at("model").at("arch"),
            fmt::format("is {}, which cuts text with its own tokenizer: text has no samples that "
                        "a split could divide; use a job with data.split.val_fraction",
                        to_string(spec.job.model.arch)));
    }
}

}    // namespace

const Object<FoldParallelism>& fold_parallelism_table() {
    static const auto table =
        Object<FoldParallelism>("FoldParallelism", "Folds that run at the same time.")
            .field("folds", &FoldParallelism::folds,
                   "Maximum number of jobs of the cross-validation that wait or run at the same "
                   "time; 1: one fold after the other.",
                   Integer{.min = 1, .max = split_folds_max})
            .field("on_fold_failure", &FoldParallelism::on_fold_failure,
                   "continue: the other folds continue; cancel: they are cancelled. Either way the "
                   "cross-validation fails and names the folds that failed.",
                   Choice<FoldFailure>{});
    return table;
}

const Object<CrossValidationOutputs>& cross_validation_outputs_table() {
    static const auto table =
        Object<CrossValidationOutputs>("CrossValidationOutputs",
                                       "Outputs of a cross-validation besides the folds' jobs.")
            .field("oof_predictions", &CrossValidationOutputs::oof_predictions,
                   "Predict the validation samples of each fold with the weights that the fold is "
                   "judged by, and collect them in one file.",
                   Flag{})
            .field("refit_on_all", &CrossValidationOutputs::refit_on_all,
                   "Train once more on all samples, without validation, when every fold has "
                   "succeeded.",
                   Flag{});
    return table;
}

const Object<CrossValidationSpec>& cross_validation_table() {
    static const auto table =
        Object<CrossValidationSpec>(
            "CrossValidationSpec", "A cross-validation: one training job for each fold of a split.")
            .field("name", &CrossValidationSpec::name, "Human-readable name. Default: generated.",
                   Text{.is_name = true}, {.absent_when_empty = true})
            .field("project", &CrossValidationSpec::project,
                   "Project that the cross-validation and its jobs belong to.",
                   Text{.form = &plain_name})
            .field("labels", &CrossValidationSpec::labels, "Key-value labels for filtering.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0, .is_name = true}, .max = 64})
            .field("split", &CrossValidationSpec::split,
                   "How to divide the dataset. If the dataset already has an equal split, that one "
                   "is used.",
                   Nested<SplitCreate>{&split_create_table()}, {.unless = "split_id"})
            .field("split_id", &CrossValidationSpec::split_id,
                   "Id of a stored split of the dataset (spl_…), instead of split.",
                   Text{.form = &split_id_form}, {.absent_when_empty = true})
            .field("parallel", &CrossValidationSpec::parallel, "Folds that run at the same time.",
                   Nested<FoldParallelism>{&fold_parallelism_table()})
            .field("outputs", &CrossValidationSpec::outputs, "Outputs besides the folds' jobs.",
                   Nested<CrossValidationOutputs>{&cross_validation_outputs_table()})
            .field("job", &CrossValidationSpec::job,
                   "The job of each fold, without name, project and data.split.",
                   Nested<JobSpec>{&job_table()}, {.required = true})
            .rule([](const Json& given, CrossValidationSpec& spec, const Reader& at) {
                judge_cross_split(spec, at);
                judge_fold_job(given, spec, at);
                spec.job.project = spec.project;
            });
    return table;
}

}    // namespace slipway
