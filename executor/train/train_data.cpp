#include "executor/train/train_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "executor/train/augmented_data.h"
#include "executor/train/damaged_images.h"
#include "executor/train/text_data.h"

namespace slipway {

namespace {

/// The data set's own labels and groups. A job that has others must not learn from these: they tell
/// what it is to find out.
std::vector<std::string> answers_of(const DatasetOptions& options) {
    std::vector<std::string> columns = options.label_columns;
    if (columns.empty()) columns.push_back(options.label_column);
    if (!options.group_column.empty()) columns.push_back(options.group_column);
    return columns;
}

/// The data set's own options, with what the job overrides.
DatasetOptions options_of(const AttemptPlan& plan) {
    DatasetOptions options = parse_dataset_options(nlohmann::json::parse(plan.dataset_options));
    const DataSpec& data = plan.spec.data;
    options.unlearnt_columns = answers_of(options);
    if (data.image_size) options.image_size = *data.image_size;
    if (data.columns && !data.columns->features.empty())
        options.feature_columns = data.columns->features;
    if (data.truncated_images) options.truncated_images = *data.truncated_images;
    if (!data.split.group_by.empty()) options.group_column = data.split.group_by;
    if (data.normalize) {
        options.mean.assign(data.normalize->mean.begin(), data.normalize->mean.end());
        options.deviation.assign(data.normalize->std.begin(), data.normalize->std.end());
    }
    return options;
}

bool reads_numbers(const JobSpec& spec) {
    return spec.task.type != TaskType::classification;
}

/// Where the labels are, and whether they are classes or numbers: the task decides, whatever the
/// data set was made for.
void choose_labels(const AttemptPlan& plan, DatasetOptions& options) {
    const ColumnsSpec columns = plan.spec.data.columns.value_or(ColumnsSpec{});
    const std::string_view type = to_string(plan.spec.task.type);
    if (!columns.label.empty()) options.label_column = columns.label;
    if (!reads_numbers(plan.spec)) {
        if (!columns.label.empty()) options.label_columns.clear();
        if (options.label_columns.empty()) return;
        throw TrainError("spec_error",
                         fmt::format("task.type {} needs a column of classes, and this data set's "
                                     "labels are the numbers of {}; name a column in "
                                     "data.columns.label, or use multilabel or regression",
                                     type, fmt::join(options.label_columns, ", ")));
    }
    constexpr std::array tables{"csv", "image_csv", "tfrecord"};
    if (std::ranges::find(tables, plan.dataset_format) == tables.end()) {
        throw TrainError(
            "spec_error",
            fmt::format("task.type {} needs labels that are numbers, which are in data "
                        "sets of the formats {}; this one is {}",
                        type, fmt::join(tables, ", "), plan.dataset_format));
    }
    if (!columns.labels.empty()) options.label_columns = columns.labels;
    const bool one = !columns.label.empty() || options.label_columns.empty();
    if (one) options.label_columns = {options.label_column};
    options.class_names.clear();
    options.labels_are_shares = plan.spec.task.type == TaskType::multilabel;
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

TrainData open_plain(const AttemptPlan& plan, const DatasetOptions& options) {
    TrainData data;
    data.raw = open_dataset(plan.dataset_format, plan.dataset_path, options);
    data.split = split_of(data.raw->index(), plan.spec.data.split);
    if (wants_measured(plan, *data.raw, options)) {
        data.normalized = normalized(*data.raw, measure(*data.raw, data.split.train, 1));
    }
    data.training = samples_of(plan.spec, data.dataset());
    return data;
}

TrainData open_sample_data(const AttemptPlan& plan) {
    DatasetOptions options = options_of(plan);
    choose_labels(plan, options);
    TrainData data = image_steps(plan.spec).empty() ? open_plain(plan, options)
                                                    : open_augmented_data(plan, options);
    const DatasetIndex& index = data.raw->index();
    data.label_names = reads_numbers(plan.spec) ? index.target_names : index.class_names;
    data.class_count = std::int64_t(data.label_names.size());
    mix_training_samples(plan.spec, data);
    if (options.truncated_images == TruncatedImages::skip) {
        leave_damaged_out(plan, data);
    }
    return data;
}

void refuse_augmented_text(const JobSpec& spec) {
    if (spec.data.augment.empty()) return;
    throw Error{ErrorCode::invalid_argument,
                "data.augment needs images; this dataset is text. Leave it out"};
}

}    // namespace

std::unique_ptr<Samples> samples_of(const JobSpec& spec, const Dataset& dataset) {
    return reads_numbers(spec) ? number_samples(dataset) : class_samples(dataset);
}

Split split_of(const DatasetIndex& index, const SplitSpec& spec) {
    if (!spec.train_part.empty()) return split_by_parts(index, spec.train_part, spec.val_part);
    return split_samples(index, {.val_fraction = spec.val_fraction,
                                 .seed = std::uint64_t(spec.seed),
                                 .by_group = !spec.group_by.empty(),
                                 .stratified = spec.stratify});
}

TrainData open_train_data(const AttemptPlan& plan) {
    try {
        if (language_task(plan.spec.model.arch)) {
            refuse_augmented_text(plan.spec);
            return open_text_data(plan);
        }
        return open_sample_data(plan);
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
