#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

void judge_evaluated_samples(const Json&, EvaluationDataSpec& data, const Reader& at) {
    if (data.part.empty() || data.split.value_or(PredictedSplit::all) == PredictedSplit::all)
        return;
    const Reader here = at.at("split");
    here.report(
        "inconsistent",
        fmt::format("{} is {}, and data.part is \"{}\": both select samples; leave one of them out",
                    here.path(), to_string(*data.split), data.part));
}

}    // namespace

const Object<EvaluationDataSpec>& evaluation_data_table() {
    static const auto table =
        Object<EvaluationDataSpec>("EvaluationData", "Data to evaluate on.")
            .field("dataset", &EvaluationDataSpec::dataset,
                   "Id or name of a dataset of the project. Default: the dataset of the training.",
                   Text{}, {.absent_when_empty = true})
            .field("part", &EvaluationDataSpec::part,
                   "Evaluate only the samples of this named part. Default: all parts.", Text{},
                   {.absent_when_empty = true})
            .field("split", &EvaluationDataSpec::split,
                   "all: every sample; train, val: the training or validation samples of the job, "
                   "if the dataset is the job's own. Default: val for the job's own dataset if no "
                   "part is named, all otherwise.",
                   Choice<PredictedSplit>{})
            .rule(judge_evaluated_samples);
    return table;
}

const Object<EvaluationSpec>& evaluation_spec_table() {
    static const auto table =
        Object<EvaluationSpec>("EvaluationSpec",
                               "An evaluation: measures a trained model on labelled samples.")
            .field("name", &EvaluationSpec::name, "Human-readable name. Default: generated.",
                   Text{.is_name = true}, {.absent_when_empty = true})
            .field("project", &EvaluationSpec::project, "Project that the evaluation belongs to.",
                   Text{.form = &plain_name})
            .field("labels", &EvaluationSpec::labels, "Key-value labels for filtering.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0, .is_name = true}, .max = 64})
            .field("from", &EvaluationSpec::from, "Checkpoint, or those of an ensemble.",
                   Nested<PredictionSource>{&prediction_source_table()}, {.required = true})
            .field("data", &EvaluationSpec::data, "Data to evaluate on.",
                   Nested<EvaluationDataSpec>{&evaluation_data_table()})
            .field("precision", &EvaluationSpec::precision,
                   "Precision of the computation. Default: that of the training.",
                   Choice<Precision>{})
            .field("accelerator", &EvaluationSpec::accelerator, "Cores to run on.",
                   Nested<AcceleratorSpec>{&one_host_accelerator_table()})
            .field("limits", &EvaluationSpec::limits, "Start time and limits.",
                   Nested<LimitsSpec>{&limits_table()})
            .field("queue", &EvaluationSpec::queue, "Scheduling class and preemption.",
                   Nested<QueueSpec>{&queue_table()});
    return table;
}

}    // namespace slipway
