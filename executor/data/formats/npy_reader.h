#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "executor/data/formats/npy_header.h"
#include "executor/data/formats/zip_reader.h"

namespace slipway {

/// One array of a .npz file: its header, then its items in pieces.
class NpyReader {
public:
    /// Passes over the members before `array` + ".npy", and reads its header.
    /// errors  throws DataError with file and array: damaged, no .npy, a header or a type that is
    ///         not read, or one that promises more than table_bytes_max
    NpyReader(ZipReader zip, const std::string& array);

    const std::string& file() const { return zip_.file(); }
    const std::string& array() const { return array_; }
    const NpyHeader& header() const { return header_; }
    /// "60000 x 28 x 28", for messages.
    std::string shape() const;

    /// The next whole items; none at the end, where all that the header declares has come and the
    /// checksum is right. Valid until the next call.
    /// errors  throws DataError when there are more or fewer bytes than promised, or damaged ones
    std::span<const std::byte> next();

    /// errors  throws DataError with file and array
    [[noreturn]] void refuse(const std::string& message) const;

private:
    ZipReader zip_;
    std::string array_;
    NpyHeader header_;
    std::vector<std::byte> buffer_;
    std::int64_t bytes_left_ = 0;
};

}    // namespace slipway
