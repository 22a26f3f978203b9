#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/formats/column_rests.h"
#include "executor/data/numbers.h"

namespace slipway {

/// One array of features in memory, as it was stored: bytes or numbers.
struct NpzBlock {
    std::int64_t begin = 0;    ///< its first sample
    std::int32_t file = 0;     ///< index of the set's files
    std::string array;         ///< its name
    bool planar = false;       ///< of images: depth before height and width
    Numbers<std::uint8_t> bytes;
    Numbers<float> numbers;
};

/// Arrays in memory: images of bytes, which are brought to another size or depth when they are
/// read; images of numbers; rows of a table.
class NpzDataset final : public Dataset {
public:
    /// `stored`: {channels, height, width} or {columns} of what lies in the blocks, which are in
    /// the order of their samples; index.feature_dims may differ for images of bytes.
    NpzDataset(DatasetIndex index, Dims stored, std::vector<NpzBlock> blocks,
               std::vector<std::string> files, std::vector<ColumnRests::Rest> rests);

    void read(std::int64_t sample, std::span<float> features) const override;
    void read_exact(std::int64_t sample, std::span<double> features) const override;
    /// errors  also for images of numbers that are not all from 0 to 1
    Image image(std::int64_t sample, std::int64_t side_hint) const override;
    std::vector<std::byte> content(std::int64_t sample) const override;
    DataProblem place(std::int64_t sample) const override;
    std::vector<std::string> files() const override { return files_; }
    CopyKind copy_kind() const override { return CopyKind::npz; }
    void write_copy(CopyWriter& to) const override;

private:
    const NpzBlock& block_of(std::int64_t sample) const;
    std::size_t begin_of(const NpzBlock& block, std::int64_t sample) const;
    /// Where the number `i` of a sample, in planes, lies in what is stored.
    std::size_t stored_place(const NpzBlock& block, std::size_t i) const;

    const Dims stored_;
    std::size_t stored_count_ = 1;    // numbers of a sample
    std::vector<NpzBlock> blocks_;
    std::vector<std::string> files_;
    std::vector<ColumnRests::Rest> rests_;
};

}    // namespace slipway
