#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

/// Labels as filters can name them.
Map<Text> labels_kind() {
    return {.key = &plain_name, .item = {.min = 0, .is_name = true}, .max = 64};
}

/// The last batch of an epoch is filled up with padding, which batch norm would count.
void judge_last_batch(const JobSpec& spec, const Reader& at) {
    if (spec.train.drop_last || !has_batch_norm(spec.model)) return;
    const Reader here = at.at("train").at("drop_last");
    here.report("inconsistent",
                fmt::format("{} must be true with model.arch {}, got false: batch norm would count "
                            "the padding of the last batch; leave it out",
                            here.path(), to_string(spec.model.arch)));
}

/// What only text has, asked of a task that has none.
void judge_text(const JobSpec& spec, const Reader& at) {
    if (language_task(spec.model.arch)) return;
    const auto refuse = [&](std::string_view field) {
        const Reader here = at.at("data").at(field);
        here.report(
            "inconsistent",
            fmt::format("{} applies only to text, and task.type {} does not use text; leave it out",
                        here.path(), to_string(spec.task.type)));
    };
    if (spec.data.max_length) refuse("max_length");
    if (spec.data.tokenizer) refuse("tokenizer");
}

/// Language models learn one task, and no other network learns it.
void judge_task(const JobSpec& spec, const Reader& at) {
    const auto own = language_task(spec.model.arch);
    const TaskType type = spec.task.type;
    const bool is_language = type == TaskType::masked_lm || type == TaskType::causal_lm;
    if (own ? type == *own : !is_language) return;
    const Reader here = at.at("task").at("type");
    const std::string_view arch = to_string(spec.model.arch);
    here.report(
        "inconsistent",
        own ? fmt::format("{} must be {} with model.arch {}, got {}", here.path(), to_string(*own),
                          arch, to_string(type))
            : fmt::format("{} is {}, which requires a language model, but model.arch is {}; use {}",
                          here.path(), to_string(type), arch,
                          type == TaskType::masked_lm ? "bert_small" : "gpt_tiny"));
}

/// What only images and tables have, asked of text.
void judge_features(const JobSpec& spec, const Reader& at) {
    if (!language_task(spec.model.arch)) return;
    const auto refuse = [&](std::string_view field) {
        const Reader here = at.at("data").at(field);
        here.report(
            "inconsistent",
            fmt::format("{} applies only to images and tables, and {} reads text; leave it out",
                        here.path(), to_string(spec.model.arch)));
    };
    if (spec.data.image_size) refuse("image_size");
    if (spec.data.normalize) refuse("normalize");
    if (spec.data.columns) refuse("columns");
    if (!spec.data.augment.empty()) refuse("augment");
    if (spec.data.truncated_images) refuse("truncated_images");
    if (spec.data.packed) refuse("packed");
    if (spec.data.split.id.empty()) return;
    const Reader here = at.at("data").at("split").at("id");
    here.report("inconsistent",
                fmt::format("{} refers to samples of images and tables, but {} cuts text with its "
                            "own tokenizer; use val_fraction, or train and val",
                            here.path(), to_string(spec.model.arch)));
}

/// What of the data belongs to another kind of task.
void judge_labels(const JobSpec& spec, const Reader& at) {
    const auto complain = [](const Reader& here, const std::string& why) {
        here.report("inconsistent", fmt::format("{} {}", here.path(), why));
    };
    const std::string_view type = to_string(spec.task.type);
    const auto& columns = spec.data.columns;
    const Reader data = at.at("data");
    if (spec.task.type == TaskType::classification) {
        if (columns && !columns->labels.empty()) {
            complain(data.at("columns").at("labels"),
                     "lists numeric columns, but task.type classification uses one class column; "
                     "name it in data.columns.label");
        }
        if (spec.model.num_classes == 1) {
            const Reader here = at.at("model").at("num_classes");
            here.report(
                "out_of_bounds",
                fmt::format("{} must be at least 2 for classification, got 1", here.path()));
        }
        return;
    }
    if (language_task(spec.model.arch)) return;
    if (spec.data.split.stratify) {
        complain(data.at("split").at("stratify"),
                 fmt::format(
                     "requires classes, but the labels of task.type {} are numeric; leave it out",
                     type));
    }
    for (std::size_t i = 0; i < spec.data.augment.size(); ++i) {
        const AugmentSpec& step = spec.data.augment[i];
        if (spec.task.type != TaskType::regression || !mixes_samples(step.name)) continue;
        complain(data.at("augment").at(i).at("name"),
                 fmt::format("is {}, which mixes class labels, but the labels of task.type "
                             "regression are numeric; leave it out",
                             to_string(step.name)));
    }
    const std::size_t named = columns ? columns->labels.size() : 0;
    if (named > 0 && spec.model.num_classes && *spec.model.num_classes != std::int64_t(named)) {
        complain(
            at.at("model").at("num_classes"),
            fmt::format(
                "must equal the number of data.columns.labels ({}) for {}, got {}; leave it out",
                named, type, *spec.model.num_classes));
    }
}

