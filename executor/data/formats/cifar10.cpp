#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/shards.h"
#include "executor/data/numbers.h"
#include "executor/data/shared/copy_records.h"
#include "executor/data/utf8.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t side = 32, channels = 3, area = side * side;
constexpr std::int64_t record_bytes = 1 + channels * area;    // label, then planes of R, G and B
constexpr std::int64_t cifar100_record_bytes = record_bytes + 1;
constexpr std::size_t usual_classes = 10;
constexpr const char* names_file = "batches.meta.txt";

using Bytes = std::vector<std::uint8_t>;

/// One file, whole records only.
struct Batch {
    std::int64_t begin = 0;    ///< its first sample
    Numbers<std::uint8_t> bytes;
};

/// Batches in memory, as bytes; other sizes and channels are made when a sample is read.
class Cifar10Dataset final : public Dataset {
public:
    Cifar10Dataset(DatasetIndex index, std::vector<Batch> batches, std::vector<std::string> names,
                   std::vector<std::string> files)
        : batches_(std::move(batches)), names_(std::move(names)), files_(std::move(files)) {
        index_ = std::move(index);
    }

    void read(std::int64_t sample, std::span<float> features) const override {
        check(std::int64_t(features.size()) == index_.feature_count(),
              "a sample is read into a buffer of its features' size");
        const Batch& batch = batches_[batch_of(sample)];
        const std::uint8_t* planes =
            &batch.bytes[std::size_t((sample - batch.begin) * record_bytes) + 1];
        if (index_.feature_dims == Dims{channels, side, side}) {
            for (std::size_t i = 0; i < features.size(); ++i)
                features[i] = float(planes[i]) / 255.0F;
            return;
        }
        Image image{channels, side, side, Bytes(std::size_t(channels * area))};
        for (std::size_t i = 0; i < image.pixels.size(); ++i)
            image.pixels[i] = planes[i % channels * area + i / channels];
        image = with_channels(std::move(image), index_.feature_dims[0]);
        image = resized(image, index_.feature_dims[1], index_.feature_dims[2]);
        to_planes(image.pixels, std::size_t(image.channels), features);
    }
    DataProblem place(std::int64_t sample) const override {
        const std::size_t batch = batch_of(sample);
        return {.file = names_[batch], .row = sample - batches_[batch].begin + 1};
    }
    std::vector<std::string> files() const override { return files_; }

    CopyKind copy_kind() const override { return CopyKind::cifar10; }
    void write_copy(CopyWriter& to) const override {
        write_index(to, index_);
        to.texts(files_);
        to.texts(names_);
        for (const Batch& batch : batches_) {
            to.number(batch.begin);
            to.numbers(batch.bytes.span());
        }
    }

private:
    std::size_t batch_of(std::int64_t sample) const {
        const auto after = std::upper_bound(
            batches_.begin(), batches_.end(), sample,
            [](std::int64_t value, const Batch& batch) { return value < batch.begin; });
        return std::size_t(after - batches_.begin()) - 1;
    }

    std::vector<Batch> batches_;        // in the order of their samples
    std::vector<std::string> names_;    // per batch
    std::vector<std::string> files_;
};

bool is_batch(std::string_view name) {
    return name.ends_with(".bin") || name.ends_with(".bin.gz");
}

Bytes read_all(const Folder& folder, const std::string& name, std::int64_t bytes_max) {
    ByteStream stream(folder.open(name), name);
    constexpr std::size_t piece = std::size_t(record_bytes) << 10;
    Bytes bytes;
    for (;;) {    // the file decides how much memory is taken
        const std::size_t begin = bytes.size();
        bytes.resize(begin + piece);
        const std::size_t count =
            stream.read(std::as_writable_bytes(std::span(bytes)).subspan(begin));
        bytes.resize(begin + count);
        if (std::int64_t(bytes.size()) > bytes_max) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("the batches have more than {} bytes, the most that is kept in "
                                    "memory",
                                    table_bytes_max)};
        }
        if (count < piece) return bytes;
    }
}

/// Names of the classes, one a line, when the file that is distributed with the batches is there.
std::vector<std::string> read_names(const Folder& folder, const std::string& name) {
    std::vector<std::string> names;
    std::string line;
    const std::vector<std::byte> bytes = folder.read(name, 1 << 20);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const char c : without_byte_order_mark(text)) {
        if (c != '\n') {
            line += c;
        } else if (!without_blanks(line).empty()) {
            names.emplace_back(without_blanks(std::exchange(line, {})));
        }
    }
    if (!without_blanks(line).empty()) names.emplace_back(without_blanks(line));
    for (const std::string& each : names) {
        if (const auto wrong = name_problem(each, names_file))
            throw DataError({.file = name, .message = *wrong});
    }
    const auto bad = std::find_if_not(names.begin(), names.end(), is_utf8);
    if (bad != names.end()) {
        throw DataError({.file = name,
                         .message = fmt::format("name {}, {}, is not text in UTF-8",
                                                bad - names.begin() + 1, shown(*bad))});
    }
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    if (names.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        throw DataError(
            {.file = name,
             .message = "it should name each class once, one a line; fix it or give class_names"});
    }
    return names;
}

