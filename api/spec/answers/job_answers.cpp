#include "api/spec/answers/answer_kinds.h"
#include "api/spec/event.h"
#include "api/spec/job_kind.h"
#include "api/spec/job_state.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

const Object<Answer>& reason_table() {
    static const auto table =
        Object<Answer>("Reason", "Reason for the state of a job.")
            .open()
            .field("code", "Machine-readable code: nan_loss, executor_lost, …", any_text, known)
            .field("message", "Human-readable message.", any_text, known);
    return table;
}

const Object<Answer>& effective_table() {
    static const auto table =
        Object<Answer>("Effective", "Values derived from the spec.")
            .open()
            .field("world_size", "Number of cores.", count, known)
            .field("global_batch", "Batch size of a step over all cores.", count, known)
            .field("lr", "Learning rate after lr_scaling; null: nothing is trained.", Number{},
                   or_null)
            .field("precision", "Precision of the computation.", any_text, known);
    return table;
}

const Object<Answer>& progress_table() {
    static const auto table =
        Object<Answer>("Progress", "Training progress over all cores.")
            .open()
            .field("epoch", "Current epoch, from 1.", count, known)
            .field("epochs", "Total number of epochs.", count, known)
            .field("step", "Completed steps.", count, known)
            .field("steps_total", "Total number of steps.", count, known)
            .field("samples", "Training samples processed.", count, known)
            .field("samples_per_s", "Samples per second.", Number{.min = 0}, known)
            .field("eta_s", "Estimated seconds until the end.", Number{.min = 0}, or_null)
            .field("phase", "train, evaluate or predict.", any_text, known);
    return table;
}

const Object<Answer>& best_answer_table() {
    static const auto table =
        Object<Answer>("Best", "Best checkpoint so far.")
            .open()
            .field("metric", "Metric that checkpoints are compared by.", any_text, known)
            .field("value", "Value of the metric.", Number{}, or_null)
            .field("step", "Step at which the checkpoint was saved.", count, known)
            .field("checkpoint", "Id of the checkpoint.", any_text, or_null);
    return table;
}

const Object<Answer>& place_table() {
    static const auto table =
        Object<Answer>("QueuePlace", "Position of a queued job.")
            .open()
            .field("position",
                   "Position in fair order. 1: the next job to start; 1001: behind at least 1,000 "
                   "ready jobs. Held jobs are not counted.",
                   count, known)
            .field("eta_s", "Estimated seconds until the job starts, if known.", Number{.min = 0},
                   or_null);
    return table;
}

const Object<Answer>& origin_table() {
    static const auto table =
        Object<Answer>("JobOrigin", "Job that another job was made from.")
            .open()
            .field("action", "retry or fork.", any_text, known)
            .field("job_id", "job_…; it may have been deleted since.", any_text, known)
            .field("continues_from",
                   "Checkpoint that training continues from; null: it does not continue.", any_text,
                   or_null);
    return table;
}

const Object<Answer>& parent_table() {
    static const auto table =
        Object<Answer>("JobParent", "Sweep or cross-validation that a job is a part of.")
            .open()
            .field("id", "swp_… or cv_….", any_text, known)
            .field("key", "Its part: the number of a trial, or the name of a fold.", any_text,
                   known);
    return table;
}

const Object<Answer>& bulk_result_table() {
    static const auto item =
        Object<Answer>("JobBulkItem", "What happened to a job.")
            .open()
            .field("job_id", "job_…", any_text, known)
            .field("name", "Name of the job; null: the job does not exist.", any_text, or_null)
            .field("state", "State after the action; null: the job is gone.", Choice<JobState>{},
                   or_null)
            .field(
                "outcome",
                "changed; unchanged: it already was in the requested state; refused: see message.",
                any_text, known)
            .field("message", "Why the action was not possible.", any_text, or_null);
    static const auto table =
        Object<Answer>("JobBulkResult", "Result of an action on many jobs.")
            .open()
            .field("action", "The action.", any_text, known)
            .field("dry_run", "true: nothing was changed.", Flag{}, known)
            .field("changed", "Number of jobs that were changed, or would be.", count, known)
            .field("unchanged", "Number of jobs that already were in the requested state.", count,
                   known)
            .field("refused", "Number of jobs that cannot be changed in this way.", count, known)
            .field("more", "true: more jobs match; send the request again.", Flag{}, known)
            .field("items", "Each job, newest first.", List<Nested<Answer>>{{&item}}, known);
    return table;
}

