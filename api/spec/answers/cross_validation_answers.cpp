#include "api/spec/answers/answer_kinds.h"
#include "api/spec/cross_validation_spec.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr auto cross_validation_states = std::to_array<std::string_view>(
    {"preparing", "running", "cancelling", "succeeded", "failed", "cancelled"});
constexpr auto fold_states = std::to_array<std::string_view>(
    {"waiting", "training", "predicting", "succeeded", "failed", "cancelled"});
constexpr auto metric_modes = std::to_array<std::string_view>({"min", "max"});

const Object<Answer>& cross_reason_table() {
    static const auto table =
        Object<Answer>("CrossValidationReason", "Why a cross-validation is in its state.")
            .open()
            .field("code", "split_failed, folds_failed, cancelled, owner_lost, …", any_text, known)
            .field("message", "Human-readable message.", any_text, known);
    return table;
}

const Object<Answer>& fold_counts_table() {
    static const auto table =
        Object<Answer>("FoldCounts", "How many folds are in each state.")
            .open()
            .field("total", "All folds; null until the split is ready.", count, or_null)
            .field("waiting", "Folds without a job.", count, known)
            .field("training", "Folds whose job is waiting or running.", count, known)
            .field("predicting", "Folds whose predictions are being computed.", count, known)
            .field("succeeded", "Folds that have succeeded.", count, known)
            .field("failed", "Folds that have failed.", count, known)
            .field("cancelled", "Folds that were cancelled.", count, known);
    return table;
}

const Object<Answer>& oof_table() {
    static const auto table =
        Object<Answer>("OofPredictions", "The file of the out-of-fold predictions.")
            .open()
            .field("rows", "Number of predictions.", count, known)
            .field("bytes", "Size of the file.", count, known)
            .field("sha256", "SHA-256 of the file.", any_text, known);
    return table;
}

const Object<Answer>& cross_validation_answer_table() {
    static const auto table =
        Object<Answer>("CrossValidation", "A cross-validation.")
            .open()
            .field("id", "cv_…", any_text, known)
            .field("name", "Human-readable name.", any_text, known)
            .field("project", "Project.", any_text, known)
            .field("labels", "Key-value labels.", AnyObject{}, known)
            .field("state",
                   "preparing: the split is being created; running; cancelling; succeeded, failed "
                   "or cancelled.",
                   Word{.allowed = cross_validation_states}, known)
            .field("reason", "Why it is in its state.", Nested<Answer>{&cross_reason_table()},
                   or_null)
            .field("spec", "The request, normalised.",
                   Nested<CrossValidationSpec>{&cross_validation_table()}, known)
            .field("dataset_id", "Id of the dataset.", any_text, known)
            .field("split_id", "Id of the split.", any_text, known)
            .field("split_hash", "Hash of the split's manifest; null until it is ready.", any_text,
                   or_null)
            .field("folds", "How many folds are in each state.",
                   Nested<Answer>{&fold_counts_table()}, known)
            .field("refit_job_id", "Job that trains on all samples; null: none yet.", any_text,
                   or_null)
            .field("oof", "Out-of-fold predictions; null: there are none yet.",
                   Nested<Answer>{&oof_table()}, or_null)
            .field("warnings", warnings_summary, List<Nested<Answer>>{{&spec_warning_table()}},
                   maybe)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "Time of the request.", Time{}, known)
            .field("started_at", "Time at which its split was ready.", Time{}, or_null)
            .field("finished_at", "Time at which it ended.", Time{}, or_null);
    return table;
}

