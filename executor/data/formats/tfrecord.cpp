#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "executor/data/formats/column_rests.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/example.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image_dataset.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/shard_images.h"
#include "executor/data/formats/shards.h"
#include "executor/data/formats/table_dataset.h"
#include "executor/data/formats/target_columns.h"
#include "executor/data/formats/tfrecord_reader.h"
#include "executor/data/utf8.h"

// The first pass reads every record, checks its checksums and its labels, and keeps where its image
// lies; pixels are decoded when a job wants them. The first record decides what a sample is (an
// encoded image, raw pixels or numbers), and every other one must agree with it.
namespace slipway {

namespace {

using Features = std::vector<ExampleFeature>;
using Kind = ExampleFeature::Kind;

constexpr const char* usual_image = "image";

bool is_tfrecord(std::string_view name) {
    if (name.ends_with(".gz")) name.remove_suffix(3);
    const std::size_t of = name.rfind("-of-");    // train-00000-of-00010 has no ending
    return name.find(".tfrec") != std::string_view::npos ||
           (of != std::string_view::npos && of + 4 < name.size() &&
            name.substr(of + 4).find_first_not_of("0123456789") == std::string_view::npos);
}

const ExampleFeature* find(const Features& features, const std::string& name) {
    const auto found = std::find_if(features.begin(), features.end(),
                                    [&](const auto& feature) { return feature.name == name; });
    return found == features.end() ? nullptr : &*found;
}

/// "label (int64), x (float)", for messages.
std::string listed(const Features& features) {
    constexpr std::size_t listed_max = 20;
    std::vector<std::string> words;
    for (const ExampleFeature& feature : features) {
        if (words.size() == listed_max) break;
        words.push_back(
            fmt::format("{} ({})", shown(std::string(feature.name)), to_string(feature.kind)));
    }
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

/// Features whose numbers lie side by side, as many as the first record has.
struct NumberLists {
    std::string_view option;            ///< that names them
    std::vector<std::string> names;     ///< in their order
    std::vector<std::size_t> counts;    ///< values of each
    std::size_t total = 0;
};

/// What a record's sample is made of, from the first record: one image, or numbers.
struct Schema {
    std::string image;                ///< empty: numbers
    NumberLists features, targets;    ///< targets: labels that are numbers; none: classes
};

/// Gathers the records of one file after the other. Whatever is wrong with a record leaves it out.
class TfrecordBuilder {
public:
    TfrecordBuilder(Shards shards, const DatasetOptions& options, ProblemLog& problems)
        : shards_(std::move(shards)),
          options_(options),
          problems_(problems),
          classes_(options.class_names) {}

    void add_file(std::int32_t file) {
        const std::string& name = shards_.files[std::size_t(file)];
        TfrecordReader reader(shards_.folder.open(name), name);
        for (;;) {
            try {
                const auto record = reader.next();
                if (!record) return;
                add(reader, *record, file);
            } catch (const DataError& error) {    // an inspection lists what is wrong and goes on
                problems_.add(error.problem());
                if (!reader.can_go_on()) return;
            }
        }
    }

    std::unique_ptr<Dataset> finish() {
        if (index_.labels.empty()) {
            problems_.add(
                {.file = shards_.files[0], .message = "there is no record that can be used"});
        }
        if (options_.label_columns.empty()) {
            index_.class_names =
                options_.class_names.empty() ? classes_.sort(index_.labels) : options_.class_names;
        }
        if (schema_) index_.target_names = names_of(schema_->targets);
        index_.group_column = options_.group_column;
        index_.group_names = groups_.sort(index_.groups);
        index_.part_names = std::move(shards_.part_names);
        if (schema_ && !schema_->image.empty()) {
            return std::make_unique<ImageDataset>(
                std::move(index_),
                std::make_unique<ShardImages>(std::move(shards_.folder), std::move(shards_.files),
                                              std::move(pieces_)),
                options_, problems_);
        }
        if (schema_) index_.feature_dims = {std::int64_t(schema_->features.total)};
        return std::make_unique<TableDataset>(
            std::move(index_), std::move(numbers_), std::move(places_), std::move(shards_.files),
            rests_ ? rests_->take() : std::vector<ColumnRests::Rest>());
    }

private:
    void add(const TfrecordReader& reader, std::span<const std::byte> record, std::int32_t file) {
        const Result<Features> parsed = read_example(record);
        if (!parsed) refuse(reader, {}, parsed.error().what());
        const Features& features = *parsed;
        if (!schema_) {
            schema_ = find_schema(reader, features);
            for (const ExampleFeature& feature : features)
                index_.column_names.emplace_back(feature.name);
        }
        const bool classes = options_.label_columns.empty();
        const std::int32_t label = classes ? read_label(reader, features) : 0;
        const std::vector<float> targets = read_targets(reader, features);
        std::optional<std::string> group;
        if (!options_.group_column.empty()) {
            group = read_text(reader, features, options_.group_column, "group_column");
        }
        if (schema_->image.empty()) {
            const std::vector<float> numbers = read_numbers(reader, features, schema_->features);
            check_table_size(numbers_.size() + numbers.size() + index_.targets.size());
            keep_rests(features, numbers);
            numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
            places_.push_back({file, reader.row()});
        } else {
            pieces_.push_back(read_image(reader, features, record, file));
        }
        index_.labels.push_back(label);
        index_.targets.insert(index_.targets.end(), targets.begin(), targets.end());
        if (group) index_.groups.push_back(groups_.number(*group));
        index_.parts.push_back(shards_.parts[std::size_t(file)]);
    }

    /// Of int64 lists: a float list has nothing more to say.
    void keep_rests(const Features& features, std::span<const float> numbers) {
        if (!rests_) rests_.emplace(numbers.size());
        if (!rests_->watches_any()) return rests_->add_row({}, numbers);
        std::vector<double> exact;
        for (const std::string& name : schema_->features.names) {
            const ExampleFeature& feature = *find(features, name);
            exact.insert(exact.end(), feature.floats.begin(), feature.floats.end());
            for (const std::int64_t value : feature.ints)
                exact.push_back(double(value));
        }
        rests_->add_row([&](std::size_t i) { return exact[i]; }, numbers);
    }

    [[noreturn]] static void refuse(const TfrecordReader& reader, const std::string& field,
                                    const std::string& message) {
        throw DataError(
            {.file = reader.file(),
             .row = reader.row(),
             .field = field,
             .message = fmt::format("{} (the record begins at byte {}{})", message, reader.begin(),
                                    reader.gzipped() ? " of the unpacked file" : "")});
    }

    static const ExampleFeature& required(const TfrecordReader& reader, const Features& features,
                                          const std::string& name, std::string_view option) {
        if (const ExampleFeature* feature = find(features, name)) return *feature;
        refuse(reader, name,
               fmt::format("the record has no such feature; it has {}. Set {} to what all records "
                           "have",
                           listed(features), option));
    }

    Schema find_schema(const TfrecordReader& reader, const Features& features) const {
        Schema schema;
        schema.targets = {"label_columns", options_.label_columns, {}, 0};
        count(reader, features, schema.targets);
        const std::string image =
            options_.image_column.empty() ? usual_image : options_.image_column;
        const ExampleFeature* found = find(features, image);
        const bool has_image = found != nullptr && found->kind == Kind::bytes;
        if (options_.feature_columns.empty() && (has_image || !options_.image_column.empty())) {
            schema.image = image;
            return schema;
        }
        if (options_.image_size > 0 || options_.channels > 0 || options_.raw_pixels) {
            throw Error{
                ErrorCode::invalid_argument,
                "image_size, channels and raw_pixels are for images; these records have numbers"};
        }
        schema.features = {"feature_columns", options_.feature_columns, {}, 0};
        for (const ExampleFeature& feature : features) {
            if (options_.feature_columns.empty() && is_feature(feature))
                schema.features.names.emplace_back(feature.name);
        }
        count(reader, features, schema.features);
        if (schema.features.total > 0) return schema;
        refuse(reader, {},
               fmt::format("the record has neither an image called {} nor numbers besides label "
                           "and group; it has {}. Set image_column or feature_columns",
                           image, listed(features)));
    }

    /// Numbers to learn from, where no option says which.
    bool is_feature(const ExampleFeature& feature) const {
        const bool numeric = feature.kind == Kind::floats || feature.kind == Kind::ints;
        const auto& targets = options_.label_columns;
        const bool is_label = targets.empty()
                                  ? feature.name == options_.label_column
                                  : std::ranges::find(targets, feature.name) != targets.end();
        const auto& excluded = options_.excluded_columns;
        return numeric && !is_label && feature.name != options_.group_column &&
               std::ranges::find(excluded, feature.name) == excluded.end();
    }

    static void count(const TfrecordReader& reader, const Features& features, NumberLists& lists) {
        for (const std::string& name : lists.names) {
            lists.counts.push_back(required(reader, features, name, lists.option).size());
            lists.total += lists.counts.back();
        }
    }

    /// "sick", or "sick[0]", "sick[1]" of a feature with several numbers.
    static std::vector<std::string> names_of(const NumberLists& lists) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < lists.names.size(); ++i) {
            for (std::size_t place = 0; place < lists.counts[i]; ++place) {
                names.push_back(lists.counts[i] == 1
                                    ? lists.names[i]
                                    : fmt::format("{}[{}]", lists.names[i], place));
            }
        }
        return names;
    }