const Object<Answer>& job_answer_table() {
    static const auto table =
        Object<Answer>("Job", "A job.")
            .open()
            .field("id", "job_…", any_text, known)
            .field("name", "Human-readable name.", any_text, known)
            .field("project", "Project that the job belongs to.", any_text, known)
            .field("labels", "Key-value labels for filtering.", Map<Text>{&plain_name, any_text},
                   known)
            .field("state", "State of the job.", Choice<JobState>{}, known)
            .field("reason", "Reason for the state.", Nested<Answer>{&reason_table()}, or_null)
            .field("kind", "What the job does.", Choice<JobKind>{}, known)
            .field("spec",
                   "Spec with every default filled in. For a prediction or an evaluation: the spec "
                   "of the training job, adapted for it.",
                   Nested<JobSpec>{&job_table()}, known)
            .field("prediction",
                   "Prediction spec, with the checkpoint by id; null: another kind of job.",
                   Nested<PredictionSpec>{&prediction_table()}, or_null)
            .field("evaluation",
                   "Evaluation spec, with the checkpoint by id; null: another kind of job.",
                   Nested<EvaluationSpec>{&evaluation_spec_table()}, or_null)
            .field("effective", "Values derived from the spec.", Nested<Answer>{&effective_table()},
                   or_null)
            .field("progress", "Training progress.", Nested<Answer>{&progress_table()}, or_null)
            .field("best", "Best checkpoint so far.", Nested<Answer>{&best_answer_table()}, or_null)
            .field(
                "result",
                "Last evaluation, once the job has succeeded. `failure`: the step, epoch, batch, "
                "phase, program, operation and replica in which it failed, as far as they are "
                "known, with the samples of that batch and their shapes.",
                AnyObject{}, or_null)
            .field("dataset_id", "ds_…", any_text, or_null)
            .field("attempts", "Number of attempts.", count, known)
            .field("restarts", "Number of restarts after a lost executor.", count, known)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "Time of submission.", Time{}, known)
            .field("started_at", "Time of the first start.", Time{}, or_null)
            .field("finished_at", "Time at which the job ended.", Time{}, or_null)
            .field("origin", "Job that a retry or a fork was made from.",
                   Nested<Answer>{&origin_table()}, or_null)
            .field("parent", "Sweep or cross-validation that the job is a part of.",
                   Nested<Answer>{&parent_table()}, or_null)
            .field("pruned", "What retention has removed: events, logs, metrics. Absent: nothing.",
                   List<Text>{any_text}, maybe)
            .field("traceparent",
                   "Trace that the job belongs to, from the request that submitted it (W3C Trace "
                   "Context).",
                   any_text, or_null)
            .field("order_value", "Value of the metric that the list is ordered by.", Number{},
                   maybe)
            .field("queue", "Position in the queue, while the job is queued.",
                   Nested<Answer>{&place_table()}, {.nullable = true});
    return table;
}

const Object<Answer>& schedule_preview_table() {
    static const auto point = Object<Answer>("SchedulePoint", "Learning rate of a step.")
                                  .open()
                                  .field("step", "Step, from 1.", count, known)
                                  .field("lr", "Learning rate.", Number{}, known);
    static const auto table =
        Object<Answer>("SchedulePreview", "Learning rate over the whole run.")
            .open()
            .field("steps_per_epoch", "Steps per epoch; null: known only when the job runs.", count,
                   or_null)
            .field("steps_total", "Total number of steps.", count, known)
            .field("points", "At most 50 points, spread evenly over the steps.",
                   List<Nested<Answer>>{{&point}}, known);
    return table;
}

const Object<Answer>& job_preview_table() {
    static const auto table =
        Object<Answer>("JobPreview", "Result of a dry run.")
            .open()
            .field("spec", "Spec with every default filled in.", Nested<JobSpec>{&job_table()},
                   known)
            .field("effective", "Values derived from the spec.", Nested<Answer>{&effective_table()},
                   known)
            .field(
                "schedule",
                "Learning-rate curve; null: the number of steps is known only when the job runs.",
                Nested<Answer>{&schedule_preview_table()}, {.nullable = true})
            .field("dataset_id", "ds_…", any_text, known)
            .field("queue", "Position that the job would get.", Nested<Answer>{&place_table()},
                   known);
    return table;
}

const Object<Answer>& prediction_preview_table() {
    static const auto table =
        Object<Answer>("PredictionPreview", "Result of a dry run of a prediction.")
            .open()
            .field("prediction",
                   "Prediction spec with every default filled in and the checkpoint by id.",
                   Nested<PredictionSpec>{&prediction_table()}, known)
            .field("spec", "Spec of the training job, adapted for prediction.",
                   Nested<JobSpec>{&job_table()}, known)
            .field("effective", "Values derived from the prediction.",
                   Nested<Answer>{&effective_table()}, known)
            .field("dataset_id", "ds_…", any_text, known)
            .field("queue", "Position that the job would get.", Nested<Answer>{&place_table()},
                   known);
    return table;
}

