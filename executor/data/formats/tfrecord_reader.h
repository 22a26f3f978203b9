#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/data/files.h"

namespace slipway {

/// The records of one TFRecord file in order, gzipped or not: length (8 bytes, low byte first), its
/// masked CRC-32C, the record, its masked CRC-32C. Both sums are checked.
class TfrecordReader {
public:
    /// A record longer than this is refused.
    static constexpr std::int64_t record_bytes_max = 512 << 20;

    TfrecordReader(UniqueFd file, std::string name);

    /// The next record, valid until the next call, or none at the end.
    /// errors  throws DataError with record and byte: truncated, wrong sum, too long. After it
    ///         can_go_on() says whether the next record's place is known.
    std::optional<std::span<const std::byte>> next();
    bool can_go_on() const { return can_go_on_; }

    const std::string& file() const { return name_; }
    std::int64_t row() const { return row_; }    ///< of the last record, 1-based
    /// Where the last record begins with its length, and where its own bytes do; of a gzipped file
    /// in what it unpacks to.
    std::int64_t begin() const { return begin_; }
    std::int64_t data_begin() const { return begin_ + 12; }
    bool gzipped() const { return stream_.has_value(); }

private:
    std::size_t fill(std::span<std::byte> bytes);
    [[noreturn]] void refuse(const std::string& message) const;

    std::string name_;
    UniqueFd file_;
    std::optional<ByteStream> stream_;    // when gzipped
    std::vector<std::byte> buffer_;       // read ahead of a plain file
    std::size_t taken_ = 0, filled_ = 0;
    std::vector<std::byte> record_;
    std::int64_t row_ = 0;
    std::int64_t begin_ = 0;
    std::int64_t position_ = 0;
    bool can_go_on_ = true;
};

}    // namespace slipway
