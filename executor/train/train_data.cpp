#include "executor/train/train_data.h"

#include <nlohmann/json.hpp>

#include "executor/train/text_data.h"

namespace slipway {

namespace {

/// The data set's own options, with what the job overrides.
DatasetOptions options_of(const AttemptPlan& plan) {
    DatasetOptions options = parse_dataset_options(nlohmann::json::parse(plan.dataset_options));
    const DataSpec& data = plan.spec.data;
    if (data.image_size) options.image_size = *data.image_size;
    if (data.columns && !data.columns->label.empty()) options.label_column = data.columns->label;
    if (data.columns && !data.columns->features.empty())
        options.feature_columns = data.columns->features;
    if (!data.split.group_by.empty()) options.group_column = data.split.group_by;
    if (data.normalize) {
        options.mean.assign(data.normalize->mean.begin(), data.normalize->mean.end());
        options.deviation.assign(data.normalize->std.begin(), data.normalize->std.end());
    }
    return options;
}

/// A table's columns come in any unit: without a wish of the user they are brought to mean 0 and
/// deviation 1, measured on the training part alone so that nothing of the validation part leaks
/// in.
bool wants_measured(const AttemptPlan& plan, const Dataset& dataset,
                    const DatasetOptions& options) {
    const bool table = plan.dataset_format == "csv" || plan.dataset_format == "tfrecord";
    const bool images = dataset.index().feature_dims.size() > 1;
    return table && !images && options.mean.empty() && options.deviation.empty();
}

TrainData open_class_data(const AttemptPlan& plan) {
    const DatasetOptions options = options_of(plan);
    TrainData data;
    data.raw = open_dataset(plan.dataset_format, plan.dataset_path, options);
    data.split = split_of(data.raw->index(), plan.spec.data.split);
    data.class_count = data.raw->index().class_count();
    if (wants_measured(plan, *data.raw, options)) {
        data.normalized = normalized(*data.raw, measure(*data.raw, data.split.train, 1));
    }
    data.training = class_samples(data.dataset());
    return data;
}

}    // namespace

Split split_of(const DatasetIndex& index, const SplitSpec& spec) {
    if (!spec.train_part.empty()) return split_by_parts(index, spec.train_part, spec.val_part);
    return split_samples(index, {.val_fraction = spec.val_fraction,
                                 .seed = std::uint64_t(spec.seed),
                                 .by_group = !spec.group_by.empty(),
                                 .stratified = spec.stratify});
}

TrainData open_train_data(const AttemptPlan& plan) {
    try {
        return language_task(plan.spec.model.arch) ? open_text_data(plan) : open_class_data(plan);
    } catch (const DataError&) {
        throw;    // run_training gives it its code
    } catch (const TrainError&) {
        throw;
    } catch (const Error& error) {
        // Options, split and sizes are the spec's; a full memory or disk is not.
        if (error.code() == ErrorCode::exhausted) throw TrainError("out_of_memory", error.what());
        if (error.code() == ErrorCode::not_found) throw TrainError("data_error", error.what());
        throw TrainError("spec_error", error.what());
    }
}

LabelCount TrainData::label_count() const {
    return [&samples = *training](std::int64_t sample) { return samples.label_count(sample); };
}

}    // namespace slipway
