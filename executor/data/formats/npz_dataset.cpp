#include "executor/data/formats/npz_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image.h"
#include "executor/data/shared/copy_records.h"

namespace slipway {

NpzDataset::NpzDataset(DatasetIndex index, Dims stored, std::vector<NpzBlock> blocks,
                       std::vector<std::string> files, std::vector<ColumnRests::Rest> rests)
    : stored_(std::move(stored)),
      blocks_(std::move(blocks)),
      files_(std::move(files)),
      rests_(std::move(rests)) {
    index_ = std::move(index);
    for (const std::int64_t dim : stored_)
        stored_count_ *= std::size_t(dim);
}

void NpzDataset::read(std::int64_t sample, std::span<float> features) const {
    check(std::int64_t(features.size()) == index_.feature_count(),
          "a sample is read into a buffer of its features' size");
    const NpzBlock& block = block_of(sample);
    if (index_.feature_dims != stored_) {
        const Image changed = image(sample, 0);
        return to_planes(changed.pixels, std::size_t(changed.channels), features);
    }
    const std::size_t begin = begin_of(block, sample);
    for (std::size_t i = 0; i < features.size(); ++i) {
        const std::size_t at = begin + stored_place(block, i);
        features[i] = block.bytes.empty() ? block.numbers[at] : float(block.bytes[at]) / 255.0F;
    }
}

void NpzDataset::read_exact(std::int64_t sample, std::span<double> features) const {
    Dataset::read_exact(sample, features);
    for (const ColumnRests::Rest& rest : rests_)
        features[rest.column] += double(rest.rests[std::size_t(sample)]);
}

Image NpzDataset::image(std::int64_t sample, std::int64_t side_hint) const {
    const NpzBlock& block = block_of(sample);
    if (block.bytes.empty()) {
        const auto numbers = block.numbers.span().subspan(begin_of(block, sample), stored_count_);
        const auto bad = std::ranges::find_if(numbers, [](float x) { return x < 0 || x > 1; });
        if (bad == numbers.end()) return Dataset::image(sample, side_hint);
        DataProblem problem = place(sample);
        problem.message = fmt::format(
            "images of floats are shown and augmented only if all values are from 0 to 1, and one "
            "is "
            "{}; save the images as uint8",
            *bad);
        throw DataError(std::move(problem));
    }
    Image image{stored_[0], stored_[1], stored_[2], std::vector<std::uint8_t>(stored_count_)};
    const auto channels = std::size_t(image.channels);
    const std::size_t area = stored_count_ / channels, begin = begin_of(block, sample);
    for (std::size_t i = 0; i < stored_count_; ++i)
        image.pixels[i] =
            block.bytes[begin + stored_place(block, i % channels * area + i / channels)];
    const Dims& wanted = index_.feature_dims;
    image = with_channels(std::move(image), wanted[0]);
    if (image.height == wanted[1] && image.width == wanted[2]) return image;
    return resized(image, wanted[1], wanted[2]);
}

std::vector<std::byte> NpzDataset::content(std::int64_t sample) const {
    std::vector<std::byte> bytes = Dataset::content(sample);
    for (const ColumnRests::Rest& rest : rests_) {
        const auto more = std::as_bytes(std::span(&rest.rests[std::size_t(sample)], 1));
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
}

DataProblem NpzDataset::place(std::int64_t sample) const {
    const NpzBlock& block = block_of(sample);
    return {.file = files_[std::size_t(block.file)],
            .row = sample - block.begin + 1,
            .field = block.array};
}

const NpzBlock& NpzDataset::block_of(std::int64_t sample) const {
    return *std::prev(std::upper_bound(
        blocks_.begin(), blocks_.end(), sample,
        [](std::int64_t value, const NpzBlock& block) { return value < block.begin; }));
}

std::size_t NpzDataset::begin_of(const NpzBlock& block, std::int64_t sample) const {
    return std::size_t(sample - block.begin) * stored_count_;
}

std::size_t NpzDataset::stored_place(const NpzBlock& block, std::size_t i) const {
    if (stored_.size() == 1 || block.planar || stored_[0] == 1) return i;
    const auto channels = std::size_t(stored_[0]);
    const std::size_t area = stored_count_ / channels;
    return i % area * channels + i / area;
}

void NpzDataset::write_copy(CopyWriter& to) const {
    write_index(to, index_);
    to.texts(files_);
    to.numbers(stored_);
    to.number(std::int64_t(blocks_.size()));
    for (const NpzBlock& block : blocks_) {
        to.number(block.begin);
        to.number(block.file);
        to.text(block.array);
        to.number(block.planar ? 1 : 0);
        to.numbers(block.bytes.span());
        to.numbers(block.numbers.span());
    }
    write_rests(to, rests_);
}

std::unique_ptr<Dataset> read_npz_copy(CopyReader& from) {
    DatasetIndex index = read_index(from);
    std::vector<std::string> files = from.texts();
    Dims stored = from.vector<std::int64_t>();
    std::int64_t items = 1;    // of a sample
    for (const std::int64_t dim : stored)
        items *= dim;
    require_in_copy(items > 0 && stored.size() == index.feature_dims.size());
    std::vector<NpzBlock> blocks;
    std::int64_t begin = 0;    // of the next block
    for (std::int64_t count = from.number(); count > 0; --count) {
        NpzBlock block;
        block.begin = from.number();
        block.file = std::int32_t(from.number());
        block.array = from.text();
        block.planar = from.number() != 0;
        block.bytes = from.numbers<std::uint8_t>();
        block.numbers = from.numbers<float>();
        require_in_copy(block.begin == begin && block.file >= 0 &&
                        std::size_t(block.file) < files.size());
        const std::size_t kept = block.bytes.empty() ? block.numbers.size() : block.bytes.size();
        begin += std::int64_t(kept) / items;
        blocks.push_back(std::move(block));
    }
    require_in_copy(begin == index.sample_count());
    auto rests = read_rests(from, std::size_t(index.sample_count()), std::size_t(items));
    return std::make_unique<NpzDataset>(std::move(index), std::move(stored), std::move(blocks),
                                        std::move(files), std::move(rests));
}

}    // namespace slipway
