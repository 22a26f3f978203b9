#include "api/spec/answers/answer_kinds.h"
#include "api/spec/sweep_spec.h"
#include "api/spec/sweep_state.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr auto trial_state_words =
    std::to_array<std::string_view>({"running", "paused", "completed", "stopped", "failed"});

const Object<Answer>& sweep_reason_table() {
    static const auto table =
        Object<Answer>("SweepReason", "Reason for the state of a sweep.")
            .open()
            .field("code", "Machine-readable code: search_over, target, stopped, no_result, …",
                   any_text, known)
            .field("message", "Human-readable message.", any_text, known);
    return table;
}

const Object<Answer>& trial_counts_table() {
    static const auto table =
        Object<Answer>("SweepTrialCounts", "How many trials are in each state.")
            .open()
            .field("total", "All trials.", count, known)
            .field("running", "Trials that are running or waiting in the queue.", count, known)
            .field("paused", "Trials that wait to be continued.", count, known)
            .field("completed", "Trials that have trained to their end.", count, known)
            .field("stopped", "Trials that the algorithm has ended early.", count, known)
            .field("failed", "Trials without a result, or cancelled by a user.", count, known);
    return table;
}

const Object<Answer>& sweep_best_summary_table() {
    static const auto table = Object<Answer>("SweepBestSummary", "Best trial so far.")
                                  .open()
                                  .field("trial", "Number of the trial.", count, known)
                                  .field("value", "Value of the objective.", Number{}, known);
    return table;
}

const Object<Answer>& sweep_answer_table() {
    static const auto table =
        Object<Answer>("Sweep", "A hyperparameter search.")
            .open()
            .field("id", "swp_…", any_text, known)
            .field("name", "Human-readable name.", any_text, known)
            .field("project", "Project that the sweep belongs to.", any_text, known)
            .field("labels", "Key-value labels for filtering.", Map<Text>{&plain_name, any_text},
                   known)
            .field("state", "State of the sweep.", Choice<SweepState>{}, known)
            .field("reason", "Reason for the state.", Nested<Answer>{&sweep_reason_table()},
                   or_null)
            .field("spec", "Spec with every default filled in, as it was created.",
                   Nested<SweepSpec>{&sweep_table()}, known)
            .field("max_trials", "Current maximum number of trials.", count, known)
            .field("max_concurrent", "Current maximum number of concurrent trials.", count, known)
            .field("trials", "How many trials are in each state.",
                   Nested<Answer>{&trial_counts_table()}, known)
            .field("best", "Best trial so far.", Nested<Answer>{&sweep_best_summary_table()},
                   or_null)
            .field("split_id", "Split whose folds every trial trains; null: trials are jobs.",
                   any_text, or_null)
            .field("core_s", "Core-seconds that its jobs have used. Lists leave it out.",
                   Number{.min = 0}, maybe)
            .field("warnings", warnings_summary, List<Nested<Answer>>{{&spec_warning_table()}},
                   maybe)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "Time of creation.", Time{}, known)
            .field("finished_at", "Time at which it ended.", Time{}, or_null);
    return table;
}

const Object<Answer>& sweep_trial_table() {
    static const auto table =
        Object<Answer>("SweepTrial", "One configuration that a sweep tries.")
            .open()
            .field("number", "Number of the trial, from 0.", count, known)
            .field("state", "State of the trial.", Word{.allowed = trial_state_words}, known)
            .field("point", "Values of the parameters by path.", AnyObject{}, known)
            .field("until", "Epochs or steps that it trains to; null: as in its job spec.", count,
                   or_null)
            .field("value", "Value that it is judged by; null: no finite value.", Number{}, or_null)
            .field("value_time", "Epochs or steps after which that was measured.", count, or_null)
            .field("last_value", "Newest value; null: no finite value.", Number{}, or_null)
            .field("last_time", "Epochs or steps after which that was measured.", count, or_null)
            .field("reports", "Number of values that were reported.", count, known)
            .field("lineage", "Weights that it took over from other trials (pbt).",
                   List<AnyObject>{}, known)
            .field("fold_values",
                   "For a cross-validation: values of the trained folds, in order, up to the first "
                   "that is not finite.",
                   List<Number>{}, known)
            .field("job_id", "Newest job of the trial.", any_text, or_null)
            .field("jobs", "Number of jobs; all of them: GET /v1/jobs?parent=.", count, known)
            .field("reason", "Newest decision about it, or why it failed.", any_text, or_null)
            .field("started_at", "Time at which it was decided on.", Time{}, known)
            .field("ended_at", "Time at which it ended.", Time{}, or_null);
    return table;
}

