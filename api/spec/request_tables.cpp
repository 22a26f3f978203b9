#include "api/base/id.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

bool is_upload_id(std::string_view text) {
    return is_id("upl", text);
}

const TextForm upload_id{"the id of an upload (upl_…)", "^upl_[0-9a-z]{26}$", is_upload_id};

/// A name that no id of a dataset can be taken for.
bool is_dataset_name(std::string_view text) {
    return plain_name.holds(text) && !is_id("ds", text);
}

const TextForm dataset_name{
    "1 to 64 letters, digits, dots, dashes and underscores, first a letter or digit, and no id",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", is_dataset_name};

const std::vector<std::string_view> tables{"csv", "image_csv", "tfrecord"};
const std::vector<std::string_view> images{"image_folder", "image_csv", "cifar10", "tfrecord",
                                           "webdataset"};

/// Text has neither classes nor numbers.
const std::vector<std::string_view> samples{"idx",     "csv",      "image_folder", "image_csv",
                                            "cifar10", "tfrecord", "webdataset"};
/// Those whose images can be damaged one by one.
const std::vector<std::string_view> image_files{"image_folder", "image_csv", "tfrecord",
                                                "webdataset"};

/// The methods that have a field.
const std::vector<std::string_view> folded_methods{"kfold",          "stratified_kfold",
                                                   "group_kfold",    "stratified_group_kfold",
                                                   "repeated_kfold", "time_series"};
const std::vector<std::string_view> grouped_methods{
    "fraction", "group_kfold", "stratified_group_kfold", "leave_one_group_out", "repeated_kfold"};
const std::vector<std::string_view> stratified_methods{
    "fraction", "stratified_kfold", "group_kfold", "stratified_group_kfold", "repeated_kfold"};
const std::vector<std::string_view> drawn_methods{
    "fraction",      "kfold", "stratified_kfold", "group_kfold", "stratified_group_kfold",
    "repeated_kfold"};

void judge_folds(const Json&, SplitCreate& split, const Reader& at) {
    const bool repeated = split.method == SplitMethod::repeated_kfold;
    if (!repeated || split.folds * split.repeats <= split_folds_max) return;
    const Reader here = at.at("repeats");
    here.report("out_of_bounds",
                fmt::format("{} times folds must be at most {}, got {} times {}", here.path(),
                            split_folds_max, split.repeats, split.folds));
}

void judge_dataset(const Json& given, DatasetCreate& dataset, const Reader& at) {
    if (!given.contains("options")) return;
    const DatasetOptionsSpec& options = dataset.options;
    if (!options.raw_pixels && !(options.raw_shape.empty() && options.shape_columns.empty())) {
        const Reader here = at.at("options").at("raw_pixels");
        here.report("missing_field",
                    fmt::format("{} is required with raw_shape or shape_columns: interleaved or "
                                "planar",
                                here.path()));
    }
    if (!options.raw_shape.empty() && options.raw_shape.size() == 3 && options.raw_shape[2] != 1 &&
        options.raw_shape[2] != 3) {
        const Reader here = at.at("options").at("raw_shape").at(2);
        here.report("not_allowed", fmt::format("{} must be 1 (gray) or 3 (colours), got {}",
                                               here.path(), options.raw_shape[2]));
    }
    dataset_options_table().report_foreign(given["options"], to_string(dataset.format),
                                           at.at("options"));
}

}    // namespace