/// The codes that an embedding reads have no mean.
void judge_codes(const JobSpec& spec, const Reader& at) {
    if (!has_embedding(spec.model)) return;
    for (std::size_t i = 0; i < spec.data.augment.size(); ++i) {
        if (!mixes_samples(spec.data.augment[i].name)) continue;
        const Reader here = at.at("data").at("augment").at(i).at("name");
        here.report("inconsistent", fmt::format("{} is {}, which would average the integers that "
                                                "an embedding of model.layers reads; leave it out",
                                                here.path(), to_string(spec.data.augment[i].name)));
    }
}

/// The loss is always measured.
void judge_metric(const JobSpec& spec, const std::string& wanted, const Reader& here) {
    const auto metric = validation_metric(wanted);
    if (metric == TaskMetric::loss) return;
    const auto& measured = spec.task.metrics;
    if (metric && std::ranges::find(measured, *metric) != measured.end()) return;
    const auto own = metrics_of(spec.task.type);
    const bool possible = metric && std::ranges::find(own, *metric) != own.end();
    here.report("inconsistent",
                possible
                    ? fmt::format("{} is {}, but task.metrics does not include {}; add it there",
                                  here.path(), wanted, to_string(*metric))
                    : fmt::format("{} is {}, which is not a metric of task.type {}", here.path(),
                                  wanted, to_string(spec.task.type)));
}

/// Without validation samples nothing says when to stop.
void judge_validation(const JobSpec& spec, const Reader& at) {
    const SplitSpec& split = spec.data.split;
    const bool is_drawn = split.id.empty() && split.train_part.empty();
    if (!spec.train.early_stopping || !is_drawn || split.val_fraction > 0) return;
    const Reader here = at.at("train").at("early_stopping");
    here.report("inconsistent",
                fmt::format("{} needs validation samples, and data.split.val_fraction is 0; raise "
                            "it, or leave one of them out",
                            here.path()));
}

void judge_job(const Json&, JobSpec& spec, const Reader& at) {
    judge_validation(spec, at);
    judge_last_batch(spec, at);
    judge_text(spec, at);
    judge_task(spec, at);
    judge_features(spec, at);
    judge_labels(spec, at);
    judge_codes(spec, at);
    judge_metric(spec, spec.checkpoint.best.metric, at.at("checkpoint").at("best").at("metric"));
    if (spec.train.early_stopping)
        judge_metric(spec, spec.train.early_stopping->metric,
                     at.at("train").at("early_stopping").at("metric"));
}

std::vector<std::string_view> task_types() {
    const auto words = all_words<TaskType>();
    return {words.begin(), words.end()};
}

/// Each task has metrics of its own, and those it measures when nothing is said.
void judge_metrics(const Json& given, TaskSpec& spec, const Reader& at) {
    if (!given.contains("metrics")) {
        spec.metrics = usual_metrics(spec.type);
        return;
    }
    std::vector<std::string_view> own;
    for (const TaskMetric metric : metrics_of(spec.type))
        own.push_back(to_string(metric));
    for (std::size_t i = 0; i < spec.metrics.size(); ++i) {
        const std::string_view word = to_string(spec.metrics[i]);
        if (std::ranges::find(own, word) != own.end()) continue;
        const Reader here = at.at("metrics").at(i);
        here.report("inconsistent",
                    fmt::format("{} must be {} for task.type {}, got {}", here.path(),
                                joined_with_or(own), to_string(spec.type), word),
                    as_strings(own));
    }
}

}    // namespace

const Object<TaskSpec>& task_table() {
    static const auto table =
        Object<TaskSpec>("TaskSpec", "Task to train for.")
            .variants("type", task_types(), "",
                      [](const TaskSpec& spec) { return to_string(spec.type); })
            .field("type", &TaskSpec::type, "Type of the task; determines the loss.",
                   Choice<TaskType>{}, {.required = true})
            .field("metrics", &TaskSpec::metrics,
                   "Metrics to compute besides the training loss. classification: loss, accuracy, "
                   "top5_accuracy, confusion_matrix; default: the first two. multilabel: loss, "
                   "accuracy, auc; default: all. regression: loss, mae, r2; default: all. "
                   "masked_lm, causal_lm: loss, perplexity, accuracy; default: the first two.",
                   List<Choice<TaskMetric>>{.item = {}, .min = 1, .max = 8, .unique = true})
            .field(
                "label_smoothing", &TaskSpec::label_smoothing,
                "Fraction of each label that is spread evenly over all classes, in training only.",
                Number{.min = 0, .below = 1}, {.only = {"classification"}})
            .rule(judge_metrics);
    return table;
}