const Object<Answer>& sweep_best_fold_table() {
    static const auto table =
        Object<Answer>("SweepBestFold", "A fold of the best trial of a sweep.")
            .open()
            .field("fold", "Number of the fold, from 0.", count, known)
            .field("value", "Value of the fold.", Number{}, known)
            .field("job_id", "Job that saved the checkpoint.", any_text, or_null)
            .field("checkpoint_id",
                   "Checkpoint whose weights have that value. null: checkpoint_reason says why "
                   "there is none.",
                   any_text, or_null)
            .field("checkpoint_reason", "Why checkpoint_id is null.", any_text, or_null);
    return table;
}

const Object<Answer>& sweep_best_table() {
    static const auto table =
        Object<Answer>("SweepBest", "Best trial of a sweep.")
            .open()
            .field("trial", "The trial.", Nested<Answer>{&sweep_trial_table()}, known)
            .field("job_id",
                   "Job that saved the checkpoint; without one, the newest job of the trial.",
                   any_text, or_null)
            .field("checkpoint_id",
                   "Checkpoint whose weights have the value of the trial: saved at its value_time. "
                   "null: checkpoint_reason says why there is none.",
                   any_text, or_null)
            .field("checkpoint_reason", "Why checkpoint_id is null.", any_text, or_null)
            .field("folds",
                   "For a cross-validation: the weights with the value of each fold, in order.",
                   List<Nested<Answer>>{{&sweep_best_fold_table()}}, known)
            .field("spec", "Job spec with the values of the trial, ready to be submitted.",
                   AnyObject{}, or_null);
    return table;
}

const Object<Answer>& sweep_preview_trial_table() {
    static const auto table =
        Object<Answer>("SweepPreviewTrial", "A trial that a sweep would start.")
            .open()
            .field("number", "Number of the trial.", count, known)
            .field("point", "Values of the parameters by path.", AnyObject{}, known)
            .field("until",
                   "Epochs or steps that it would train to first; null: as in its job spec.", count,
                   or_null)
            .field("reason", "Where the point comes from.", any_text, known);
    return table;
}

const Object<Answer>& sweep_preview_table() {
    static const auto table =
        Object<Answer>("SweepPreview", "What a sweep would do; nothing was stored.")
            .open()
            .field("spec", "Spec with every default filled in.", Nested<SweepSpec>{&sweep_table()},
                   known)
            .field("max_trials", "Number of trials.", count, known)
            .field("warnings", warnings_summary, List<Nested<Answer>>{{&spec_warning_table()}},
                   known)
            .field("combinations", "Points of the grid before conditions and constraints.", count,
                   or_null)
            .field("trials", "First trials, before anything has been measured.",
                   List<Nested<Answer>>{{&sweep_preview_trial_table()}}, known);
    return table;
}

const Object<Answer>& sweep_decision_table() {
    static const auto table =
        Object<Answer>("SweepDecision", "A decision of a sweep.")
            .open()
            .field("seq", "Number of the log entry.", count, known)
            .field("at", "Time of the decision.", Time{}, known)
            .field("action",
                   "start, resume, keep, pause, stop, complete, exploit, retry, wait, finish or "
                   "limit.",
                   any_text, known)
            .field("trial", "Trial that it concerns.", count, or_null)
            .field("reason", "One sentence.", any_text, known)
            .field("detail", "The numbers behind it: rule, rung, value, rank, cutoff, …",
                   AnyObject{}, known);
    return table;
}

const Object<Answer>& sweep_event_table() {
    static const auto table =
        Object<Answer>("SweepEvent", "An entry of the log of a sweep.")
            .open()
            .field("seq", "Number of the entry, from 1.", count, known)
            .field("at", "Time of the entry.", Time{}, known)
            .field("event", "What happened: ask, report, end, extend, retry or limit.", AnyObject{},
                   known)
            .field("decisions", "Outcome.", List<AnyObject>{}, known);
    return table;
}

const Object<Answer>& sweep_suggestions_table() {
    static const auto table =
        Object<Answer>("SweepSuggestions", "Trials to run elsewhere.")
            .open()
            .field("trials", "Trials to start or to continue, each up to its `until`.",
                   List<Nested<Answer>>{{&sweep_trial_table()}}, known)
            .field("state", "State of the sweep.", Choice<SweepState>{}, known)
            .field("message", "Why there are no more trials now.", any_text, or_null);
    return table;
}