const Object<Answer>& evaluation_preview_table() {
    static const auto table =
        Object<Answer>("EvaluationPreview", "Result of a dry run of an evaluation.")
            .open()
            .field("evaluation",
                   "Evaluation spec with every default filled in and the checkpoint by id.",
                   Nested<EvaluationSpec>{&evaluation_spec_table()}, known)
            .field("spec", "Spec of the training job, adapted for evaluation.",
                   Nested<JobSpec>{&job_table()}, known)
            .field("effective", "Values derived from the evaluation.",
                   Nested<Answer>{&effective_table()}, known)
            .field("dataset_id", "ds_…", any_text, known)
            .field("queue", "Position that the job would get.", Nested<Answer>{&place_table()},
                   known);
    return table;
}

const Object<Answer>& event_table() {
    static const auto table =
        Object<Answer>("Event", "An event of a job.")
            .open()
            .field("seq", "Sequence number of the job: 1, 2, 3 …, without gaps.", count, known)
            .field("type", "Event type.", Choice<EventType>{}, known)
            .field("body", "Content of the event; see docs/formats.md.", AnyObject{}, or_null)
            .field("time", "Time of the event.", Time{}, known);
    return table;
}

const Object<Answer>& log_line_table() {
    static const auto table =
        Object<Answer>("LogLine", "A log line of a job.")
            .open()
            .field("seq", "Sequence number among the events of the job.", count, known)
            .field("time", "Time of the line.", Time{}, known)
            .field("level", "info, warn or error.", any_text, known)
            .field("message", "Text of the line.", any_text, known);
    return table;
}

const Object<Answer>& metric_point_table() {
    static const auto table =
        Object<Answer>("MetricPoint",
                       "A value of a curve, or a summary of several consecutive values.")
            .open()
            .field("step", "Number of completed steps.", count, known)
            .field("epoch", "Epoch.", count, known)
            .field("time", "Time of the measurement.", Time{}, known)
            .field("value", "Value; for a summary, the last one.", Number{}, or_null)
            .field("nonfinite", "nan, inf or -inf if value is null.", any_text, maybe)
            .field("min", "Minimum; for a summary.", Number{}, {.nullable = true})
            .field("max", "Maximum; for a summary.", Number{}, {.nullable = true})
            .field("mean", "Mean; for a summary.", Number{}, {.nullable = true})
            .field("count", "Number of values; for a summary.", count, maybe)
            .field("nonfinite_count", "Number of values that are nan or infinite; for a summary.",
                   count, maybe);
    return table;
}

const Object<Answer>& metric_series_table() {
    static const auto table =
        Object<Answer>("MetricSeries", "A metric curve.")
            .open()
            .field("name",
                   "train_loss, …: of the batch of that step only; val_loss, …: of all validation "
                   "samples.",
                   any_text, known)
            .field("points", "Points in the order of steps.",
                   List<Nested<Answer>>{{&metric_point_table()}, 0, 1000000}, known)
            .field("thinned",
                   "True if the curve was shortened to fit the 200,000 points of a response: each "
                   "point summarises several values. step_min and step_max select a range.",
                   Flag{}, maybe);
    return table;
}

const Object<Answer>& metric_list_table() {
    static const auto table = Object<Answer>("MetricList", "Metric curves of a job.")
                                  .open()
                                  .field("series", "One series per metric.",
                                         List<Nested<Answer>>{{&metric_series_table()}}, known);
    return table;
}

const Object<Answer>& job_metric_list_table() {
    static const auto job = Object<Answer>("JobMetrics", "The metric curves of a job.")
                                .open()
                                .field("job_id", "job_…", any_text, known)
                                .field("name", "Name of the job.", any_text, known)
                                .field("state", "State of the job.", Choice<JobState>{}, known)
                                .field("series", "Curves, by name.",
                                       List<Nested<Answer>>{{&metric_series_table()}}, known);
    static const auto table =
        Object<Answer>("JobMetricList", "The metric curves of several jobs.")
            .open()
            .field("jobs", "Jobs, in the order asked for.", List<Nested<Answer>>{{&job}}, known);
    return table;
}