const Object<BestSpec>& best_table() {
    static const auto table =
        Object<BestSpec>("BestSpec", "Selection of the best checkpoints.")
            .field("metric", &BestSpec::metric, "Metric to compare checkpoints by.",
                   Word{.allowed = best_metrics})
            .field("mode", &BestSpec::mode,
                   "Whether a smaller or a larger value is better. Default: as suits the metric.",
                   Choice<MetricMode>{})
            .field("keep", &BestSpec::keep, "Number of best checkpoints to keep.",
                   Integer{.min = 0, .max = 100})
            .rule([](const Json& given, BestSpec& spec, const Reader&) {
                if (given.contains("mode")) return;
                const auto metric = validation_metric(spec.metric);
                if (metric) spec.mode = better(*metric).value_or(MetricMode::min);
            });
    return table;
}

const Object<CheckpointSpec>& checkpoint_table() {
    static const auto table =
        Object<CheckpointSpec>("CheckpointSpec", "When to save checkpoints, and which to keep.")
            .field("every_steps", &CheckpointSpec::every_steps,
                   "Save a checkpoint every N steps; 0: not by steps.",
                   Integer{.min = 0, .max = 1000000000})
            .field("every_epochs", &CheckpointSpec::every_epochs,
                   "Save a checkpoint every N epochs; 0: not by epochs.",
                   Integer{.min = 0, .max = 1000000})
            .field("save_final", &CheckpointSpec::save_final,
                   "Save a checkpoint at the end of training, also if the job is cancelled or "
                   "exceeds its time limit. false: only the checkpoints of every_steps and "
                   "every_epochs are saved; with both 0 the job has metrics but no weights. A job "
                   "that is paused or preempted always saves one.",
                   Flag{})
            .field("best", &CheckpointSpec::best, "Selection of the best checkpoints.",
                   Nested<BestSpec>{&best_table()})
            .field("keep_last", &CheckpointSpec::keep_last,
                   "Number of most recent checkpoints to keep.", Integer{.min = 1, .max = 100});
    return table;
}

const Object<MonitorSpec>& monitor_table() {
    static const auto table =
        Object<MonitorSpec>("MonitorSpec", "Reporting during the run.")
            .field("log_every_steps", &MonitorSpec::log_every_steps,
                   "Interval between points of the training curves, in steps.",
                   Integer{.min = 1, .max = 1000000})
            .field("metrics_report", &MonitorSpec::metrics_report,
                   "Performance report. end: updated during the run and complete at its end; "
                   "epoch: the report of each epoch is kept as well; never: no report, programs or "
                   "timeline are written.",
                   Choice<MetricsReport>{})
            .field("sinks", &MonitorSpec::sinks,
                   "Files that receive every point of the curves. csv: a table; tensorboard: an "
                   "event file.",
                   List<Choice<SinkName>>{.item = {}, .min = 0, .max = 2, .unique = true});
    return table;
}

const Object<LimitsSpec>& limits_table() {
    static const auto table =
        Object<LimitsSpec>("LimitsSpec", "Start time and limits.")
            .field(
                "max_wall_s", &LimitsSpec::max_wall_s,
                "Maximum run time in seconds, over all attempts; the job is timed_out beyond it. "
                "Default: that of the pool, if it has one.",
                Number{.max = 3.2e9, .above = 0})
            .field("max_core_s", &LimitsSpec::max_core_s,
                   "Maximum core time in seconds, over all attempts: 8 for each second on 8 cores. "
                   "The job is timed_out beyond it.",
                   Number{.max = 3.2e10, .above = 0})
            .field("max_restarts", &LimitsSpec::max_restarts,
                   "Maximum number of restarts after a lost executor.",
                   Integer{.min = 0, .max = 1000})
            .field("start_after", &LimitsSpec::start_after, "Earliest start time.", Time{})
            .field("valid_until", &LimitsSpec::valid_until,
                   "The job is expired if it has not started by this time.", Time{})
            .rule([](const Json&, LimitsSpec& spec, const Reader& at) {
                if (!spec.start_after || !spec.valid_until) return;
                if (*spec.start_after < *spec.valid_until) return;
                const Reader here = at.at("valid_until");
                here.report(
                    "inconsistent",
                    fmt::format("{} must be later than start_after ({}), got {}", here.path(),
                                to_rfc3339(*spec.start_after), to_rfc3339(*spec.valid_until)));
            });
    return table;
}