class Cifar10Builder {
public:
    Cifar10Builder(const DatasetOptions& options, ProblemLog& problems) : problems_(problems) {
        const std::int64_t extent = options.image_size > 0 ? options.image_size : side;
        index_.feature_dims = {options.channels > 0 ? options.channels : channels, extent, extent};
        index_.class_names = options.class_names;
    }

    /// The names of the classes where the options leave them open: beside the first batch, or 0 to
    /// 9.
    void find_names(const Shards& shards) {
        if (!index_.class_names.empty()) return;
        const fs::path beside = fs::path(shards.files[0]).parent_path() / names_file;
        if (fs::exists(shards.folder.path() / beside)) {
            index_.class_names = read_names(shards.folder, beside.string());
            other_files_ = {beside.string()};
            return;
        }
        for (std::size_t i = 0; i < usual_classes; ++i)
            index_.class_names.push_back(std::to_string(i));
    }

    void add(const Folder& folder, const std::string& name, std::int32_t part) {
        Bytes bytes = read_all(folder, name, table_bytes_max - bytes_);
        check_size(name, std::int64_t(bytes.size()));
        const std::int64_t records = std::int64_t(bytes.size()) / record_bytes;
        bytes.resize(std::size_t(records * record_bytes));
        bytes.shrink_to_fit();
        bytes_ += std::int64_t(bytes.size());
        names_.push_back(name);
        batches_.push_back({index_.sample_count(), std::move(bytes)});
        for (std::int64_t record = 0; record < records; ++record) {
            add_label(name, record, batches_.back().bytes[std::size_t(record * record_bytes)]);
            index_.parts.push_back(part);
        }
    }

    std::unique_ptr<Dataset> finish(std::vector<std::string> part_names) {
        index_.part_names = std::move(part_names);
        std::vector<std::string> files = names_;
        files.insert(files.end(), other_files_.begin(), other_files_.end());
        std::sort(files.begin(), files.end());
        return std::make_unique<Cifar10Dataset>(std::move(index_), std::move(batches_),
                                                std::move(names_), std::move(files));
    }

private:
    /// Records are not marked: the size is all that tells a whole file.
    void check_size(const std::string& name, std::int64_t bytes) {
        const std::int64_t whole = bytes / record_bytes, rest = bytes % record_bytes;
        if (bytes == 0) problems_.add({.file = name, .message = "the file is empty"});
        if (rest == 0) return;
        problems_.add(
            {.file = name,
             .row = whole + 1,
             .message = fmt::format(
                 "the record that begins at byte {} has {} of {} bytes{}", whole * record_bytes,
                 rest, record_bytes,
                 bytes % cifar100_record_bytes == 0
                     ? "; the file looks like CIFAR-100's, with two labels for each image, which "
                       "is not read"
                     : "; the file is truncated or is not a binary batch")});
    }

    void add_label(const std::string& name, std::int64_t record, std::int32_t label) {
        if (label >= index_.class_count()) {
            problems_.add({.file = name,
                           .row = record + 1,
                           .message = fmt::format("label {} at byte {} is out of range: there are "
                                                  "{} classes, 0 to {}",
                                                  label, record * record_bytes,
                                                  index_.class_count(), index_.class_count() - 1)});
            label = 0;    // an inspection goes on; the set is not trained on
        }
        index_.labels.push_back(label);
    }

    ProblemLog& problems_;
    DatasetIndex index_;
    std::vector<Batch> batches_;
    std::vector<std::string> names_;
    std::vector<std::string> other_files_;
    std::int64_t bytes_ = 0;
};

}    // namespace

std::unique_ptr<Dataset> open_cifar10(const fs::path& path, const DatasetOptions& options,
                                      ProblemLog& problems) {
    Shards shards = find_shards(path, is_batch,
                                "binary batch: a file that ends with .bin or .bin.gz. The Python "
                                "version is not read; take the one for C programs");
    Cifar10Builder builder(options, problems);
    builder.find_names(shards);
    for (std::size_t i = 0; i < shards.files.size(); ++i)
        builder.add(shards.folder, shards.files[i], shards.parts[i]);
    return builder.finish(std::move(shards.part_names));
}

std::unique_ptr<Dataset> read_cifar10_copy(CopyReader& from) {
    DatasetIndex index = read_index(from);
    std::vector<std::string> files = from.texts(), names = from.texts();
    std::vector<Batch> batches;
    std::int64_t begin = 0;    // of the next batch
    for (std::size_t i = 0; i < names.size(); ++i) {
        batches.push_back({from.number(), from.numbers<std::uint8_t>()});
        require_in_copy(batches.back().begin == begin);
        begin += std::int64_t(batches.back().bytes.size()) / record_bytes;
    }
    require_in_copy(begin == index.sample_count() && index.feature_dims.size() == 3);
    return std::make_unique<Cifar10Dataset>(std::move(index), std::move(batches), std::move(names),
                                            std::move(files));
}

}    // namespace slipway