    /// A label or group: one whole number or one text.
    static std::string read_text(const TfrecordReader& reader, const Features& features,
                                 const std::string& name, std::string_view option) {
        const ExampleFeature& feature = required(reader, features, name, option);
        if (feature.kind == Kind::ints && feature.size() == 1) {
            return std::to_string(feature.ints[0]);
        }
        if (feature.kind != Kind::bytes || feature.size() != 1) {
            refuse(reader, name,
                   fmt::format("it should be one int64 or one text and has {} values ({})",
                               feature.size(), to_string(feature.kind)));
        }
        if (without_blanks(feature.bytes[0]).empty()) refuse(reader, name, "the text is empty");
        if (!is_utf8(feature.bytes[0])) refuse(reader, name, "the text is not UTF-8");
        if (const auto wrong = name_problem(feature.bytes[0], option)) refuse(reader, name, *wrong);
        return std::string(feature.bytes[0]);
    }

    std::int32_t read_label(const TfrecordReader& reader, const Features& features) {
        const std::string& column = options_.label_column;
        const std::string label = read_text(reader, features, column, "label_column");
        const auto number = classes_.class_number(label, options_.class_names);
        if (!number) {
            refuse(reader, column,
                   fmt::format("{} is neither in class_names nor an index into it, 0 to {}",
                               shown(label), options_.class_names.size() - 1));
        }
        return *number;
    }