const Object<Answer>& cross_validation_fold_table() {
    static const auto table =
        Object<Answer>("CrossValidationFold", "A fold of a cross-validation.")
            .open()
            .field("fold", "Number of the fold, from 0.", count, known)
            .field("repeat", "Repeat that the fold belongs to, from 0.", count, known)
            .field("state", "waiting, training, predicting, succeeded, failed or cancelled.",
                   Word{.allowed = fold_states}, known)
            .field("reason", "Why it failed or was cancelled.", any_text, or_null)
            .field("job_id", "Job that trains it.", any_text, or_null)
            .field("job_state", "State of that job; null: it has none, or was deleted.", any_text,
                   or_null)
            .field("prediction_id", "Job that predicts its validation samples.", any_text, or_null)
            .field("train_samples", "Number of training samples.", count, known)
            .field("val_samples", "Number of validation samples.", count, known)
            .field("counts",
                   "Groups and classes in training and validation, as in the report of the split; "
                   "null if the split was deleted.",
                   AnyObject{}, or_null)
            .field("metrics",
                   "Metrics of the last evaluation, with early stopping of the best one; null for "
                   "one that is not finite, and `metrics` is null until the fold has trained.",
                   AnyObject{}, or_null)
            .field("epoch", "Epoch of that evaluation; null until the fold has trained.", count,
                   or_null)
            .field("finished_at", "Time at which it ended.", Time{}, or_null);
    return table;
}

const Object<Answer>& metric_over_folds_table() {
    static const auto table =
        Object<Answer>("MetricOverFolds", "A metric over the folds that have succeeded.")
            .open()
            .field("name", "val_loss, …", any_text, known)
            .field("mode", "Whether a smaller or a larger value is better.",
                   Word{.allowed = metric_modes}, known)
            .field("folds", "Number of folds.", count, known)
            .field("nonfinite", "Folds whose value is not finite; the others are not summarised.",
                   count, known)
            .field("mean", "Mean over the folds.", Number{}, or_null)
            .field("std", "Standard deviation over the folds, with n - 1.", Number{}, or_null)
            .field("standard_error", "std / sqrt(n).", Number{}, or_null)
            .field("corrected_error",
                   "Standard error that allows for folds sharing training samples (Nadeau and "
                   "Bengio).",
                   Number{}, or_null)
            .field("weighted_mean", "Mean over the folds, weighted by validation samples.",
                   Number{}, or_null)
            .field("weighted_standard_error", "Standard error of weighted_mean.", Number{}, or_null)
            .field("min", "Smallest value.", Number{}, or_null)
            .field("max", "Largest value.", Number{}, or_null);
    return table;
}

const Object<Answer>& cross_validation_summary_table() {
    static const auto table =
        Object<Answer>("CrossValidationSummary", "Metrics of a cross-validation over its folds.")
            .open()
            .field("id", "cv_…", any_text, known)
            .field("state", "State of the cross-validation.",
                   Word{.allowed = cross_validation_states}, known)
            .field("complete", "True: every fold has succeeded and is part of the summary.", Flag{},
                   known)
            .field("folds", "How many folds are in each state.",
                   Nested<Answer>{&fold_counts_table()}, known)
            .field("failed_folds", "Numbers of the folds that failed or were cancelled.",
                   List<Integer>{}, known)
            .field("split_hash", "Hash of the split's manifest; null until it is ready.", any_text,
                   or_null)
            .field(
                "epochs_chosen_by",
                "Metric of early stopping that has chosen the epoch of each fold, on the samples "
                "that the fold is measured on: the values are optimistic. null: values are those "
                "of the last epoch.",
                any_text, or_null)
            .field("metrics", "Each metric over the folds.",
                   List<Nested<Answer>>{{&metric_over_folds_table()}}, known);
    return table;
}

const Object<Answer>& paired_fold_table() {
    static const auto table =
        Object<Answer>("PairedFold", "A metric of two cross-validations on the same fold.")
            .open()
            .field("fold", "Number of the fold.", count, known)
            .field("first", "Value of the first.", Number{}, or_null)
            .field("second", "Value of the second.", Number{}, or_null)
            .field("difference", "second - first.", Number{}, or_null);
    return table;
}