const Object<DatasetOptionsSpec>& dataset_options_table() {
    static const auto table =
        Object<DatasetOptionsSpec>("DatasetOptions",
                                   "How the files are read. Each format has some.")
            .field("label_column", &DatasetOptionsSpec::label_column, "The column of the classes.",
                   Text{}, {.only = tables, .unless = "label_columns"})
            .field("label_columns", &DatasetOptionsSpec::label_columns,
                   "Columns of numbers, instead of one of classes: for tasks multilabel and "
                   "regression.",
                   List<Text>{.item = {}, .min = 1, .max = 1000, .unique = true},
                   {.only = tables, .absent_when_empty = true})
            .field("group_column", &DatasetOptionsSpec::group_column,
                   "The column of what belongs together, for splits by group.", Text{},
                   {.only = tables, .absent_when_empty = true})
            .field("feature_columns", &DatasetOptionsSpec::feature_columns,
                   "The columns to learn from; without it all but label and group.",
                   List<Text>{.item = {}, .min = 1, .unique = true},
                   {.only = {"csv", "tfrecord"}, .absent_when_empty = true})
            .field("image_column", &DatasetOptionsSpec::image_column,
                   "The feature with a JPEG or PNG; without it `image`, where records have one.",
                   Text{}, {.only = {"tfrecord"}, .absent_when_empty = true})
            .field("raw_pixels", &DatasetOptionsSpec::raw_pixels,
                   "The image is pixels, a byte for each channel, instead of a JPEG or PNG: "
                   "interleaved (height, width, depth) or planar (depth, height, width).",
                   Choice<PixelLayout>{}, {.only = {"tfrecord"}})
            .field("raw_shape", &DatasetOptionsSpec::raw_shape,
                   "Height, width and depth of all images of raw_pixels; a depth is 1 or 3. "
                   "Without it each record says its own.",
                   List<Integer>{.item = {.min = 1, .max = 65536}, .min = 3, .max = 3},
                   {.only = {"tfrecord"}, .absent_when_empty = true})
            .field("shape_columns", &DatasetOptionsSpec::shape_columns,
                   "Where each record says the height, width and depth of raw_pixels; without it "
                   "`height`, `width` and `depth`.",
                   List<Text>{.item = {}, .min = 3, .max = 3, .unique = true},
                   {.only = {"tfrecord"}, .unless = "raw_shape", .absent_when_empty = true})
            .field("file_column", &DatasetOptionsSpec::file_column,
                   "The column of the files, relative to the folder.", Text{},
                   {.only = {"image_csv"}})
            .field("labels_file", &DatasetOptionsSpec::labels_file,
                   "The table, relative to the folder.", Text{.max = 1000}, {.only = {"image_csv"}})
            .field("class_names", &DatasetOptionsSpec::class_names,
                   "The classes in the order of their numbers; without it as found, sorted.",
                   List<Text>{.item = {}, .min = 2, .unique = true},
                   {.only = samples, .unless = "label_columns", .absent_when_empty = true})
            .field("image_size", &DatasetOptionsSpec::image_size,
                   "Images are resized to this side in pixels; needed when they differ in size.",
                   Integer{.min = 1, .max = 4096}, {.only = images})
            .field("channels", &DatasetOptionsSpec::channels,
                   "1: gray, 3: colours; without it as the first image.", IntegerChoice{{1, 3}},
                   {.only = images})
            .field("truncated_images", &DatasetOptionsSpec::truncated_images,
                   "What a damaged image does. fail, as without it: the dataset is refused; skip, "
                   "accept: it is named and the dataset can be used; jobs leave it out, or take "
                   "what can be decoded of it.",
                   Choice<TruncatedImages>{}, {.only = image_files})
            .field("mean", &DatasetOptionsSpec::mean,
                   "Taken from each feature: one number, or one for each channel or column.",
                   NumberOrList{{.item = {}, .min = 1}},
                   {.only = samples, .absent_when_empty = true})
            .field("std", &DatasetOptionsSpec::std,
                   "What each feature is divided by: one number, or one for each channel or "
                   "column.",
                   NumberOrList{{.item = {.above = 0}, .min = 1}},
                   {.only = samples, .absent_when_empty = true});
    return table;
}

const Object<DatasetSource>& dataset_source_table() {
    static const auto table =
        Object<DatasetSource>("DatasetSource", "Where the files come from: a path or an upload.")
            .variants("", {"path", "upload"}, "",
                      [](const DatasetSource& source) {
                          return source.upload.empty() ? "path" : "upload";
                      })
            .field("path", &DatasetSource::path,
                   "A folder or file below a folder that the operator allowed.", Text{.max = 4000},
                   {.required = true, .only = {"path"}})
            .field(
                "upload", &DatasetSource::upload,
                "Id of a complete upload: an archive (zip, tar) or a single file; for webdataset a "
                "tar is a single file.",
                Text{.form = &upload_id}, {.required = true, .only = {"upload"}})
            .field("filename", &DatasetSource::filename,
                   "What a single file is called where its name matters: the part of a csv or a "
                   "text. Without it the upload's filename.",
                   Text{.max = 255}, {.only = {"upload"}, .absent_when_empty = true});
    return table;
}

const Object<DatasetCreate>& dataset_create_table() {
    static const auto table =
        Object<DatasetCreate>("DatasetCreate", "A new dataset.")
            .field("name", &DatasetCreate::name, "What jobs call it; unique within the project.",
                   Text{.form = &dataset_name}, {.required = true})
            .field("project", &DatasetCreate::project, "What it belongs to.",
                   Text{.form = &plain_name})
            .field("format", &DatasetCreate::format, "How the files are laid out.",
                   Choice<DatasetFormat>{}, {.required = true})
            .field("source", &DatasetCreate::source, "Where the files come from.",
                   Nested<DatasetSource>{&dataset_source_table()}, {.required = true})
            .field("options", &DatasetCreate::options, "How the files are read.",
                   Nested<DatasetOptionsSpec>{&dataset_options_table()})
            .rule(judge_dataset);
    return table;
}