const Object<Answer>& attempt_member_table() {
    static const auto table =
        Object<Answer>("AttemptMember", "The part of an attempt on one host.")
            .open()
            .field("rank", "Number of the member: 0, 1, 2 …; rank 0 reports and saves for all.",
                   count, known)
            .field("host", "Host that it runs on.", any_text, known)
            .field("cores", "Cores that it holds or held.", List<Integer>{{.min = 1, .max = 8}},
                   known)
            .field("pid", "Process id of its executor.", count, or_null)
            .field("exit_kind", "How it ended, on a slice: succeeded, crashed, member_lost, …",
                   any_text, or_null)
            .field("exit_status", "Exit code of its executor, or 128 + signal.", count, or_null)
            .field("message", "Why it ended.", any_text, or_null)
            .field("ended_at", "Time at which it ended, on a slice.", Time{}, or_null);
    return table;
}

const Object<Answer>& attempt_table() {
    static const auto table =
        Object<Answer>("Attempt", "An attempt to run a job.")
            .open()
            .field("attempt", "Number of the attempt within the job: 1, 2, 3 …", count, known)
            .field("host", "Host that it runs on; for a slice, the host of rank 0.", any_text,
                   known)
            .field("cores", "Cores that it holds or held there.",
                   List<Integer>{{.min = 1, .max = 8}}, known)
            .field("pid", "Process id of the executor there.", count, or_null)
            .field("members", "All of its processes by rank: one for each host.",
                   List<Nested<Answer>>{{&attempt_member_table()}}, known)
            .field("resumed_from", "ckp_…", any_text, or_null)
            .field("exit_kind", "How the attempt ended: succeeded, failed, crashed, lost, …",
                   any_text, or_null)
            .field("exit_status", "Exit code of the executor, or 128 + signal.", count, or_null)
            .field("message", "Why the attempt ended.", any_text, or_null)
            .field("created_at", "Time at which it got its cores.", Time{}, known)
            .field("started_at", "Time at which its process was recorded.", Time{}, or_null)
            .field("ended_at", "Time at which it ended.", Time{}, or_null);
    return table;
}

const Object<Answer>& slice_table() {
    static const auto table =
        Object<Answer>("Slice", "A job that runs on several hosts.")
            .open()
            .field("job_id", "job_…", any_text, known)
            .field("name", "Name of the job.", any_text, known)
            .field("project", "Project of the job.", any_text, known)
            .field("state", "State of the job.", Choice<JobState>{}, known)
            .field("attempt", "Number of the attempt within the job.", count, known)
            .field("cores", "Number of cores of all its hosts together.", count, known)
            .field("members", "Its processes by rank: one for each host.",
                   List<Nested<Answer>>{{&attempt_member_table()}}, known)
            .field("created_at", "Time at which it got its hosts.", Time{}, known);
    return table;
}

const Object<Answer>& explanation_table() {
    static const auto table =
        Object<Answer>("Explanation", "Explanation of the state of a job.")
            .open()
            .field("job_id", "job_…", any_text, known)
            .field("state", "State of the job.", Choice<JobState>{}, known)
            .field("code", "Machine-readable code: waiting_for_cores, start_after, …", any_text,
                   or_null)
            .field("message", "Human-readable message.", any_text, or_null)
            .field("cores", "Cores that the job waits for.", List<Integer>{{.min = 1, .max = 8}},
                   or_null)
            .field("blocking_job", "Job that holds the cores or starts first.", any_text, or_null)
            .field("position", "Position, as in `queue` of a job.", count, or_null)
            .field("max_wall_s",
                   "limits.max_wall_s of the job, or the default of its pool; null: no limit.",
                   Number{}, or_null)
            .field("estimated_start_at",
                   "Estimated start time; null: the job is held, or too far back in the queue.",
                   Time{}, or_null)
            .field("estimate_from", estimate_summary, Word{.allowed = estimate_words}, or_null);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> job_answer_tables() {
    static const auto jobs = page_of("JobList", job_answer_table());
    static const auto events = page_of("EventList", event_table());
    static const auto lines = page_of("LogList", log_line_table());
    static const auto attempts = page_of("AttemptList", attempt_table());
    static const auto slices = page_of("SliceList", slice_table());
    static const std::vector<const ObjectTable*> all{&job_answer_table(),
                                                     &job_preview_table(),
                                                     &prediction_preview_table(),
                                                     &evaluation_preview_table(),
                                                     &jobs,
                                                     &events,
                                                     &lines,
                                                     &metric_list_table(),
                                                     &job_metric_list_table(),
                                                     &attempts,
                                                     &slices,
                                                     &bulk_result_table(),
                                                     &explanation_table()};
    return all;
}

}    // namespace slipway
