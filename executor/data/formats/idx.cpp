#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "api/base/check.h"
#include "executor/data/files.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image.h"
#include "executor/data/numbers.h"
#include "executor/data/shared/copy_records.h"

// The header is checked first; the file is then read piece by piece until it has what the header
// declares, so a header that lies about its size costs no memory. Files come in pairs, of images
// and labels, whose names differ in one word; the rest of the name is the part.
namespace slipway {

namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
    throw DataError({.file = file, .message = message});
}

/// One idx file: what its header says, then bytes.
struct IdxFile {
    std::string name;
    Dims dims;    ///< items, then the item's extents
    std::vector<std::uint8_t> bytes;
};

std::int64_t big_endian(std::span<const std::byte> bytes) {
    std::int64_t value = 0;
    for (const std::byte byte : bytes)
        value = value << 8 | std::to_integer<std::int64_t>(byte);
    return value;
}

Dims read_header(ByteStream& stream) {
    std::array<std::byte, 4> magic{};
    if (stream.read(magic) < magic.size())
        refuse(stream.name(), "the file is shorter than a header");
    const int type = std::to_integer<int>(magic[2]);
    const int rank = std::to_integer<int>(magic[3]);
    if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || rank < 1 || rank > 3) {
        refuse(stream.name(),
               fmt::format("it does not begin like an idx file of 1 to 3 dimensions: "
                           "{:#010x}",
                           big_endian(magic)));
    }
    if (type != 0x08) {
        refuse(
            stream.name(),
            fmt::format("its elements are of type {:#04x}; unsigned bytes (0x08) are read", type));
    }
    std::vector<std::byte> sizes(std::size_t(rank) * 4);
    if (stream.read(sizes) < sizes.size()) refuse(stream.name(), "the file ends inside its header");
    Dims dims;
    std::int64_t count = 1;
    for (int i = 0; i < rank; ++i) {
        dims.push_back(big_endian(std::span(sizes).subspan(std::size_t(i) * 4, 4)));
        if (dims.back() < 1) refuse(stream.name(), "the header has a dimension of size 0");
        if (dims.back() > table_bytes_max / count) {
            refuse(stream.name(), fmt::format("the header declares more than {} bytes, the most "
                                              "that is read",
                                              table_bytes_max));
        }
        count *= dims.back();
    }
    return dims;
}

std::int64_t product(const Dims& dims) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims)
        count *= dim;
    return count;
}

IdxFile read_idx(const Folder& folder, const std::string& name) {
    ByteStream stream(folder.open(name), name);
    IdxFile file{name, read_header(stream), {}};
    const auto promised = std::size_t(product(file.dims));
    // The file decides how much memory is taken, not its header.
    constexpr std::size_t piece = 16 << 20;
    while (file.bytes.size() < promised) {
        const std::size_t begin = file.bytes.size();
        file.bytes.resize(std::min(promised, begin + piece));
        const auto room = std::as_writable_bytes(std::span(file.bytes)).subspan(begin);
        const std::size_t count = stream.read(room);
        if (count < room.size()) {
            refuse(name, fmt::format("the header declares {} bytes ({}) and the file has {}",
                                     promised, fmt::join(file.dims, " x "), begin + count));
        }
    }
    std::byte more{};
    if (stream.read({&more, 1}) != 0) {
        refuse(name,
               fmt::format("the file goes on after the {} bytes ({}) that its header declares",
                           promised, fmt::join(file.dims, " x ")));
    }
    return file;
}

/// Brings u8 images of an idx file to the size and channels that the options ask for.
void fit_images(IdxFile& images, const DatasetOptions& options) {
    const std::int64_t side = options.image_size;
    const std::int64_t channels = options.channels > 0 ? options.channels : 1;
    const std::int64_t height = images.dims[1], width = images.dims[2];
    if (channels == 1 && (side == 0 || (side == height && side == width))) return;
    const std::int64_t area = side > 0 ? side * side : height * width;
    if (images.dims[0] > table_bytes_max / (area * channels)) {
        refuse(images.name, fmt::format("{} images of {} x {} bytes are more than {} bytes, the "
                                        "most that is kept; set a smaller image_size",
                                        images.dims[0], channels, area, table_bytes_max));
    }
    std::vector<std::uint8_t> fitted;
    const auto item = std::size_t(height * width);
    for (std::size_t i = 0; i < std::size_t(images.dims[0]); ++i) {
        Image image{1, height, width, {}};
        image.pixels.assign(&images.bytes[i * item], &images.bytes[i * item] + item);
        if (side > 0) image = resized(image, side, side);
        // A dataset's bytes are planes, so gray repeated is RGB.
        for (std::int64_t c = 0; c < channels; ++c) {
            fitted.insert(fitted.end(), image.pixels.begin(), image.pixels.end());
        }
    }
    images.bytes = std::move(fitted);
    if (side > 0) images.dims[1] = images.dims[2] = side;
}