const Object<SplitCreate>& split_create_table() {
    static const auto table =
        Object<SplitCreate>("SplitCreate", "A new split of a dataset: one fold or several.")
            .variants("method", {all_words<SplitMethod>().begin(), all_words<SplitMethod>().end()},
                      "", [](const SplitCreate& split) { return to_string(split.method); })
            .field("method", &SplitCreate::method,
                   "fraction: one fold with a share held back. kfold: each sample validates in one "
                   "of the folds; stratified_kfold: with each class spread evenly; group_kfold: "
                   "with whole groups; stratified_group_kfold: both as well as it goes; "
                   "leave_one_group_out: one fold for each group; repeated_kfold: kfold, drawn "
                   "anew in each repeat. time_series: folds validate one stretch after the other, "
                   "in the dataset's order, and train on what is before it.",
                   Choice<SplitMethod>{}, {.required = true})
            .field("val_fraction", &SplitCreate::val_fraction, "Share of the samples held back.",
                   Number{.above = 0, .below = 1}, {.only = {"fraction"}})
            .field("folds", &SplitCreate::folds, "How many; of repeated_kfold in each repeat.",
                   Integer{.min = 2, .max = split_folds_max}, {.only = folded_methods})
            .field("repeats", &SplitCreate::repeats, "How often it is drawn anew.",
                   Integer{.min = 1, .max = 100}, {.only = {"repeated_kfold"}})
            .field("group_by", &SplitCreate::group_by,
                   "The column of what must not be on both sides. Without it the dataset's group "
                   "column where the method's name has group in it, and none elsewhere.",
                   Text{}, {.only = grouped_methods, .absent_when_empty = true})
            .field("stratify_by", &SplitCreate::stratify_by,
                   "`label` or the label column: each class is spread evenly. Without it so where "
                   "the method's name has stratified in it.",
                   Text{}, {.only = stratified_methods, .absent_when_empty = true})
            .field("seed", &SplitCreate::seed, "Of the drawing.", Integer{},
                   {.only = drawn_methods})
            .rule(judge_folds);
    return table;
}

const Object<UploadCreate>& upload_create_table() {
    static const auto table =
        Object<UploadCreate>("UploadCreate", "A file that is about to be sent.")
            .field("size", &UploadCreate::size, "Its bytes.", Integer{.min = 1}, {.required = true})
            .field("sha256", &UploadCreate::sha256, "Its SHA-256; checked when it is complete.",
                   Text{.form = &sha256_form}, {.absent_when_empty = true})
            .field("filename", &UploadCreate::filename, "For people; the ending tells the format.",
                   Text{}, {.absent_when_empty = true});
    return table;
}

const Object<TokenCreate>& token_create_table() {
    static const auto table =
        Object<TokenCreate>("TokenCreate", "A new token.")
            .field("name", &TokenCreate::name, "For people.", Text{}, {.required = true})
            .field("role", &TokenCreate::role,
                   "viewer reads, editor also writes, admin also manages tokens and cores.",
                   Choice<TokenRole>{})
            .field("projects", &TokenCreate::projects, "The projects it is for; empty: all.",
                   List<Text>{.item = {.form = &plain_name}, .max = 100, .unique = true})
            .field("expires_at", &TokenCreate::expires_at, "When it ends by itself.", Time{});
    return table;
}

const Object<LoginRequest>& login_table() {
    static const auto table =
        Object<LoginRequest>("Login", "A token to exchange for a browser's cookie.")
            .field("token", &LoginRequest::token, "The token's text (slp_…).", Text{},
                   {.required = true});
    return table;
}

std::span<const ObjectTable* const> request_tables() {
    static const std::vector<const ObjectTable*> all{
        &job_table(),          &job_patch_table(),     &dataset_create_table(), &augment_table(),
        &split_create_table(), &upload_create_table(), &token_create_table(),   &login_table(),
        &layer_table(),        &prediction_table()};
    return all;
}

Json dataset_options_schema(DatasetFormat format, Definitions& definitions) {
    return dataset_options_table().variant_schema(to_string(format), definitions);
}

}    // namespace slipway
