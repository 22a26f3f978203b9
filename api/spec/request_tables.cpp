#include "api/base/id.h"
#include "api/spec/job_actions.h"
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
    "1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit, and "
    "not an id",
    "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", is_dataset_name};

// The formats that have a field.
const auto with_labels = formats_with(&DatasetFormatTraits::has_labels);
const auto with_columns = formats_with(&DatasetFormatTraits::has_columns);
const auto with_numbers = formats_with(&DatasetFormatTraits::has_numbers);
const auto with_features = formats_with(&DatasetFormatTraits::picks_features);
const auto with_images = formats_with(&DatasetFormatTraits::has_images);
const auto with_image_files = formats_with(&DatasetFormatTraits::has_image_files);

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
        here.report("not_allowed", fmt::format("{} must be 1 (gray) or 3 (colour), got {}",
                                               here.path(), options.raw_shape[2]));
    }
    dataset_options_table().report_foreign(given["options"], to_string(dataset.format),
                                           at.at("options"));
}

}    // namespace

const Object<DatasetOptionsSpec>& dataset_options_table() {
    static const auto table =
        Object<DatasetOptionsSpec>("DatasetOptions",
                                   "Options for reading the files. They depend on the format.")
            .field("label_column", &DatasetOptionsSpec::label_column, "Column of the class labels.",
                   Text{}, {.only = with_columns, .unless = "label_columns"})
            .field(
                "label_columns", &DatasetOptionsSpec::label_columns,
                "Numeric label columns, instead of a class column: for multilabel and regression.",
                List<Text>{.item = {}, .min = 1, .max = 1000, .unique = true},
                {.only = with_numbers, .absent_when_empty = true})
            .field("group_column", &DatasetOptionsSpec::group_column,
                   "Column of the group that a sample belongs to, for splits by group.", Text{},
                   {.only = with_columns, .absent_when_empty = true})
            .field("feature_columns", &DatasetOptionsSpec::feature_columns,
                   "Feature columns. Default: all except the label and group columns.",
                   List<Text>{.item = {}, .min = 1, .unique = true},
                   {.only = with_features, .absent_when_empty = true})
            .field("image_column", &DatasetOptionsSpec::image_column,
                   "Feature that holds a JPEG or PNG. Default: `image`, if records have one.",
                   Text{}, {.only = {"tfrecord"}, .absent_when_empty = true})
            .field("raw_pixels", &DatasetOptionsSpec::raw_pixels,
                   "Images are raw pixels, one byte per channel, instead of JPEG or PNG: "
                   "interleaved (height, width, depth) or planar (depth, height, width).",
                   Choice<PixelLayout>{}, {.only = {"tfrecord"}})
            .field("raw_shape", &DatasetOptionsSpec::raw_shape,
                   "Height, width and depth of all raw_pixels images; the depth is 1 or 3. "
                   "Default: taken from each record.",
                   List<Integer>{.item = {.min = 1, .max = 65536}, .min = 3, .max = 3},
                   {.only = {"tfrecord"}, .absent_when_empty = true})
            .field("shape_columns", &DatasetOptionsSpec::shape_columns,
                   "Features of a record that hold the height, width and depth of raw_pixels. "
                   "Default: `height`, `width` and `depth`.",
                   List<Text>{.item = {}, .min = 3, .max = 3, .unique = true},
                   {.only = {"tfrecord"}, .unless = "raw_shape", .absent_when_empty = true})
            .field("file_column", &DatasetOptionsSpec::file_column,
                   "Column of the file paths, relative to the folder.", Text{},
                   {.only = {"image_csv"}})
            .field("labels_file", &DatasetOptionsSpec::labels_file,
                   "Path of the table, relative to the folder.", Text{.max = 1000},
                   {.only = {"image_csv"}})
            .field("class_names", &DatasetOptionsSpec::class_names,
                   "Class names in the order of their numbers. Default: the names found, sorted.",
                   List<Text>{.item = {}, .min = 2, .unique = true},
                   {.only = with_labels, .unless = "label_columns", .absent_when_empty = true})
            .field("image_size", &DatasetOptionsSpec::image_size,
                   "Resize images to squares of this side, in pixels. Required if the images "
                   "differ in size.",
                   Integer{.min = 1, .max = 4096}, {.only = with_images})
            .field("channels", &DatasetOptionsSpec::channels,
                   "1: gray; 3: colour. Default: 3 if any image is in colour.",
                   IntegerChoice{{1, 3}}, {.only = with_images})
            .field("truncated_images", &DatasetOptionsSpec::truncated_images,
                   "Handling of damaged images. fail (default): the dataset is rejected; skip, "
                   "accept: the dataset is usable and the images are listed; jobs skip them, or "
                   "use the part that can be decoded.",
                   Choice<TruncatedImages>{}, {.only = with_image_files})
            .field("mean", &DatasetOptionsSpec::mean,
                   "Mean to subtract: one number, or one per channel or column.",
                   NumberOrList{{.item = {}, .min = 1}},
                   {.only = with_labels, .absent_when_empty = true})
            .field("std", &DatasetOptionsSpec::std,
                   "Standard deviation to divide by: one number, or one per channel or column.",
                   NumberOrList{{.item = {.above = 0}, .min = 1}},
                   {.only = with_labels, .absent_when_empty = true});
    return table;
}