void judge_group(const Json& given, QueueSpec& queue, const Reader& at) {
    if (!given.contains("group_limit") || !queue.group.empty()) return;
    const Reader here = at.at("group_limit");
    here.report("inconsistent", fmt::format("{} has no meaning without {}; give both", here.path(),
                                            at.at("group").path()));
}

const Object<QueueSpec>& queue_table() {
    static const auto table =
        Object<QueueSpec>("QueueSpec", "Scheduling class and preemption.")
            .field("class", &QueueSpec::job_class,
                   "Scheduling class: more urgent classes go first; within a class, projects take "
                   "turns by weight, and within a project older jobs go first.",
                   Choice<QueueClass>{})
            .field("preemptible", &QueueSpec::preemptible,
                   "Whether the job may be saved and requeued in favour of a job of a more urgent "
                   "class.",
                   Flag{})
            .field("group", &QueueSpec::group,
                   "Group of jobs of the project that share a limit, such as those of one sweep.",
                   Text{.form = &plain_name}, {.absent_when_empty = true})
            .field("group_limit", &QueueSpec::group_limit,
                   "Maximum number of jobs of the group that run at the same time. It applies to "
                   "the whole group; the newest job that gives a limit sets it. Default: "
                   "unchanged, at first no limit.",
                   Integer{.min = 1, .max = 10000})
            .field("pool", &QueueSpec::pool,
                   "Pool of hosts that the job runs on, such as local or slurm (GET /v1/hosts "
                   "shows them), or any: on all hosts. Default: the default pool of the service, "
                   "at first any.",
                   Text{.form = &plain_name}, {.absent_when_empty = true})
            .rule(judge_group);
    return table;
}

const Object<JobSpec>& job_table() {
    static const auto table =
        Object<JobSpec>("JobSpec", "A training job.")
            .field("name", &JobSpec::name, "Human-readable name. Default: generated.",
                   Text{.is_name = true}, {.absent_when_empty = true})
            .field("project", &JobSpec::project, "Project that the job belongs to.",
                   Text{.form = &plain_name})
            .field("labels", &JobSpec::labels, "Key-value labels for filtering.", labels_kind())
            .field("model", &JobSpec::model, "Model.", Nested<ModelSpec>{&model_table()},
                   {.required = true})
            .field("task", &JobSpec::task, "Task.", Nested<TaskSpec>{&task_table()},
                   {.required = true})
            .field("data", &JobSpec::data, "Data.", Nested<DataSpec>{&data_table()},
                   {.required = true})
            .field("train", &JobSpec::train, "Training.", Nested<TrainSpec>{&train_table()},
                   {.required = true})
            .field("accelerator", &JobSpec::accelerator, "Cores to run on.",
                   Nested<AcceleratorSpec>{&accelerator_table()})
            .field("checkpoint", &JobSpec::checkpoint,
                   "When to save checkpoints, and which to keep.",
                   Nested<CheckpointSpec>{&checkpoint_table()})
            .field("monitor", &JobSpec::monitor, "Reporting during the run.",
                   Nested<MonitorSpec>{&monitor_table()})
            .field("limits", &JobSpec::limits, "Start time and limits.",
                   Nested<LimitsSpec>{&limits_table()})
            .field("queue", &JobSpec::queue, "Scheduling class and preemption.",
                   Nested<QueueSpec>{&queue_table()})
            .rule(judge_job);
    return table;
}

const Object<JobPatchBody>& job_patch_table() {
    static const auto queue =
        Object<QueuePatchBody>("QueuePatch", "Scheduling class and pool.")
            .field("class", &QueuePatchBody::job_class,
                   "New scheduling class; only while the job is queued.", Choice<QueueClass>{})
            .field("pool", &QueuePatchBody::pool,
                   "New pool of hosts, or any: all hosts; only while the job is queued.",
                   Text{.form = &plain_name});
    static const auto table =
        Object<JobPatchBody>("JobPatch", "Fields to change; absent fields are unchanged.")
            .field("name", &JobPatchBody::name, "New name.", Text{.is_name = true})
            .field("labels", &JobPatchBody::labels, "New labels; they replace all existing ones.",
                   labels_kind())
            .field("queue", &JobPatchBody::queue, "Scheduling class and pool.",
                   Nested<QueuePatchBody>{&queue});
    return table;
}

}    // namespace slipway
