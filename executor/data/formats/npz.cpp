// A .npz file is a zip of arrays. It is opened once for the names and once for each array that they
// choose, so that arrays are read in the order of the samples, whatever their order in the file,
// and no more is in memory than what is kept of them and one piece.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/npy_reader.h"
#include "executor/data/formats/npz_dataset.h"
#include "executor/data/formats/npz_names.h"
#include "executor/data/formats/raw_pixels.h"
#include "executor/data/formats/shards.h"
#include "executor/data/formats/target_columns.h"

namespace slipway {

namespace {

constexpr std::size_t members_max = 1000;

bool is_npz(std::string_view name) {
    return name.ends_with(".npz");
}

/// What an array of features holds.
struct FeatureLayout {
    Dims stored;            ///< of a sample: {columns} or {channels, height, width}
    bool planar = false;    ///< depth before height and width
    bool bytes = false;     ///< an image of bytes, kept as bytes
    bool is_table() const { return stored.size() == 1; }
};

FeatureLayout layout_of(const NpyReader& array) {
    const Dims& shape = array.header().shape;
    const auto is_depth = [](std::int64_t size) { return size == 1 || size == 3; };
    if (array.header().type.is_text()) array.refuse("features are numbers, and its items are text");
    FeatureLayout layout;
    layout.bytes = shape.size() > 2 && array.header().type.is_byte();
    if (shape.size() == 2) {
        layout.stored = {shape[1]};
        return layout;
    }
    if (shape.size() == 3) {
        layout.stored = {1, shape[1], shape[2]};
    } else if (shape.size() == 4 && is_depth(shape[3])) {
        layout.stored = {shape[3], shape[1], shape[2]};
    } else if (shape.size() == 4 && is_depth(shape[1])) {
        layout.stored = {shape[1], shape[2], shape[3]};
        layout.planar = true;
    } else {
        array.refuse(
            fmt::format("its shape is [{}]; features are a table [n, columns] or images "
                        "[n, h, w], [n, h, w, 1 or 3] or [n, 1 or 3, h, w]",
                        fmt::join(shape, ", ")));
    }
    const auto wrong = shape_problem({layout.stored[1], layout.stored[2], layout.stored[0]});
    if (wrong) array.refuse(*wrong);
    return layout;
}

/// Gathers the pairs of one file after the other.
class NpzBuilder {
public:
    NpzBuilder(Shards shards, const DatasetOptions& options, ProblemLog& problems)
        : shards_(std::move(shards)),
          options_(options),
          problems_(problems),
          classes_(options.class_names) {}

    void add_file(std::int32_t file) {
        const std::string& part = shards_.part_names[std::size_t(shards_.parts[std::size_t(file)])];
        for (const NpzPair& pair : find_npz_pairs(name_of(file), arrays_of(file)))
            add(pair, file, parts_.number(pair.part.empty() ? part : pair.part));
    }

    std::unique_ptr<Dataset> finish() {
        if (index_.target_names.empty()) {
            index_.class_names =
                options_.class_names.empty() ? classes_.sort(index_.labels) : options_.class_names;
        }
        index_.part_names = parts_.names();
        index_.feature_dims = layout_->stored;
        if (!layout_->is_table()) {
            if (options_.channels > 0) index_.feature_dims[0] = options_.channels;
            if (options_.image_size > 0)
                index_.feature_dims[1] = index_.feature_dims[2] = options_.image_size;
        }
        if (index_.feature_dims != layout_->stored && !layout_->bytes) {
            throw Error{ErrorCode::invalid_argument,
                        "image_size and channels are for images of uint8; the arrays of this "
                        "dataset hold other numbers"};
        }
        return std::make_unique<NpzDataset>(
            std::move(index_), layout_->stored, std::move(blocks_), std::move(shards_.files),
            rests_ ? rests_->take() : std::vector<ColumnRests::Rest>());
    }

private:
    const std::string& name_of(std::int32_t file) const { return shards_.files[std::size_t(file)]; }

    ZipReader open(std::int32_t file) const {
        return {shards_.folder.open(name_of(file)), name_of(file)};
    }

    std::vector<std::string> arrays_of(std::int32_t file) const {
        ZipReader zip = open(file);
        std::vector<std::string> arrays;
        for (std::string member; zip.next(member);) {
            if (arrays.size() == members_max) {
                throw DataError({.file = name_of(file),
                                 .message = fmt::format("the file has more than {} arrays; a "
                                                        "dataset has two for each part",
                                                        members_max)});
            }
            const bool array = member.ends_with(".npy");
            arrays.push_back(array ? member.substr(0, member.size() - 4) : member);
        }
        return arrays;
    }