const Object<DatasetSource>& dataset_source_table() {
    static const auto table =
        Object<DatasetSource>("DatasetSource", "Source of the files: a path or an upload.")
            .variants("", {"path", "upload"}, "",
                      [](const DatasetSource& source) {
                          return source.upload.empty() ? "path" : "upload";
                      })
            .field("path", &DatasetSource::path,
                   "Folder or file inside a folder that the operator has allowed.",
                   Text{.max = 4000}, {.required = true, .only = {"path"}})
            .field("upload", &DatasetSource::upload,
                   "Id of a complete upload: an archive (zip, tar) or a single file. An archive "
                   "that is a file of the format itself is kept whole.",
                   Text{.form = &upload_id}, {.required = true, .only = {"upload"}})
            .field("filename", &DatasetSource::filename,
                   "Name of a single file, where the name matters: the part of a csv or a text. "
                   "Default: the upload's filename.",
                   Text{.max = 255}, {.only = {"upload"}, .absent_when_empty = true});
    return table;
}

const Object<DatasetCreate>& dataset_create_table() {
    static const auto table =
        Object<DatasetCreate>("DatasetCreate", "A dataset to create.")
            .field("name", &DatasetCreate::name, "Name to use in jobs; unique within the project.",
                   Text{.form = &dataset_name}, {.required = true})
            .field("project", &DatasetCreate::project, "Project that the dataset belongs to.",
                   Text{.form = &plain_name})
            .field("format", &DatasetCreate::format, "File format.", Choice<DatasetFormat>{},
                   {.required = true})
            .field("source", &DatasetCreate::source, "Source of the files.",
                   Nested<DatasetSource>{&dataset_source_table()}, {.required = true})
            .field("options", &DatasetCreate::options, "Options for reading the files.",
                   Nested<DatasetOptionsSpec>{&dataset_options_table()})
            .rule(judge_dataset);
    return table;
}

const Object<SplitCreate>& split_create_table() {
    static const auto table =
        Object<SplitCreate>("SplitCreate", "A stored split of a dataset, with one fold or several.")
            .variants("method", {all_words<SplitMethod>().begin(), all_words<SplitMethod>().end()},
                      "", [](const SplitCreate& split) { return to_string(split.method); })
            .field("method", &SplitCreate::method,
                   "fraction: one fold, with a fraction held back. kfold: each sample validates in "
                   "exactly one fold. stratified_kfold: kfold with each class spread evenly. "
                   "group_kfold: kfold with whole groups. stratified_group_kfold: whole groups, "
                   "with each class spread as evenly as possible. leave_one_group_out: one fold "
                   "per group. repeated_kfold: kfold, shuffled again in each repeat. time_series: "
                   "each fold validates on the next section of the dataset, in its order, and "
                   "trains on everything before it.",
                   Choice<SplitMethod>{}, {.required = true})
            .field("val_fraction", &SplitCreate::val_fraction,
                   "Fraction of the samples to hold back for validation.",
                   Number{.above = 0, .below = 1}, {.only = {"fraction"}})
            .field("folds", &SplitCreate::folds, "Number of folds; for repeated_kfold, per repeat.",
                   Integer{.min = 2, .max = split_folds_max}, {.only = folded_methods})
            .field("repeats", &SplitCreate::repeats, "Number of repeats.",
                   Integer{.min = 1, .max = 100}, {.only = {"repeated_kfold"}})
            .field(
                "group_by", &SplitCreate::group_by,
                "Column whose groups are never split between training and validation. Default: the "
                "dataset's group column for methods with group in their name, none for the others.",
                Text{}, {.only = grouped_methods, .absent_when_empty = true})
            .field("stratify_by", &SplitCreate::stratify_by,
                   "`label` or the label column: spread each class evenly. Default: on for methods "
                   "with stratified in their name, off for the others.",
                   Text{}, {.only = stratified_methods, .absent_when_empty = true})
            .field("seed", &SplitCreate::seed, "Random seed of the split.", Integer{},
                   {.only = drawn_methods})
            .rule(judge_folds);
    return table;
}

