#include "executor/data/split/make.h"

#include <fmt/format.h>

#include "executor/data/content_hash.h"
#include "executor/data/split/certificate.h"
#include "executor/data/split/manifest.h"

namespace slipway {

namespace {

/// The dataset's own options, with the group column that the split asks for.
DatasetOptions options_of_split(const SplitOrder& order) {
    DatasetOptions options = order.options;
    options.excluded_columns = {options.label_column};
    if (!options.group_column.empty()) options.excluded_columns.push_back(options.group_column);
    if (!order.request.group_by.empty()) options.group_column = order.request.group_by;
    options.mean.clear();    // what is the same is the same before any normalisation
    options.deviation.clear();
    options.cache_bytes_max = 0;
    return options;
}

void check_stratify_by(const SplitOrder& order) {
    const std::string& column = order.request.stratify_by;
    if (column.empty() || column == "label" || column == order.options.label_column) return;
    throw Error{
        ErrorCode::invalid_argument,
        fmt::format("stratify_by must be label or the dataset's label column, got {}", column)};
}

}    // namespace

MadeSplit make_split(const SplitOrder& order) {
    if (order.format == "text") {
        throw Error{ErrorCode::invalid_argument,
                    "text has no samples until a job's tokenizer has cut it; use val_fraction, or "
                    "train and val, in the job's data.split"};
    }
    check_stratify_by(order);
    const auto dataset = open_dataset(order.format, order.path, options_of_split(order));
    const ContentHash content = hash_content(order.path, dataset->files(), order.threads);
    if (!order.content_hash.empty() && content.hash != order.content_hash) {
        throw DataError({.file = order.path.filename().string(),
                         .message = "the files have changed since the dataset was created; create "
                                    "it again"});
    }
    const SplitManifest manifest{.request = order.request,
                                 .content_hash = content.hash,
                                 .sample_list_hash = hash_sample_list(order.path, *dataset),
                                 .folds = draw_folds(dataset->index(), order.request)};
    MadeSplit made{.manifest = write_manifest(manifest), .report = {}};
    made.report = certify(manifest.folds, dataset->index(), traits_of(order.request),
                          number_contents(*dataset, order.threads));
    made.report["hash"] = manifest_hash(made.manifest);
    made.report["content_hash"] = content.hash;
    return made;
}

}    // namespace slipway