    void add(const NpzPair& pair, std::int32_t file, std::int32_t part) {
        NpyReader features(open(file), pair.features);
        NpyReader labels(open(file), pair.labels);
        take_layout(features);
        const std::int64_t rows = features.header().shape[0];
        check_labels(labels, pair, rows);
        take_room(features, labels, rows);
        blocks_.push_back({.begin = index_.sample_count(),
                           .file = file,
                           .array = pair.features,
                           .planar = layout_of(features).planar,
                           .bytes = {},
                           .numbers = {}});
        index_.target_names.empty() ? add_classes(labels) : add_targets(labels);
        layout_->bytes ? add_bytes(features) : add_numbers(features);
        index_.parts.resize(index_.labels.size(), part);
    }

    /// All features of a dataset are alike but for the order of an image's depth.
    void take_layout(const NpyReader& features) {
        const FeatureLayout layout = layout_of(features);
        if (!layout_) layout_ = layout;
        if (layout.is_table() && (options_.image_size > 0 || options_.channels > 0)) {
            throw Error{ErrorCode::invalid_argument,
                        fmt::format("image_size and channels are for images, and {} of {} is a "
                                    "table",
                                    features.array(), features.file())};
        }
        if (layout.stored != layout_->stored) {
            features.refuse(fmt::format("its samples are {} where those of the first array are {}",
                                        fmt::join(layout.stored, " x "),
                                        fmt::join(layout_->stored, " x ")));
        }
        if (layout.bytes != layout_->bytes) {
            features.refuse(
                "images of uint8 are scaled to numbers from 0 to 1, others are not; save all as "
                "one type");
        }
    }

    void check_labels(const NpyReader& labels, const NpzPair& pair, std::int64_t rows) {
        const NpyHeader& header = labels.header();
        const Dims& shape = header.shape;
        if (shape.empty() || shape.size() > 2) {
            labels.refuse(fmt::format("labels have the shape [n] or [n, k], this array has [{}]",
                                      fmt::join(shape, ", ")));
        }
        if (shape[0] != rows) {
            labels.refuse(fmt::format("it has {} labels, and {} has {} samples", shape[0],
                                      pair.features, rows));
        }
        const std::int64_t columns = shape.size() == 2 ? shape[1] : 1;
        const bool numbers =
            !options_.label_columns.empty() || header.type.is_float() || columns > 1;
        if (numbers && header.type.is_text()) {
            labels.refuse(columns > 1 ? "labels that are text are one for each sample"
                                      : "its items are text, and label_columns asks for numbers");
        }
        const auto names =
            numbers ? target_names(labels, pair.label_word, columns) : std::vector<std::string>();
        if (blocks_.empty()) index_.target_names = names;
        if (names.size() != index_.target_names.size()) {
            labels.refuse(
                fmt::format("it has {} numbers for each sample where the first labels "
                            "have {} (0: they are classes)",
                            names.size(), index_.target_names.size()));
        }
    }

    std::vector<std::string> target_names(const NpyReader& labels, const std::string& word,
                                          std::int64_t columns) const {
        const std::vector<std::string>& given = options_.label_columns;
        if (std::int64_t(given.size()) == columns) return given;
        if (given.size() > 1) {
            labels.refuse(fmt::format("label_columns has {} names, and each sample has {} labels",
                                      given.size(), columns));
        }
        const std::string& name = given.empty() ? word : given[0];
        if (columns == 1) return {name};
        constexpr std::int64_t columns_max = 1000;    // as label_columns may have
        if (columns > columns_max) {
            labels.refuse(fmt::format("each sample has {} labels, more than the {} that are read",
                                      columns, columns_max));
        }
        std::vector<std::string> names;
        for (std::int64_t i = 0; i < columns; ++i)
            names.push_back(fmt::format("{}[{}]", name, i));
        return names;
    }

    /// Before a byte of it is kept.
    void take_room(const NpyReader& features, const NpyReader& labels, std::int64_t rows) {
        constexpr std::int64_t row_bytes = 2 * sizeof(std::int32_t);    // class and part
        kept_bytes_ += features.header().items * (layout_->bytes ? 1 : std::int64_t(sizeof(float)));
        kept_bytes_ += labels.header().items * std::int64_t(sizeof(float)) + rows * row_bytes;
        if (kept_bytes_ <= table_bytes_max) return;
        features.refuse(
            fmt::format("with it the dataset has more than {} bytes, the most that is "
                        "kept in memory",
                        table_bytes_max));
    }

    void add_classes(NpyReader& labels) {
        const NpyType type = labels.header().type;
        std::int64_t row = 0;
        for (auto piece = labels.next(); !piece.empty(); piece = labels.next()) {
            for (std::size_t at = 0; at < piece.size(); at += type.bytes) {
                const Result<std::string> label = npy_label(type, &piece[at]);
                index_.labels.push_back(label ? class_of(labels, ++row, *label)
                                              : bad_class(labels, ++row, label.error().what()));
            }
        }
    }