const Object<UploadCreate>& upload_create_table() {
    static const auto table =
        Object<UploadCreate>("UploadCreate", "A file to upload.")
            .field("size", &UploadCreate::size, "Size in bytes.", Integer{.min = 1},
                   {.required = true})
            .field("sha256", &UploadCreate::sha256,
                   "SHA-256 of the file; verified when the upload is completed.",
                   Text{.form = &sha256_form}, {.absent_when_empty = true})
            .field("filename", &UploadCreate::filename,
                   "Human-readable file name; its extension tells the format.", Text{},
                   {.absent_when_empty = true});
    return table;
}

const Object<TokenCreate>& token_create_table() {
    static const auto table =
        Object<TokenCreate>("TokenCreate", "A token to create.")
            .field("name", &TokenCreate::name, "Human-readable name.", Text{.is_name = true},
                   {.required = true})
            .field("role", &TokenCreate::role,
                   "viewer: read; editor: read and write; admin: also manage tokens and cores.",
                   Choice<TokenRole>{})
            .field("projects", &TokenCreate::projects,
                   "Projects that the token may access; empty: all, or all those of its member.",
                   List<Text>{.item = {.form = &plain_name}, .max = 100, .unique = true})
            .field("member", &TokenCreate::member,
                   "Member that the token belongs to: in each project it may do what both the role "
                   "of the member there and its own role permit. Default: the member of the token "
                   "that creates it, if any.",
                   Text{.form = &member_name}, {.absent_when_empty = true})
            .field("expires_at", &TokenCreate::expires_at, "Expiry time.", Time{});
    return table;
}

const Object<MemberPut>& member_put_table() {
    static const auto table =
        Object<MemberPut>("MemberPut", "What a member may do in a project.")
            .field("role", &MemberPut::role,
                   "viewer: read; editor: read and write; admin: also manage members and tokens of "
                   "the project.",
                   Choice<TokenRole>{}, {.required = true});
    return table;
}

const Object<LoginRequest>& login_table() {
    static const auto table =
        Object<LoginRequest>("Login", "A token to exchange for a session cookie.")
            .field("token", &LoginRequest::token, "Secret of the token (slp_…).", Text{},
                   {.required = true});
    return table;
}

namespace {

const Number project_weight{.min = 0.01, .max = 1000};

}    // namespace

const Object<HostDrainRequest>& host_drain_request_table() {
    static const auto table =
        Object<HostDrainRequest>("HostDrain", "A host to stop scheduling new jobs on.")
            .field("reason", &HostDrainRequest::reason,
                   "Reason, shown with the host and to jobs that wait for it.", Text{},
                   {.absent_when_empty = true});
    return table;
}

const Object<JoinTokenCreate>& join_token_create_table() {
    static const auto table =
        Object<JoinTokenCreate>("JoinTokenCreate", "A token that lets a host join.")
            .field("host", &JoinTokenCreate::host,
                   "Name of the host that it is for. Default: any host.", Text{.max = 255},
                   {.absent_when_empty = true})
            .field("uses", &JoinTokenCreate::uses, "Number of times that a host may join with it.",
                   Integer{.min = 1, .max = 100})
            .field("expires_in_s", &JoinTokenCreate::expires_in_s,
                   "Seconds until it expires: one minute to seven days.",
                   Integer{.min = 60, .max = 7 * 86400});
    return table;
}

const Object<ProjectCreate>& project_create_table() {
    static const auto table =
        Object<ProjectCreate>("ProjectCreate", "A project to create.")
            .field("name", &ProjectCreate::name, "Name of the project.", Text{.form = &plain_name},
                   {.required = true})
            .field("weight", &ProjectCreate::weight,
                   "Weight of the project's share of the cores, relative to other projects.",
                   project_weight);
    return table;
}

const Object<ProjectPatch>& project_patch_table() {
    static const auto table =
        Object<ProjectPatch>("ProjectPatch", "Fields to change; absent fields are unchanged.")
            .field("weight", &ProjectPatch::weight,
                   "Weight of the project's share of the cores, relative to other projects.",
                   project_weight);
    return table;
}

