#include <initializer_list>
#include <string_view>

#include "api/base/id.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

bool is_job_id(std::string_view text) {
    return is_id("job", text);
}

const TextForm job_id{"the id of a job (job_…)", "^job_[0-9a-z]{26}$", is_job_id};

bool is_checkpoint_id(std::string_view text) {
    return is_id("ckp", text);
}

const TextForm checkpoint_id{"the id of a checkpoint (ckp_…)", "^ckp_[0-9a-z]{26}$",
                             is_checkpoint_id};

bool is_cross_validation_id(std::string_view text) {
    return is_id("cv", text);
}

const TextForm cross_validation_id{"the id of a cross-validation (cv_…)", "^cv_[0-9a-z]{26}$",
                                   is_cross_validation_id};

/// Members of `from` that name a checkpoint in another way than the one that is there.
void refuse_beside(const Json& json, std::string_view chosen,
                   std::initializer_list<std::string_view> others, const Reader& at) {
    for (const std::string_view other : others) {
        if (!json.contains(other)) continue;
        const Reader here = at.at(other);
        here.report("inconsistent",
                    fmt::format("{} is given, and {} too: both name checkpoints; leave one of them "
                                "out",
                                here.path(), at.at(chosen).path()));
    }
}

void judge_folds(const PredictionSource& source, const Reader& at) {
    if (source.checkpoint == "best" || source.checkpoint == "last") return;
    const Reader here = at.at("checkpoint");
    here.report("not_allowed",
                fmt::format("{} is \"{}\"; of the folds of a cross-validation it is best or last",
                            here.path(), source.checkpoint),
                {"best", "last"});
}

/// "best" of which job? Only an id says that by itself.
void judge_source(const Json& json, PredictionSource& source, const Reader& at) {
    if (!source.checkpoints.empty()) {
        refuse_beside(json, "checkpoints", {"job", "checkpoint", "cross_validation"}, at);
        source.checkpoint.clear();
        return;
    }
    if (!source.cross_validation.empty()) {
        refuse_beside(json, "cross_validation", {"job"}, at);
        judge_folds(source, at);
        return;
    }
    if (!source.job.empty() || is_id("ckp", source.checkpoint)) return;
    const Reader here = at.at("job");
    here.report("missing_field",
                fmt::format("{} is required: checkpoint \"{}\" is a name within a job; name the "
                            "job, or give the id of a checkpoint (ckp_…), a list of checkpoints, "
                            "or a cross_validation",
                            here.path(), source.checkpoint));
}

void judge_samples(const Json&, PredictionDataSpec& data, const Reader& at) {
    if (data.part.empty() || data.split == PredictedSplit::all) return;
    const Reader here = at.at("split");
    here.report(
        "inconsistent",
        fmt::format("{} is {}, and data.part is \"{}\": both select samples; leave one of them out",
                    here.path(), to_string(data.split), data.part));
}

}    // namespace

const Object<PredictionSource>& prediction_source_table() {
    static const auto table =
        Object<PredictionSource>("PredictionSource",
                                 "A checkpoint of a job that has ended, or several as an "
                                 "ensemble, whose outputs are averaged.")
            .field("job", &PredictionSource::job,
                   "Id of the job that saved the checkpoint. Required unless checkpoint is an id.",
                   Text{.form = &job_id}, {.absent_when_empty = true})
            .field("checkpoint", &PredictionSource::checkpoint,
                   "best, last, a checkpoint name of the job, or a checkpoint id (ckp_…); best or "
                   "last of a cross-validation.",
                   Text{}, {.absent_when_empty = true})
            .field("checkpoints", &PredictionSource::checkpoints,
                   "Ids of the checkpoints of an ensemble, of one project.",
                   List<Text>{.item = {.form = &checkpoint_id},
                              .min = ensemble_members_min,
                              .max = ensemble_members_max,
                              .unique = true},
                   {.absent_when_empty = true})
            .field("cross_validation", &PredictionSource::cross_validation,
                   "Id of a cross-validation: the ensemble of the checkpoints of its folds.",
                   Text{.form = &cross_validation_id}, {.absent_when_empty = true})
            .rule(judge_source);
    return table;
}

const Object<PredictionDataSpec>& prediction_data_table() {
    static const auto table =
        Object<PredictionDataSpec>("PredictionData", "Data to predict.")
            .field("dataset", &PredictionDataSpec::dataset,
                   "Id or name of a dataset of the project.", Text{}, {.required = true})
            .field("part", &PredictionDataSpec::part,
                   "Predict only the samples of this named part. Default: all parts.", Text{},
                   {.absent_when_empty = true})
            .field("split", &PredictionDataSpec::split,
                   "all: every sample; train, val: the training or validation samples of the job, "
                   "if the dataset is the job's own.",
                   Choice<PredictedSplit>{})
            .rule(judge_samples);
    return table;
}

const Object<PredictionSpec>& prediction_table() {
    static const auto table =
        Object<PredictionSpec>("PredictionSpec",
                               "A prediction: runs a trained model over a dataset.")
            .field("name", &PredictionSpec::name, "Human-readable name. Default: generated.",
                   Text{.is_name = true}, {.absent_when_empty = true})
            .field("project", &PredictionSpec::project, "Project that the prediction belongs to.",
                   Text{.form = &plain_name})
            .field("labels", &PredictionSpec::labels, "Key-value labels for filtering.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0, .is_name = true}, .max = 64})
            .field("from", &PredictionSpec::from, "Checkpoint, or those of an ensemble.",
                   Nested<PredictionSource>{&prediction_source_table()}, {.required = true})
            .field("data", &PredictionSpec::data, "Data to predict.",
                   Nested<PredictionDataSpec>{&prediction_data_table()}, {.required = true})
            .field("batch_size_per_core", &PredictionSpec::batch_size_per_core,
                   "Batch size per core.", Integer{.min = 1, .max = 65536})
            .field("precision", &PredictionSpec::precision,
                   "Precision of the computation. Default: that of the training.",
                   Choice<Precision>{})
            .field("accelerator", &PredictionSpec::accelerator, "Cores to run on.",
                   Nested<AcceleratorSpec>{&one_host_accelerator_table()})
            .field("limits", &PredictionSpec::limits, "Start time and limits.",
                   Nested<LimitsSpec>{&limits_table()})
            .field("queue", &PredictionSpec::queue, "Scheduling class and preemption.",
                   Nested<QueueSpec>{&queue_table()});
    return table;
}

}    // namespace slipway