    std::int32_t class_of(const NpyReader& labels, std::int64_t row, const std::string& label) {
        if (without_blanks(label).empty()) return bad_class(labels, row, "the label is empty");
        if (const auto wrong = name_problem(label, "the array"))
            return bad_class(labels, row, *wrong);
        if (const auto known = classes_.class_number(label, options_.class_names)) return *known;
        return bad_class(labels, row,
                         fmt::format("{} is neither in class_names nor an index into it, 0 to {}",
                                     shown(label), options_.class_names.size() - 1));
    }

    /// An inspection goes on; the set is not trained on.
    std::int32_t bad_class(const NpyReader& labels, std::int64_t row, const std::string& message) {
        problems_.add(
            {.file = labels.file(), .row = row, .field = labels.array(), .message = message});
        return options_.class_names.empty() ? classes_.number("") : 0;
    }

    void add_targets(NpyReader& labels) {
        const NpyType type = labels.header().type;
        const std::size_t columns = index_.target_names.size();
        std::size_t items = 0;
        for (auto piece = labels.next(); !piece.empty(); piece = labels.next()) {
            for (std::size_t at = 0; at < piece.size(); at += type.bytes) {
                const auto number = float(npy_number(type, &piece[at]));
                const auto wrong = std::isfinite(number)
                                       ? target_problem(number, options_)
                                       : fmt::format(
                                             "the label is {}, and must be a finite number "
                                             "that a float holds",
                                             number);
                if (wrong) {
                    problems_.add({.file = labels.file(),
                                   .row = std::int64_t(items / columns) + 1,
                                   .field = labels.array(),
                                   .message = *wrong});
                }
                index_.targets.push_back(wrong ? 0 : number);
                if (++items % columns == 0) index_.labels.push_back(0);
            }
        }
    }

    void add_bytes(NpyReader& features) {
        std::vector<std::uint8_t> bytes;
        for (auto piece = features.next(); !piece.empty(); piece = features.next()) {
            const auto* begin = reinterpret_cast<const std::uint8_t*>(piece.data());
            bytes.insert(bytes.end(), begin, begin + piece.size());
        }
        blocks_.back().bytes = std::move(bytes);
    }

    void add_numbers(NpyReader& features) {
        const NpyType type = features.header().type;
        std::vector<float> numbers;
        std::vector<double> row;    // of a table: grows with what has been read
        std::int64_t bad_count = 0, bad_first = 0;
        for (auto piece = features.next(); !piece.empty(); piece = features.next()) {
            for (std::size_t at = 0; at < piece.size(); at += type.bytes) {
                double number = npy_number(type, &piece[at]);
                if (!std::isfinite(float(number))) {
                    if (bad_count++ == 0) bad_first = std::int64_t(numbers.size());
                    number = 0;    // an inspection goes on
                }
                numbers.push_back(float(number));
                if (layout_->is_table()) keep_rests(row, number, numbers);
            }
        }
        blocks_.back().numbers = std::move(numbers);
        if (bad_count == 0) return;
        const std::int64_t columns = features.header().items / features.header().shape[0];
        problems_.add({.file = features.file(),
                       .row = bad_first / columns + 1,
                       .field = features.array(),
                       .message = fmt::format(
                           "{} of its {} numbers are NaN, infinite or beyond what a float holds; "
                           "the first is number {} of this sample",
                           bad_count, features.header().items, bad_first % columns + 1)});
    }

    void keep_rests(std::vector<double>& row, double number, const std::vector<float>& numbers) {
        if (rests_ && !rests_->watches_any()) return;
        row.push_back(number);
        const auto columns = std::size_t(layout_->stored[0]);
        if (row.size() < columns) return;
        if (!rests_) rests_.emplace(columns);
        rests_->add_row([&](std::size_t i) { return row[i]; }, std::span(numbers).last(columns));
        row.clear();
    }

    Shards shards_;
    const DatasetOptions& options_;
    ProblemLog& problems_;
    NameTable classes_, parts_;
    DatasetIndex index_;
    std::optional<FeatureLayout> layout_;    // of the first features
    std::vector<NpzBlock> blocks_;
    std::optional<ColumnRests> rests_;
    std::int64_t kept_bytes_ = 0;
};

}    // namespace

std::unique_ptr<Dataset> open_npz(const std::filesystem::path& path, const DatasetOptions& options,
                                  ProblemLog& problems) {
    if (!options.feature_columns.empty() || !options.group_column.empty()) {
        throw Error{ErrorCode::invalid_argument,
                    "the columns of an npz dataset have no names: feature_columns and a group "
                    "column are for tables that name them"};
    }
    Shards shards = find_shards(path, is_npz, "file that ends with .npz");
    const auto files = std::int32_t(shards.files.size());
    NpzBuilder builder(std::move(shards), options, problems);
    for (std::int32_t file = 0; file < files; ++file)
        builder.add_file(file);
    return builder.finish();
}

}    // namespace slipway