const Object<ProjectQuota>& project_quota_table() {
    static const auto table =
        Object<ProjectQuota>("ProjectQuota", "Quota of a project.")
            .field("cores", &ProjectQuota::cores,
                   "Maximum number of cores that the jobs of the project hold at a time; null: no "
                   "limit.",
                   Integer{.min = 0, .max = 1000000}, {.nullable = true})
            .field("class_max", &ProjectQuota::class_max,
                   "Most urgent class that jobs of the project may have; null: any. Queued jobs "
                   "are not changed.",
                   Choice<QueueClass>{}, {.nullable = true});
    return table;
}

const Text webhook_description{.min = 0, .max = 500};

const Object<WebhookCreate>& webhook_create_table() {
    static const auto table =
        Object<WebhookCreate>("WebhookCreate", "A webhook to create.")
            .field("url", &WebhookCreate::url,
                   "URL that messages are posted to, http or https. It must lead to a public "
                   "address, or to one that the operator permits; redirects are not followed.",
                   Text{.max = 2000}, {.required = true})
            .field("project", &WebhookCreate::project, "Project whose jobs it reports.",
                   Text{.form = &plain_name})
            .field("events", &WebhookCreate::events, "Events that are sent.",
                   List<Choice<WebhookEvent>>{.item = {}, .min = 1, .unique = true})
            .field("description", &WebhookCreate::description, "Description of its purpose.",
                   webhook_description);
    return table;
}

const Object<WebhookPatch>& webhook_patch_table() {
    static const auto table =
        Object<WebhookPatch>("WebhookPatch", "Fields to change; absent fields are unchanged.")
            .field("url", &WebhookPatch::url,
                   "New URL, as in WebhookCreate. The webhook depends on the token that sets it: "
                   "nothing is sent once that token is no longer valid.",
                   Text{.max = 2000})
            .field("events", &WebhookPatch::events, "New events; they replace all existing ones.",
                   List<Choice<WebhookEvent>>{.item = {}, .min = 1, .unique = true})
            .field("description", &WebhookPatch::description, "New description.",
                   webhook_description)
            .field("enabled", &WebhookPatch::enabled,
                   "false: events are not recorded, and waiting deliveries are sent once it is "
                   "true again.",
                   Flag{})
            .field("rotate_secret", &WebhookPatch::rotate_secret,
                   "true: create a new secret and return it once. For 24 hours, messages are also "
                   "signed with the old one.",
                   Flag{});
    return table;
}

const Object<RetryFailedBody>& retry_failed_table() {
    static const auto table =
        Object<RetryFailedBody>("RetryFailed", "What to retry in a sweep or a cross-validation.")
            .field("codes", &RetryFailedBody::codes,
                   "Only trials or folds that failed with these codes, such as data_error. Absent: "
                   "all that failed.",
                   List<Text>{.item = {.max = 64}, .min = 1, .max = 100, .unique = true},
                   {.absent_when_empty = true});
    return table;
}

std::span<const ObjectTable* const> request_tables() {
    static const std::vector<const ObjectTable*> all{&job_table(),
                                                     &job_patch_table(),
                                                     &dataset_create_table(),
                                                     &augment_table(),
                                                     &split_create_table(),
                                                     &upload_create_table(),
                                                     &token_create_table(),
                                                     &member_put_table(),
                                                     &login_table(),
                                                     &layer_table(),
                                                     &prediction_table(),
                                                     &evaluation_spec_table(),
                                                     &cross_validation_table(),
                                                     &job_fork_table(),
                                                     &host_drain_request_table(),
                                                     &join_token_create_table(),
                                                     &queue_simulate_table(),
                                                     &group_put_table(),
                                                     &job_bulk_table(),
                                                     &project_create_table(),
                                                     &project_patch_table(),
                                                     &project_quota_table(),
                                                     &webhook_create_table(),
                                                     &webhook_patch_table(),
                                                     &sweep_table(),
                                                     &sweep_patch_table(),
                                                     &sweep_extend_table(),
                                                     &sweep_promote_table(),
                                                     &sweep_suggest_table(),
                                                     &sweep_observe_table(),
                                                     &sweep_simulate_table(),
                                                     &retry_failed_table()};
    return all;
}

Json dataset_options_schema(DatasetFormat format, Definitions& definitions) {
    return dataset_options_table().variant_schema(to_string(format), definitions);
}

}    // namespace slipway
