#include "executor/train/train_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "api/spec/dataset_format.h"
#include "api/spec/unfit_data.h"
#include "executor/data/augment/augmented_samples.h"
#include "executor/data/formats/csv_columns.h"
#include "executor/data/shared/shared_dataset.h"
#include "executor/train/augmented_data.h"
#include "executor/train/categorical_columns.h"
#include "executor/train/damaged_images.h"
#include "executor/train/data_version.h"
#include "executor/train/text_data.h"
#include "executor/train/train_error.h"
#include "executor/train/trained_samples.h"

// The options of the dataset come first, what the job overrides second, and what the task requires
// of labels last. Then: open the files, divide the samples, measure mean and deviation on the
// training part alone, pack and augment. A prediction opens its data as the training did, from what
// the checkpoint keeps, and must fit the network. Every mistake of the user is a TrainError that
// names the field.
namespace slipway {

namespace {

/// What the split keeps together is nothing to learn from, also where the split was made before.
std::string group_column_of(const AttemptPlan& plan) {
    if (plan.split_file) return read_manifest(*plan.split_file).request.group_by;
    return plan.spec.data.split.group_by;
}

/// The dataset's own labels and groups. A job that has others must not learn from these: they tell
/// what it is to find out.
std::vector<std::string> answers_of(const DatasetOptions& options) {
    std::vector<std::string> columns = options.label_columns;
    if (columns.empty()) columns.push_back(options.label_column);
    if (!options.group_column.empty()) columns.push_back(options.group_column);
    return columns;
}

/// The dataset's own options, with what the job overrides.
DatasetOptions options_of(const AttemptPlan& plan) {
    DatasetOptions options = parse_dataset_options(nlohmann::json::parse(plan.dataset_options));
    const DataSpec& data = plan.spec.data;
    options.excluded_columns = answers_of(options);
    if (data.image_size) options.image_size = *data.image_size;
    if (data.columns && !data.columns->features.empty())
        options.feature_columns = data.columns->features;
    if (data.truncated_images) options.truncated_images = *data.truncated_images;
    const std::string group_by = group_column_of(plan);
    if (!group_by.empty()) options.group_column = group_by;
    if (data.normalize) {
        options.mean.assign(data.normalize->mean.begin(), data.normalize->mean.end());
        options.deviation.assign(data.normalize->std.begin(), data.normalize->std.end());
    }
    return options;
}

/// Of a format that open_dataset does not know: of no use, and refused there.
DatasetFormatTraits traits_of(const AttemptPlan& plan) {
    const auto format = parse_word<DatasetFormat>(plan.dataset_format);
    return format ? traits(*format) : DatasetFormatTraits{};
}

bool reads_numbers(const JobSpec& spec) {
    return spec.task.type != TaskType::classification;
}

/// Where the labels are, and whether they are classes or numbers: the task decides, whatever the
/// dataset was made for.
void choose_labels(const AttemptPlan& plan, DatasetOptions& options) {
    const ColumnsSpec columns = plan.spec.data.columns.value_or(ColumnsSpec{});
    const std::string_view type = to_string(plan.spec.task.type);
    if (!columns.label.empty()) options.label_column = columns.label;
    if (!reads_numbers(plan.spec)) {
        if (!columns.label.empty()) options.label_columns.clear();
        if (options.label_columns.empty()) return;
        throw TrainError("spec_error",
                         fmt::format("task.type {} needs a column of classes, and this dataset's "
                                     "labels are the numbers of {}; name a column in "
                                     "data.columns.label, or use multilabel or regression",
                                     type, fmt::join(options.label_columns, ", ")));
    }
    if (!traits_of(plan).has_numbers) {
        throw TrainError(
            "spec_error",
            fmt::format("task.type {} needs labels that are numbers, which are in "
                        "datasets of the formats {}; this one is {}",
                        type, fmt::join(formats_with(&DatasetFormatTraits::has_numbers), ", "),
                        plan.dataset_format));
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
    // A module of the user's sees what it would see in PyTorch.
    if (plan.spec.model.arch == Arch::imported) return false;
    const bool images = dataset.index().feature_dims.size() > 1;
    return traits_of(plan).has_tables && !images && options.mean.empty() &&
           options.deviation.empty();
}

/// Whoever reads each image once has nothing of a copy.
bool shares_images(const AttemptPlan& plan) {
    return !plan.sharing.folder.empty() && !plan.inference && traits_of(plan).has_image_files;
}

/// `options` gets what was measured.
TrainData open_plain(const AttemptPlan& plan, DatasetOptions& options) {
    TrainData data;
    DatasetOptions opened = options;
    // Networks of an ensemble may each have their own, over the same samples.
    // Packed and shared images are without.
    const bool moments_later = plan.spec.data.packed || shares_images(plan) ||
                               has_embedding(plan.spec.model) ||
                               (plan.inference && plan.inference->is_ensemble());
    auto moments = moments_later ? take_moments(opened) : std::nullopt;
    open_images(plan, opened, {}, data);
    const std::vector<CategoricalColumn> categorical =
        categorical_columns_read(plan.spec.model, data.raw->index());
    require_categories(*data.raw, data.split, categorical);
    const bool measured = !plan.inference && wants_measured(plan, *data.raw, options);
    if (measured) moments = measure(*data.raw, data.split.train, 1);
    if (moments && !categorical.empty())
        moments = without_categorical(*moments, data.raw->index().feature_dims, categorical);
    if (moments) data.normalized = normalized(data.images(), *moments);
    if (measured || (moments && !categorical.empty())) {    // what a checkpoint keeps
        options.mean = moments->mean;
        options.deviation = moments->deviation;
    }
    data.training = samples_of(plan.spec, data.dataset());
    return data;
}

/// A file may say itself that its labels are numbers, where no option has.
void require_classes(const AttemptPlan& plan, const DatasetIndex& index) {
    if (reads_numbers(plan.spec) || index.target_names.empty()) return;
    throw TrainError(
        "spec_error",
        fmt::format("task.type {} needs labels that are classes, and this dataset's "
                    "are numbers ({}); use multilabel or regression",
                    to_string(plan.spec.task.type), fmt::join(index.target_names, ", ")));
}

TrainData open_with(const AttemptPlan& plan, DatasetOptions& options) {
    TrainData data = image_steps(plan.spec).empty() ? open_plain(plan, options)
                                                    : open_augmented_data(plan, options);
    const DatasetIndex& index = data.raw->index();
    require_classes(plan, index);
    data.label_names = reads_numbers(plan.spec) ? index.target_names : index.class_names;
    data.class_count = std::int64_t(data.label_names.size());
    return data;
}

/// A label that the network does not know is no error in a prediction where there is one alone:
/// whoever has no labels has to write something.
bool knows_labels(const TrainData& data, const TrainedSamples& trained, bool numbers,
                  bool needs_labels) {
    if (numbers) return data.label_names == trained.names;
    return (data.label_names.size() <= 1 && !needs_labels) ||
           std::ranges::all_of(data.label_names, [&](const std::string& name) {
               return std::ranges::find(trained.names, name) != trained.names.end();
           });
}

std::string shown_names(const std::vector<std::string>& names) {
    constexpr std::size_t shown_max = 20;
    const auto shown = std::span(names).first(std::min(names.size(), shown_max));
    return fmt::format("{} ({}{})", names.size(), fmt::join(shown, ", "),
                       shown.size() < names.size() ? ", …" : "");
}

/// How labels are brought to those that the network knows.
std::string labels_advice(bool numbers, bool needs_labels) {
    if (numbers) return "name the same columns in label_columns of the dataset";
    if (needs_labels) return "evaluate on a dataset whose classes are among them";
    return "predict a dataset whose classes are among them, or one with a single class";
}

void require_fit(const TrainData& data, const TrainedSamples& trained, const JobSpec& spec,
                 bool needs_labels) {
    const Dims& dims = data.evaluated().shape().features.dims;
    if (dims != trained.feature_dims) {
        throw TrainError(
            "data_error",
            fmt::format("the dataset's samples are {}, and the checkpoint's network "
                        "was trained on {}; give the dataset options that make them "
                        "alike (image_size, channels), or use another one",
                        fmt::join(dims, " x "), fmt::join(trained.feature_dims, " x ")));
    }
    const bool numbers = reads_numbers(spec);
    if (knows_labels(data, trained, numbers, needs_labels)) return;
    throw TrainError("data_error",
                     fmt::format("the dataset's {} are {}, and the checkpoint's are {}; {}",
                                 numbers ? "labels" : "classes", shown_names(data.label_names),
                                 shown_names(trained.names), labels_advice(numbers, needs_labels)));
}

/// Another dataset may have some of the classes, or in another order.
void renumber_classes(TrainData& data, const TrainedSamples& trained) {
    if (data.label_names == trained.names) return;
    std::vector<std::int32_t> numbers;
    for (const std::string& name : data.label_names)
        numbers.push_back(
            std::int32_t(std::ranges::find(trained.names, name) - trained.names.begin()));
    for (auto* samples : {&data.training, &data.evaluation})
        if (*samples) *samples = renumbered_classes(std::move(*samples), numbers);
    data.label_names = trained.names;
}

TrainData open_to_predict(const AttemptPlan& plan, DatasetOptions& options) {
    const TrainedSamples trained = read_trained_samples(plan.inference->checkpoint());
    apply(trained, options);
    TrainData data = open_with(plan, options);
    require_fit(data, trained, plan.spec, plan.inference->needs_labels);
    if (plan.inference->needs_labels && !reads_numbers(plan.spec)) renumber_classes(data, trained);
    // The network's outputs have the names that they were trained with.
    data.class_count = std::int64_t(trained.names.size());
    return data;
}

/// Another table may have them in another order.
std::vector<std::string> columns_of(const AttemptPlan& plan, const DatasetOptions& options) {
    if (plan.dataset_format != "csv") return options.feature_columns;
    return csv_feature_columns(plan.dataset_path, options);
}

/// The weights that a job starts or goes on from say in which order they take columns.
void order_columns_as_weights(const AttemptPlan& plan, DatasetOptions& options) {
    const auto& from = plan.resume_from ? plan.resume_from : plan.init_from;
    const auto trained = from ? find_trained_samples(*from) : std::nullopt;
    if (trained && !trained->columns.empty())
        order_columns(*trained, columns_of(plan, options), options);
}

TrainData open_to_train(const AttemptPlan& plan, DatasetOptions& options) {
    order_columns_as_weights(plan, options);
    TrainData data = open_with(plan, options);
    if (!reads_numbers(plan.spec) && data.class_count == 1) {
        throw TrainError("data_error",
                         one_class_message(data.label_names.front(), plan.dataset_format));
    }
    mix_training_samples(plan.spec, data);
    data.columns = columns_of(plan, options);
    data.files.push_back(file_of({.feature_dims = data.evaluated().shape().features.dims,
                                  .names = data.label_names,
                                  .columns = data.columns,
                                  .image_size = options.image_size,
                                  .channels = options.channels,
                                  .mean = options.mean,
                                  .deviation = options.deviation}));
    return data;
}

TrainData open_sample_data(const AttemptPlan& plan) {
    DatasetOptions options = options_of(plan);
    choose_labels(plan, options);
    TrainData data = plan.inference ? open_to_predict(plan, options) : open_to_train(plan, options);
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

std::optional<Moments> take_moments(DatasetOptions& options) {
    if (options.mean.empty() && options.deviation.empty()) return std::nullopt;
    Moments moments{std::exchange(options.mean, {}), std::exchange(options.deviation, {})};
    if (moments.mean.empty()) moments.mean = {0};
    if (moments.deviation.empty()) moments.deviation = {1};
    return moments;
}

SharingOptions sharing_of(const AttemptPlan& plan) {
    SharingOptions sharing = plan.sharing;
    sharing.reader = plan.writer.build;
    sharing.threads = std::max(1, plan.worker_threads);
    return sharing;
}

void open_raw(const AttemptPlan& plan, const DatasetOptions& options, TrainData& data) {
    data.raw = open_shared_dataset(plan.dataset_format, plan.dataset_path, options,
                                   sharing_of(plan), data.sharing);
}

namespace {

/// Those before the first that is drawn.
std::vector<AugmentSpec> lasting_steps_of(std::span<const AugmentSpec> steps) {
    const auto lasting = steps.first(lasting_step_count(steps));
    return {lasting.begin(), lasting.end()};
}

/// errors  TrainError spec_error when they are no image files
void pack(const AttemptPlan& plan, const DatasetOptions& options,
          std::span<const AugmentSpec> steps, TrainData& data) {
    if (!data.raw->decodes_images()) {
        throw TrainError("spec_error",
                         "data.packed is for images that are decoded from files, and this dataset "
                         "has none; leave it out");
    }
    if (plan.packed_folder.empty()) {
        data.packed.why_not = "there is no folder for packs";
        return;
    }
    data.packed = pack_images(*data.raw, {.folder = plan.packed_folder,
                                          .data_path = plan.dataset_path,
                                          .steps = lasting_steps_of(steps),
                                          .side_hint = decoding_hint(steps),
                                          .truncated_images = options.truncated_images,
                                          .threads = plan.worker_threads});
}

}    // namespace

void open_images(const AttemptPlan& plan, const DatasetOptions& options,
                 std::span<const AugmentSpec> steps, TrainData& data) {
    const Instant since = system_clock().now();
    open_raw(plan, options, data);
    data.split = split_for(plan, *data.raw);
    if (plan.spec.data.packed) pack(plan, options, steps, data);
    if (plan.spec.data.packed || !shares_images(plan)) return;
    data.shared = share_images(*data.raw, {.sharing = sharing_of(plan),
                                           .format = plan.dataset_format,
                                           .data_path = plan.dataset_path,
                                           .opened_with = options,
                                           .opened_since = since,
                                           .steps = lasting_steps_of(steps),
                                           .side_hint = decoding_hint(steps)});
}

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

Split split_of(const AttemptPlan& plan, const Dataset& dataset) {
    const SplitSpec& spec = plan.spec.data.split;
    if (spec.id.empty()) return split_of(dataset.index(), spec);
    if (!plan.split_file) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("the manifest of the split {} was not given", spec.id)};
    }
    return read_fold(*plan.split_file, spec.fold, dataset, plan.dataset_path);
}

namespace {

Split predicted_part(const PredictionDataSpec& wanted, const DatasetIndex& index,
                     const std::function<Split()>& divide) {
    if (!wanted.part.empty())
        return {.train = {}, .val = split_by_parts(index, wanted.part, {}).train};
    if (wanted.split == PredictedSplit::all) {
        std::vector<std::int64_t> all(std::size_t(index.sample_count()));
        std::iota(all.begin(), all.end(), 0);
        return {.train = {}, .val = std::move(all)};
    }
    Split split = divide();
    return {.train = {},
            .val = std::move(wanted.split == PredictedSplit::train ? split.train : split.val)};
}

}    // namespace

Split split_for(const AttemptPlan& plan, const Dataset& dataset) {
    const auto divide = [&] { return split_of(plan, dataset); };
    return plan.inference ? predicted_part(plan.inference->data, dataset.index(), divide)
                          : divide();
}

Split split_for(const AttemptPlan& plan, const DatasetIndex& index) {
    const auto divide = [&] { return split_of(index, plan.spec.data.split); };
    return plan.inference ? predicted_part(plan.inference->data, index, divide) : divide();
}

TrainData open_train_data(const AttemptPlan& plan) {
    try {
        const Instant since = system_clock().now();
        const bool is_text = language_task(plan.spec.model.arch).has_value();
        if (is_text) refuse_augmented_text(plan.spec);
        TrainData data = is_text ? open_text_data(plan) : open_sample_data(plan);
        data.content_hash = require_content(plan, data, since);
        return data;
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

SampleDetails TrainData::details() const {
    SampleDetails details{.padding = padding};
    if (raw) details.column_names = raw->index().feature_names;
    return details;
}

LabelCount TrainData::label_count() const {
    return [&samples = *training](std::int64_t sample) { return samples.label_count(sample); };
}

}    // namespace slipway