/// One or more pairs of files, kept as bytes.
class IdxDataset final : public Dataset {
public:
    struct Part {
        std::string images_file;
        std::int64_t begin = 0;    ///< its first sample
        Numbers<std::uint8_t> bytes;
    };

    IdxDataset(DatasetIndex index, std::vector<Part> parts, std::vector<std::string> files)
        : parts_(std::move(parts)), files_(std::move(files)) {
        index_ = std::move(index);
    }

    void read(std::int64_t sample, std::span<float> features) const override {
        const Part& part = part_of(sample);
        check(std::int64_t(features.size()) == index_.feature_count(),
              "a sample is read into a buffer of its features' size");
        const std::uint8_t* from = &part.bytes[std::size_t(sample - part.begin) * features.size()];
        for (std::size_t i = 0; i < features.size(); ++i)
            features[i] = float(from[i]) / 255.0F;
    }
    DataProblem place(std::int64_t sample) const override {
        const Part& part = part_of(sample);
        return {.file = part.images_file, .row = sample - part.begin + 1};
    }
    std::vector<std::string> files() const override { return files_; }

    CopyKind copy_kind() const override { return CopyKind::idx; }
    void write_copy(CopyWriter& to) const override {
        write_index(to, index_);
        to.texts(files_);
        to.number(std::int64_t(parts_.size()));
        for (const Part& part : parts_) {
            to.text(part.images_file);
            to.number(part.begin);
            to.numbers(part.bytes.span());
        }
    }

private:
    const Part& part_of(std::int64_t sample) const {
        return *std::prev(std::upper_bound(
            parts_.begin(), parts_.end(), sample,
            [](std::int64_t value, const Part& part) { return value < part.begin; }));
    }

    std::vector<Part> parts_;    // in the order of their samples
    std::vector<std::string> files_;
};

/// "train-images-idx3-ubyte.gz" with "train-labels-idx1-ubyte" is the part "train".
struct Pair {
    std::string part;
    std::string images;
    std::string labels;
};

std::string without_gz(const std::string& name) {
    return name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
}

std::string part_name(std::string prefix) {
    while (!prefix.empty() && std::string_view("-_./").find(prefix.back()) != std::string::npos) {
        prefix.pop_back();
    }
    return prefix.empty() ? "all" : prefix;
}

/// The name that the labels of these images have, without .gz; none when the name is not of images.
std::optional<std::string> labels_name(const std::string& images) {
    std::string name = without_gz(images);
    const std::size_t word = name.rfind("images");
    if (word == std::string::npos) return std::nullopt;
    const std::size_t kind = name.find("idx", word);
    if (kind == std::string::npos || kind + 3 >= name.size()) return std::nullopt;
    name[kind + 3] = '1';
    return name.replace(word, 6, "labels");
}

std::vector<Pair> find_pairs(const std::vector<std::string>& files, ProblemLog& problems) {
    std::vector<Pair> pairs;
    for (const std::string& name : files) {
        const std::optional<std::string> wanted = labels_name(name);
        if (!wanted) continue;
        const auto labels = std::find_if(files.begin(), files.end(), [&](const std::string& file) {
            return without_gz(file) == *wanted;
        });
        const std::string part = part_name(without_gz(name).substr(0, name.rfind("images")));
        const auto same = std::ranges::find(pairs, part, &Pair::part);
        if (labels == files.end()) {
            problems.add(
                {.file = name,
                 .message = fmt::format("its labels are missing: {} or {}.gz", *wanted, *wanted)});
        } else if (same != pairs.end()) {
            problems.add(
                {.file = name,
                 .message = fmt::format("{} is the same part; keep one of them", same->images)});
        } else {
            pairs.push_back({part, name, *labels});
        }
    }
    if (pairs.empty()) {
        refuse({},
               "the folder has no pair of idx files; expected NAMEimages-idx3-ubyte and "
               "NAMElabels-idx1-ubyte, each with or without .gz");
    }
    return pairs;
}