const Object<Answer>& sweep_importance_table() {
    static const auto item =
        Object<Answer>("SweepParameterImportance", "Importance of a parameter.")
            .open()
            .field("parameter", "Path of the parameter.", any_text, known)
            .field("explained",
                   "Fraction of the variance of the objective over the whole space that it "
                   "explains by itself.",
                   Number{.min = 0, .max = 1}, known)
            .field("total", "The same with the pairs that it is part of.",
                   Number{.min = 0, .max = 1}, known);
    static const auto pair =
        Object<Answer>("SweepPairImportance", "What two parameters explain together.")
            .open()
            .field("parameters", "Paths of the two parameters.", List<Text>{any_text}, known)
            .field("explained",
                   "Fraction of the variance that they explain together, beyond what each of them "
                   "explains by itself.",
                   Number{.min = 0, .max = 1}, known);
    static const auto table =
        Object<Answer>("SweepImportance", "Importance of the parameters of a sweep.")
            .open()
            .field("items", "Parameters, the most important first; none with fewer than 4 trials.",
                   List<Nested<Answer>>{{&item}}, known)
            .field("pairs",
                   "Pairs of parameters that explain 1 % or more, the most important "
                   "first.",
                   List<Nested<Answer>>{{&pair}}, known)
            .field("trials", "Number of trials that it was computed from.", count, known);
    return table;
}

const Object<Answer>& sweep_simulation_table() {
    static const auto table =
        Object<Answer>("SweepSimulation",
                       "Result of replaying the recorded trials under another algorithm.")
            .open()
            .field("trials", "Number of trials that it would have started.", count, known)
            .field("best", "Best trial that it would have found.",
                   Nested<Answer>{&sweep_best_summary_table()}, or_null)
            .field("regret", "How much worse that value is than the recorded best one.", Number{},
                   or_null)
            .field("time_used", "Epochs or steps of all its trials together.", count, known)
            .field("time_recorded", "Epochs or steps of all recorded trials.", count, known)
            .field("saved", "Fraction of the recorded epochs or steps that it would have saved.",
                   Number{}, or_null)
            .field("core_s_saved", "The same fraction of the core-seconds of the sweep.", Number{},
                   or_null)
            .field("cut_short",
                   "Trials that it would have trained further than their recorded curves.", count,
                   known);
    return table;
}

const Object<Answer>& retried_trial_table() {
    static const auto table = Object<Answer>("RetriedTrial", "A failed trial that is retried.")
                                  .open()
                                  .field("number", "Number of the trial.", count, known)
                                  .field("code", failure_code_summary, any_text, known)
                                  .field("reason", "Why it had failed.", any_text, or_null)
                                  .field("job_id", "Its last job.", any_text, or_null);
    return table;
}

const Object<Answer>& sweep_retry_table() {
    static const auto table =
        Object<Answer>("SweepRetry", "Failed trials of a sweep that are retried.")
            .open()
            .field("dry_run", "true: nothing was changed.", Flag{}, known)
            .field("state", "State of the sweep after it.", Choice<SweepState>{}, known)
            .field("retried", "Number of trials that are retried, or would be.", count, known)
            .field("left", "Number of failed trials that are not retried.", count, known)
            .field("codes", "Failed trials by code, before the call.", AnyObject{}, known)
            .field("items", "The trials that are retried, at most the first 1000.",
                   List<Nested<Answer>>{{&retried_trial_table()}}, known);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> sweep_answer_tables() {
    static const auto sweeps = page_of("SweepList", sweep_answer_table());
    static const auto trials = page_of("SweepTrialList", sweep_trial_table());
    static const auto decisions = page_of("SweepDecisionList", sweep_decision_table());
    static const auto events = page_of("SweepEventList", sweep_event_table());
    static const std::vector<const ObjectTable*> all{&sweep_answer_table(),
                                                     &sweeps,
                                                     &sweep_trial_table(),
                                                     &trials,
                                                     &sweep_best_table(),
                                                     &sweep_preview_table(),
                                                     &sweep_suggestions_table(),
                                                     &sweep_retry_table(),
                                                     &sweep_importance_table(),
                                                     &sweep_simulation_table(),
                                                     &decisions,
                                                     &events};
    return all;
}

}    // namespace slipway
