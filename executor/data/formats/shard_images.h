#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/data/files.h"
#include "executor/data/formats/image_source.h"
#include "executor/data/formats/raw_pixels.h"

namespace slipway {

/// Images that are pieces of larger files: read again from plain files, kept in memory (encoded) of
/// gzipped ones, which cannot be read from the middle.
class ShardImages final : public ImageSource {
public:
    struct Piece {
        std::int32_t file = 0;          ///< index of `files`
        std::int64_t row = 0;           ///< record or sample in the file, 1-based
        std::string field;              ///< what the image is called there
        std::int64_t offset = 0;        ///< of its first byte in the file
        std::int64_t size = 0;          ///< bytes
        RawPixels raw = {};             ///< given: the bytes are pixels
        std::vector<std::byte> kept;    ///< the image itself; empty: it is in the file
    };

    /// `files` are relative to `folder`, sorted; `pieces` are the samples.
    ShardImages(Folder folder, std::vector<std::string> files, std::vector<Piece> pieces);

    std::vector<std::byte> read(std::int64_t sample) const override;
    std::vector<std::byte> read_beginning(std::int64_t sample,
                                          std::int64_t bytes_max) const override;
    Result<ImageHeader> header(std::int64_t sample,
                               std::span<const std::byte> bytes) const override;
    Result<Image> decode(std::int64_t sample, std::span<const std::byte> bytes,
                         const ImageRequest& request) const override;
    DataProblem place(std::int64_t sample) const override;
    std::vector<std::string> files() const override { return files_; }

private:
    Folder folder_;
    std::vector<std::string> files_;
    std::vector<Piece> pieces_;
};

/// errors  throws exhausted when so many bytes of encoded images are more than is kept in memory
void check_kept_size(std::int64_t bytes);

}    // namespace slipway
