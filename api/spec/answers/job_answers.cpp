#include "api/spec/answers/answer_kinds.h"
#include "api/spec/event.h"
#include "api/spec/job_state.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

const Object<Answer>& reason_table() {
    static const auto table =
        Object<Answer>("Reason", "Why a job is in its state.")
            .open()
            .field("code", "For programs: nan_loss, executor_lost, …", any_text, known)
            .field("message", "For people.", any_text, known);
    return table;
}

const Object<Answer>& effective_table() {
    static const auto table =
        Object<Answer>("Effective", "What the spec comes to.")
            .open()
            .field("world_size", "Cores.", count, known)
            .field("global_batch", "Samples of each step, over all cores.", count, known)
            .field("lr", "The learning rate after lr_scaling; null: nothing is trained.", Number{},
                   or_null)
            .field("precision", "Of the arithmetic.", any_text, known);
    return table;
}

const Object<Answer>& progress_table() {
    static const auto table =
        Object<Answer>("Progress", "Where the training stands, over all cores.")
            .open()
            .field("epoch", "The epoch in work, from 1.", count, known)
            .field("epochs", "How many there will be.", count, known)
            .field("step", "Steps done.", count, known)
            .field("steps_total", "How many there will be.", count, known)
            .field("samples", "Training samples seen.", count, known)
            .field("samples_per_s", "How many a second.", Number{.min = 0}, known)
            .field("eta_s", "Seconds to go.", Number{.min = 0}, or_null)
            .field("phase", "train, evaluate or predict.", any_text, known);
    return table;
}

const Object<Answer>& best_answer_table() {
    static const auto table = Object<Answer>("Best", "The best checkpoint so far.")
                                  .open()
                                  .field("metric", "What it is compared by.", any_text, known)
                                  .field("value", "Its value.", Number{}, or_null)
                                  .field("step", "When it was saved.", count, known)
                                  .field("checkpoint", "Its id.", any_text, or_null);
    return table;
}

const Object<Answer>& place_table() {
    static const auto table = Object<Answer>("QueuePlace", "Where a job stands while it is queued.")
                                  .open()
                                  .field("position",
                                         "1: the next one; 1001: behind 1,000 ready jobs or more. "
                                         "Held jobs are not counted.",
                                         count, known)
                                  .field("eta_s", "Seconds until it starts, when that can be said.",
                                         Number{.min = 0}, or_null);
    return table;
}

const Object<Answer>& job_answer_table() {
    static const auto table =
        Object<Answer>("Job", "A job.")
            .open()
            .field("id", "job_…", any_text, known)
            .field("name", "For people.", any_text, known)
            .field("project", "What it belongs to.", any_text, known)
            .field("labels", "Words of its owner.", Map<Text>{&plain_name, any_text}, known)
            .field("state", "Where it stands.", Choice<JobState>{}, known)
            .field("reason", "Why it is there.", Nested<Answer>{&reason_table()}, or_null)
            .field("kind", "train or predict.", any_text, known)
            .field("spec",
                   "What was asked, with every default filled in; of a prediction: the job that "
                   "trained, as it predicts.",
                   Nested<JobSpec>{&job_table()}, known)
            .field("prediction", "What is predicted, its checkpoint by id; null: it trains.",
                   Nested<PredictionSpec>{&prediction_table()}, or_null)
            .field("effective", "What the spec comes to.", Nested<Answer>{&effective_table()},
                   or_null)
            .field("progress", "Where the training stands.", Nested<Answer>{&progress_table()},
                   or_null)
            .field("best", "The best checkpoint so far.", Nested<Answer>{&best_answer_table()},
                   or_null)
            .field("result", "The last evaluation, once it has succeeded.", AnyObject{}, or_null)
            .field("dataset_id", "ds_…", any_text, or_null)
            .field("attempts", "How often it was started.", count, known)
            .field("restarts", "How often it was started again after a loss.", count, known)
            .field("created_by", "tok_…", any_text, or_null)
            .field("created_at", "When it was submitted.", Time{}, known)
            .field("started_at", "When it first started.", Time{}, or_null)
            .field("finished_at", "When it ended.", Time{}, or_null)
            .field("queue", "Its place, while it is queued.", Nested<Answer>{&place_table()},
                   {.nullable = true});
    return table;
}

const Object<Answer>& schedule_preview_table() {
    static const auto point = Object<Answer>("SchedulePoint", "The learning rate of a step.")
                                  .open()
                                  .field("step", "From 1.", count, known)
                                  .field("lr", "What it multiplies by.", Number{}, known);
    static const auto table =
        Object<Answer>("SchedulePreview", "The learning rate of the whole run.")
            .open()
            .field("steps_per_epoch", "null: only the executor can tell.", count, or_null)
            .field("steps_total", "How many steps there will be.", count, known)
            .field("points", "At most 50, evenly over the steps.", List<Nested<Answer>>{{&point}},
                   known);
    return table;
}

const Object<Answer>& job_preview_table() {
    static const auto table =
        Object<Answer>("JobPreview", "What a dry run says.")
            .open()
            .field("spec", "With every default filled in.", Nested<JobSpec>{&job_table()}, known)
            .field("effective", "What the spec comes to.", Nested<Answer>{&effective_table()},
                   known)
            .field("schedule",
                   "The curve of the learning rate; null: the number of steps is not known before "
                   "it runs.",
                   Nested<Answer>{&schedule_preview_table()}, {.nullable = true})
            .field("dataset_id", "ds_…", any_text, known)
            .field("queue", "The place it would get.", Nested<Answer>{&place_table()}, known);
    return table;
}