    std::vector<float> read_targets(const TfrecordReader& reader, const Features& features) const {
        const NumberLists& lists = schema_->targets;
        std::vector<float> targets = read_numbers(reader, features, lists);
        if (!options_.label_columns.empty() && targets.empty())
            refuse(reader, options_.label_columns[0], "it has no value, and it is the label");
        std::size_t at = 0;
        for (std::size_t i = 0; i < lists.names.size(); ++i) {
            for (std::size_t place = 0; place < lists.counts[i]; ++place) {
                if (const auto wrong = target_problem(targets[at++], options_))
                    refuse(reader, lists.names[i], *wrong);
            }
        }
        return targets;
    }

    static std::vector<float> read_numbers(const TfrecordReader& reader, const Features& features,
                                           const NumberLists& lists) {
        std::vector<float> numbers;
        for (std::size_t i = 0; i < lists.names.size(); ++i) {
            const std::string& name = lists.names[i];
            const ExampleFeature& feature = required(reader, features, name, lists.option);
            if (feature.kind == Kind::bytes) refuse(reader, name, "it has bytes, not numbers");
            if (feature.size() != lists.counts[i]) {
                refuse(reader, name,
                       fmt::format("it has {} values where the first record has {}", feature.size(),
                                   lists.counts[i]));
            }
            numbers.insert(numbers.end(), feature.floats.begin(), feature.floats.end());
            for (const std::int64_t value : feature.ints)
                numbers.push_back(float(value));
            const auto bad = std::find_if(feature.floats.begin(), feature.floats.end(),
                                          [](float value) { return !std::isfinite(value); });
            if (bad == feature.floats.end()) continue;
            refuse(reader, name,
                   fmt::format("value {} of {} is {}, not a finite number",
                               bad - feature.floats.begin() + 1, feature.size(), *bad));
        }
        return numbers;
    }

