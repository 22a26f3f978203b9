#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/data/formats/image.h"
#include "executor/data/problem.h"

namespace slipway {

/// A JPEG or PNG file larger than this is not read.
inline constexpr std::int64_t image_file_bytes_max = 256 << 20;

/// Where the images of a dataset are: files of a folder, or pieces of larger files. Constant after
/// construction: safe from every thread.
class ImageSource {
public:
    virtual ~ImageSource() = default;
    ImageSource(const ImageSource&) = delete;
    ImageSource& operator=(const ImageSource&) = delete;

    /// The sample's bytes: a JPEG or PNG file, unless the source decodes them itself.
    /// errors  DataError when it is missing or too large; unavailable
    virtual std::vector<std::byte> read(std::int64_t sample) const = 0;
    /// Its first `bytes_max` bytes, or all where there are fewer.
    /// errors  DataError when it is missing; unavailable
    virtual std::vector<std::byte> read_beginning(std::int64_t sample,
                                                  std::int64_t bytes_max) const = 0;
    /// What the sample's bytes hold.
    virtual Result<ImageHeader> header(std::int64_t /*sample*/,
                                       std::span<const std::byte> bytes) const {
        return read_image_header(bytes);
    }
    virtual Result<Image> decode(std::int64_t /*sample*/, std::span<const std::byte> bytes,
                                 const ImageRequest& request) const {
        return decode_image(bytes, request);
    }
    /// Where the sample is, without a message.
    virtual DataProblem place(std::int64_t sample) const = 0;
    /// Every file that the dataset consists of, relative to its folder, sorted.
    virtual std::vector<std::string> files() const = 0;

protected:
    ImageSource() = default;
};

}    // namespace slipway