class IdxBuilder {
public:
    IdxBuilder(const Folder& folder, const DatasetOptions& options, ProblemLog& problems)
        : folder_(folder), options_(options), problems_(problems) {}

    void add(const Pair& pair, std::int32_t number) {
        IdxFile images = read_idx(folder_, pair.images);
        const IdxFile labels = read_idx(folder_, pair.labels);
        check_pair(images, labels);
        if (images.dims.size() == 3) fit_images(images, options_);
        take_dims(images);
        parts_.push_back({pair.images, index_.sample_count(), std::move(images.bytes)});
        for (std::size_t i = 0; i < labels.bytes.size(); ++i) {
            add_label(labels, i);
            index_.parts.push_back(number);
        }
        index_.part_names.push_back(pair.part);
        files_.insert(files_.end(), {pair.images, pair.labels});
    }

    std::unique_ptr<Dataset> finish() {
        index_.class_names = options_.class_names;
        if (index_.class_names.empty()) {
            const std::int32_t last = *std::max_element(index_.labels.begin(), index_.labels.end());
            for (int i = 0; i <= last; ++i)
                index_.class_names.push_back(std::to_string(i));
        }
        std::sort(files_.begin(), files_.end());
        return std::make_unique<IdxDataset>(std::move(index_), std::move(parts_),
                                            std::move(files_));
    }

private:
    void check_pair(const IdxFile& images, const IdxFile& labels) const {
        if (labels.dims.size() != 1) {
            refuse(labels.name,
                   fmt::format("labels have 1 dimension, this file has {}", labels.dims.size()));
        }
        if (images.dims.size() == 1) refuse(images.name, "images have 2 or 3 dimensions, got 1");
        if (images.dims[0] != labels.dims[0]) {
            refuse(labels.name, fmt::format("it has {} labels and {} has {} images", labels.dims[0],
                                            images.name, images.dims[0]));
        }
    }

    void take_dims(const IdxFile& images) {
        Dims dims(images.dims.begin() + 1, images.dims.end());
        if (dims.size() == 2)
            dims.insert(dims.begin(), options_.channels > 0 ? options_.channels : 1);
        if (index_.feature_dims.empty()) index_.feature_dims = dims;
        if (dims != index_.feature_dims) {
            refuse(images.name,
                   fmt::format("its items are {} where those of the first file are {}",
                               fmt::join(dims, " x "), fmt::join(index_.feature_dims, " x ")));
        }
    }

    void add_label(const IdxFile& labels, std::size_t item) {
        std::int32_t label = labels.bytes[item];
        if (!options_.class_names.empty() && std::size_t(label) >= options_.class_names.size()) {
            problems_.add({.file = labels.name,
                           .row = std::int64_t(item) + 1,
                           .message = fmt::format("label {} is out of range: class_names has {} "
                                                  "names, 0 to {}",
                                                  label, options_.class_names.size(),
                                                  options_.class_names.size() - 1)});
            label = 0;    // an inspection goes on; the set is not trained on
        }
        index_.labels.push_back(label);
    }

    const Folder& folder_;
    const DatasetOptions& options_;
    ProblemLog& problems_;
    DatasetIndex index_;
    std::vector<IdxDataset::Part> parts_;
    std::vector<std::string> files_;
};

}    // namespace

std::unique_ptr<Dataset> open_idx(const std::filesystem::path& path, const DatasetOptions& options,
                                  ProblemLog& problems) {
    const Folder folder(path);
    IdxBuilder builder(folder, options, problems);
    const std::vector<Pair> pairs = find_pairs(folder.list(), problems);
    for (std::size_t i = 0; i < pairs.size(); ++i)
        builder.add(pairs[i], std::int32_t(i));
    return builder.finish();
}

std::unique_ptr<Dataset> read_idx_copy(CopyReader& from) {
    DatasetIndex index = read_index(from);
    require_in_copy(index.feature_count() > 0);
    std::vector<std::string> files = from.texts();
    std::vector<IdxDataset::Part> parts;
    std::int64_t begin = 0;    // of the next part
    for (std::int64_t count = from.number(); count > 0; --count) {
        std::string name = from.text();
        parts.push_back({std::move(name), from.number(), from.numbers<std::uint8_t>()});
        require_in_copy(parts.back().begin == begin);
        begin += std::int64_t(parts.back().bytes.size()) / index.feature_count();
    }
    require_in_copy(begin == index.sample_count() && !parts.empty());
    return std::make_unique<IdxDataset>(std::move(index), std::move(parts), std::move(files));
}

}    // namespace slipway