const Object<Answer>& compared_metric_table() {
    static const auto table =
        Object<Answer>("ComparedMetric", "A metric of two cross-validations, fold by fold.")
            .open()
            .field("name", "val_loss, …", any_text, known)
            .field("mode", "Whether a smaller or a larger value is better.",
                   Word{.allowed = metric_modes}, known)
            .field("folds", "Number of folds that both have.", count, known)
            .field("nonfinite", "Folds in which a value is not finite.", count, known)
            .field("first_better", "Folds on which the first is better.", count, known)
            .field("second_better", "Folds on which the second is better.", count, known)
            .field("mean_difference", "Mean of second - first.", Number{}, or_null)
            .field("std", "Standard deviation of the differences.", Number{}, or_null)
            .field("standard_error",
                   "Standard error of mean_difference, corrected for training samples shared by "
                   "the folds (Nadeau and Bengio).",
                   Number{}, or_null)
            .field("t", "mean_difference / standard_error.", Number{}, or_null)
            .field("p_value", "Two-sided p-value of t with n - 1 degrees of freedom.", Number{},
                   or_null)
            .field("low", "Lower end of the 95 % interval of mean_difference.", Number{}, or_null)
            .field("high", "Upper end of the 95 % interval of mean_difference.", Number{}, or_null)
            .field("values", "Both values of each fold.",
                   List<Nested<Answer>>{{&paired_fold_table()}}, known);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> cross_validation_answer_tables() {
    static const auto folds =
        Object<Answer>("CrossValidationFolds", "All folds of a cross-validation.")
            .open()
            .field("items", "Folds, in their order.",
                   List<Nested<Answer>>{{&cross_validation_fold_table()}}, known);
    static const auto preview =
        Object<Answer>("CrossValidationPreview", "What a request would create.")
            .open()
            .field("spec", "The request, normalised.",
                   Nested<CrossValidationSpec>{&cross_validation_table()}, known)
            .field("dataset_id", "Id of the dataset.", any_text, known)
            .field("split_id", "Existing split that would be used; null: a split would be created.",
                   any_text, or_null)
            .field("folds", "Number of folds; null: it depends on the data.", count, or_null)
            .field("warnings", warnings_summary, List<Nested<Answer>>{{&spec_warning_table()}},
                   known)
            .field("effective", "Effective values of each fold's job.", AnyObject{}, known);
    static const auto comparison =
        Object<Answer>("CrossValidationComparison", "Two cross-validations on the same split.")
            .open()
            .field("first", "cv_…", any_text, known)
            .field("second", "cv_…", any_text, known)
            .field("split_hash", "Hash of the split's manifest, which both have.", any_text, known)
            .field("folds", "Folds that have succeeded in both.", List<Integer>{}, known)
            .field("metrics", "Each metric that both have.",
                   List<Nested<Answer>>{{&compared_metric_table()}}, known);
    static const auto retried_fold =
        Object<Answer>("RetriedFold", "A fold that is retried.")
            .open()
            .field("fold", "Number of the fold; null: the training on all samples.", count, or_null)
            .field("code", failure_code_summary, any_text, known)
            .field("reason", "Why it had failed or was cancelled.", any_text, or_null)
            .field("job_id", "Job that last trained it.", any_text, or_null);
    static const auto retry =
        Object<Answer>("CrossValidationRetry", "Folds that are retried.")
            .open()
            .field("dry_run", "true: nothing was changed.", Flag{}, known)
            .field("state", "State of the cross-validation after it.",
                   Word{.allowed = cross_validation_states}, known)
            .field("retried", "Number of folds that are retried, or would be.", count, known)
            .field("left", "Number of failed folds that are not retried.", count, known)
            .field("codes", "Failed folds by code, before the call.", AnyObject{}, known)
            .field("items", "The folds that are retried.", List<Nested<Answer>>{{&retried_fold}},
                   known);
    static const auto page = page_of("CrossValidationList", cross_validation_answer_table());
    static const std::vector<const ObjectTable*> all{&cross_validation_answer_table(),
                                                     &page,
                                                     &folds,
                                                     &cross_validation_summary_table(),
                                                     &comparison,
                                                     &preview,
                                                     &retry};
    return all;
}

}    // namespace slipway