    /// Height, width and depth: the option's, or the record's own.
    std::array<std::int64_t, 3> read_shape(const TfrecordReader& reader,
                                           const Features& features) const {
        std::array<std::int64_t, 3> shape{};
        for (std::size_t i = 0; i < shape.size(); ++i) {
            if (!options_.raw_shape.empty()) {
                shape[i] = options_.raw_shape[i];
                continue;
            }
            const std::string& name = options_.shape_columns[i];
            const ExampleFeature& feature =
                required(reader, features, name, "raw_shape or shape_columns");
            if (feature.kind != Kind::ints || feature.size() != 1) {
                refuse(reader, name,
                       fmt::format("it should be one int64 and has {} values ({})", feature.size(),
                                   to_string(feature.kind)));
            }
            shape[i] = feature.ints[0];
        }
        if (const auto wrong = shape_problem(shape)) refuse(reader, schema_->image, *wrong);
        return shape;
    }

    RawPixels read_raw(const TfrecordReader& reader, const Features& features,
                       std::size_t bytes) const {
        if (!options_.raw_pixels) return {};
        const auto shape = read_shape(reader, features);
        if (const auto wrong = size_problem(bytes, shape)) refuse(reader, schema_->image, *wrong);
        return {.height = std::int32_t(shape[0]),
                .width = std::int32_t(shape[1]),
                .channels = std::int32_t(shape[2]),
                .layout = *options_.raw_pixels};
    }

    ShardImages::Piece read_image(const TfrecordReader& reader, const Features& features,
                                  std::span<const std::byte> record, std::int32_t file) {
        const std::string& name = schema_->image;
        const ExampleFeature& feature = required(reader, features, name, "image_column");
        if (feature.kind != Kind::bytes || feature.size() != 1) {
            refuse(reader, name,
                   fmt::format("it should be the bytes of one {} and has {} values ({})",
                               options_.raw_pixels ? "image" : "JPEG or PNG", feature.size(),
                               to_string(feature.kind)));
        }
        const auto image = std::as_bytes(std::span(feature.bytes[0]));
        if (std::int64_t(image.size()) > image_file_bytes_max) {
            refuse(reader, name,
                   fmt::format("the image has {} bytes, more than the {} that are read",
                               image.size(), image_file_bytes_max));
        }
        ShardImages::Piece piece{.file = file,
                                 .row = reader.row(),
                                 .field = name,
                                 .offset = reader.data_begin() + (image.data() - record.data()),
                                 .size = std::int64_t(image.size()),
                                 .raw = read_raw(reader, features, image.size()),
                                 .kept = {}};
        if (!reader.gzipped()) return piece;
        kept_bytes_ += piece.size;
        check_kept_size(kept_bytes_);
        piece.kept.assign(image.begin(), image.end());
        return piece;
    }

    Shards shards_;
    const DatasetOptions& options_;
    ProblemLog& problems_;
    NameTable classes_, groups_;
    DatasetIndex index_;
    std::optional<Schema> schema_;
    std::vector<float> numbers_;
    std::optional<ColumnRests> rests_;
    std::vector<TableDataset::Place> places_;
    std::vector<ShardImages::Piece> pieces_;
    std::int64_t kept_bytes_ = 0;
};

}    // namespace

std::unique_ptr<Dataset> open_tfrecord(const std::filesystem::path& path,
                                       const DatasetOptions& options, ProblemLog& problems) {
    if (!options.image_column.empty() && !options.feature_columns.empty()) {
        throw Error{ErrorCode::invalid_argument,
                    "a sample is an image (image_column) or numbers (feature_columns), not both"};
    }
    check_target_columns(options);
    Shards shards = find_shards(path, is_tfrecord,
                                "TFRecord file: NAME.tfrecord or NAME-00000-of-00010, each with or "
                                "without .gz");
    const std::size_t files = shards.files.size();
    TfrecordBuilder builder(std::move(shards), options, problems);
    for (std::size_t i = 0; i < files; ++i)
        builder.add_file(std::int32_t(i));
    return builder.finish();
}

}    // namespace slipway
