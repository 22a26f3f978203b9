#include "executor/data/shared/shared_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/spec/dataset_format.h"
#include "executor/data/formats/format.h"
#include "executor/data/shared/copy_key.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

using ReadCopy = std::unique_ptr<Dataset> (*)(CopyReader&);

struct CopyKindRow {
    CopyKind kind;
    ReadCopy read;
};
constexpr auto copy_kinds = std::to_array<CopyKindRow>({{CopyKind::idx, read_idx_copy},
                                                        {CopyKind::cifar10, read_cifar10_copy},
                                                        {CopyKind::table, read_table_copy},
                                                        {CopyKind::npz, read_npz_copy}});

/// Whether it is worth a look: a tfrecord file says only when it is read what its samples are.
bool may_keep_samples(std::string_view format, const DatasetOptions& options) {
    const auto known = parse_word<DatasetFormat>(format);
    if (!known) return false;
    const DatasetFormatTraits found = traits(*known);
    if (!found.has_labels || (found.has_image_files && !found.has_tables)) return false;
    return options.image_column.empty() && !options.raw_pixels;
}

CopyFacts facts_of(std::string_view format, const fs::path& path, const DatasetOptions& options,
                   std::chrono::seconds settled_after) {
    // Its classes may have names in a file beside it, which is not part of the dataset.
    if (format == to_string(DatasetFormat::cifar10) && fs::is_regular_file(path))
        return {.text = {}, .why_not = "a batch that is a dataset of its own is not shared"};
    FileFacts files = facts_of_files(path, settled_after);
    CopyFacts facts{.text = fmt::format("{}\n{}{}", format, describe(options), files.text)};
    if (files.is_fresh) facts.why_not = "its files were changed a moment ago";
    return facts;
}

/// Null where samples are read from their files.
std::unique_ptr<Dataset> read_dataset_copy(CopyReader& reader) {
    const auto kind = CopyKind(reader.number());
    if (kind == CopyKind::none) return nullptr;
    const auto* const row = std::ranges::find(copy_kinds, kind, &CopyKindRow::kind);
    if (row == copy_kinds.end())
        throw Error{ErrorCode::data_loss, "the copy is of a kind that is not known"};
    return row->read(reader);
}

}    // namespace

std::unique_ptr<Dataset> open_shared_dataset(std::string_view format, const fs::path& path,
                                             const DatasetOptions& options,
                                             const SharingOptions& sharing,
                                             SharingOutcome& outcome) {
    if (!may_keep_samples(format, options)) return open_dataset(format, path, options);
    DatasetOptions as_stored = options;
    Moments moments{std::exchange(as_stored.mean, {}), std::exchange(as_stored.deviation, {})};
    std::unique_ptr<Dataset> dataset;
    outcome =
        use_copy(sharing, [&] { return facts_of(format, path, as_stored, sharing.settled_after); },
                 {.open = [&] { dataset = open_dataset(format, path, as_stored); },
                  .write =
                      [&](CopyWriter& to) {
                          to.number(std::int64_t(dataset->copy_kind()));
                          dataset->write_copy(to);
                      },
                  .read =
                      [&](CopyReader& from) {
                          auto read = read_dataset_copy(from);
                          if (read) dataset = std::move(read);
                      }});
    if (!dataset || dataset->copy_kind() == CopyKind::none) {
        outcome = {};
        if (!dataset) dataset = open_dataset(format, path, as_stored);
    }
    if (moments.mean.empty() && moments.deviation.empty()) return dataset;
    return normalized(std::move(dataset), std::move(moments));
}

}    // namespace slipway