const Object<Answer>& prediction_preview_table() {
    static const auto table =
        Object<Answer>("PredictionPreview", "What a dry run of a prediction says.")
            .open()
            .field("prediction", "With every default filled in, its checkpoint by id.",
                   Nested<PredictionSpec>{&prediction_table()}, known)
            .field("spec", "The job that trained, as it predicts.", Nested<JobSpec>{&job_table()},
                   known)
            .field("effective", "What it comes to.", Nested<Answer>{&effective_table()}, known)
            .field("dataset_id", "ds_…", any_text, known)
            .field("queue", "The place it would get.", Nested<Answer>{&place_table()}, known);
    return table;
}

const Object<Answer>& event_table() {
    static const auto table =
        Object<Answer>("Event", "Something that happened to a job.")
            .open()
            .field("seq", "1, 2, 3 … of the job, without gaps.", count, known)
            .field("type", "What kind.", Choice<EventType>{}, known)
            .field("body", "What happened; see docs/formats.md.", AnyObject{}, or_null)
            .field("time", "When.", Time{}, known);
    return table;
}

const Object<Answer>& log_line_table() {
    static const auto table = Object<Answer>("LogLine", "Something a job said.")
                                  .open()
                                  .field("seq", "Its number among the events.", count, known)
                                  .field("time", "When.", Time{}, known)
                                  .field("level", "info, warn or error.", any_text, known)
                                  .field("message", "What.", any_text, known);
    return table;
}

const Object<Answer>& metric_point_table() {
    static const auto table =
        Object<Answer>("MetricPoint", "One value of a curve, or a stretch of it.")
            .open()
            .field("step", "After so many steps.", count, known)
            .field("epoch", "In this epoch.", count, known)
            .field("time", "When it was measured.", Time{}, known)
            .field("value", "Its value; of a stretch the last one.", Number{}, or_null)
            .field("nonfinite", "nan, inf or -inf, when value is null.", any_text, maybe)
            .field("min", "Smallest value of a stretch.", Number{}, {.nullable = true})
            .field("max", "Greatest value of a stretch.", Number{}, {.nullable = true})
            .field("count", "Values in a stretch.", count, maybe)
            .field("nonfinite_count", "How many of them are no numbers.", count, maybe);
    return table;
}

const Object<Answer>& metric_series_table() {
    static const auto table =
        Object<Answer>("MetricSeries", "One curve.")
            .open()
            .field("name",
                   "train_loss, … (of the batch of that step alone); val_loss, … (of the whole "
                   "validation part).",
                   any_text, known)
            .field("points", "In the order of steps.",
                   List<Nested<Answer>>{{&metric_point_table()}, 0, 1000000}, known)
            .field("thinned",
                   "True when the curve is longer than its share of the 200,000 points of an "
                   "answer: its points are stretches. step_min and step_max ask for a part.",
                   Flag{}, maybe);
    return table;
}

const Object<Answer>& metric_list_table() {
    static const auto table = Object<Answer>("MetricList", "Curves of a job.")
                                  .open()
                                  .field("series", "One for each name.",
                                         List<Nested<Answer>>{{&metric_series_table()}}, known);
    return table;
}

const Object<Answer>& attempt_table() {
    static const auto table =
        Object<Answer>("Attempt", "One try to run a job.")
            .open()
            .field("attempt", "1, 2, 3 … of the job.", count, known)
            .field("host", "Where it runs.", any_text, known)
            .field("cores", "The cores it holds or held.", List<Integer>{{.min = 1, .max = 8}},
                   known)
            .field("pid", "Of its executor.", count, or_null)
            .field("resumed_from", "ckp_…", any_text, or_null)
            .field("exit_kind", "How it ended: succeeded, failed, crashed, lost, …", any_text,
                   or_null)
            .field("exit_status", "The executor's exit code, or 128 + signal.", count, or_null)
            .field("message", "Why it ended.", any_text, or_null)
            .field("created_at", "When it got its cores.", Time{}, known)
            .field("started_at", "When its process was recorded.", Time{}, or_null)
            .field("ended_at", "When it ended.", Time{}, or_null);
    return table;
}

const Object<Answer>& explanation_table() {
    static const auto table =
        Object<Answer>("Explanation", "Why a job is where it is.")
            .open()
            .field("job_id", "job_…", any_text, known)
            .field("state", "Where it stands.", Choice<JobState>{}, known)
            .field("code", "For programs: waiting_for_cores, start_after, …", any_text, or_null)
            .field("message", "For people.", any_text, or_null)
            .field("cores", "The cores it waits for.", List<Integer>{{.min = 1, .max = 8}}, or_null)
            .field("blocking_job", "The job that holds them or goes first.", any_text, or_null)
            .field("position", "As in `queue` of a job.", count, or_null);
    return table;
}

}    // namespace

std::span<const ObjectTable* const> job_answer_tables() {
    static const auto jobs = page_of("JobList", job_answer_table());
    static const auto events = page_of("EventList", event_table());
    static const auto lines = page_of("LogList", log_line_table());
    static const auto attempts = page_of("AttemptList", attempt_table());
    static const std::vector<const ObjectTable*> all{&job_answer_table(),
                                                     &job_preview_table(),
                                                     &prediction_preview_table(),
                                                     &jobs,
                                                     &events,
                                                     &lines,
                                                     &metric_list_table(),
                                                     &attempts,
                                                     &explanation_table()};
    return all;
}

}    // namespace slipway
