#include "executor/data/formats/shard_images.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "executor/data/formats/format.h"

namespace slipway {

ShardImages::ShardImages(Folder folder, std::vector<std::string> files, std::vector<Piece> pieces)
    : folder_(std::move(folder)), files_(std::move(files)), pieces_(std::move(pieces)) {}

std::vector<std::byte> ShardImages::read(std::int64_t sample) const {
    return read_beginning(sample, pieces_[std::size_t(sample)].size);
}

std::vector<std::byte> ShardImages::read_beginning(std::int64_t sample,
                                                   std::int64_t bytes_max) const {
    const Piece& piece = pieces_[std::size_t(sample)];
    const std::int64_t wanted = std::min(piece.size, bytes_max);
    if (!piece.kept.empty()) return {piece.kept.begin(), piece.kept.begin() + wanted};
    const UniqueFd file = folder_.open(files_[std::size_t(piece.file)]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(wanted));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t count = pread(file.get(), &bytes[filled], bytes.size() - filled,
                                    piece.offset + std::int64_t(filled));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("{} cannot be read: {}", files_[std::size_t(piece.file)],
                                    strerror(errno))};
        }
        if (count == 0) {
            DataProblem problem = place(sample);
            problem.message = "the file has become shorter since it was opened";
            throw DataError(std::move(problem));
        }
        filled += std::size_t(count);
    }
    return bytes;
}

Result<ImageHeader> ShardImages::header(std::int64_t sample,
                                        std::span<const std::byte> bytes) const {
    const RawPixels& raw = pieces_[std::size_t(sample)].raw;
    if (!raw.given()) return ImageSource::header(sample, bytes);
    return ImageHeader{raw.channels, raw.height, raw.width};
}

Result<Image> ShardImages::decode(std::int64_t sample, std::span<const std::byte> bytes,
                                  const ImageRequest& request) const {
    const RawPixels& raw = pieces_[std::size_t(sample)].raw;
    if (!raw.given()) return ImageSource::decode(sample, bytes, request);
    Image image = raw_image(bytes, raw);
    return request.channels > 0 ? with_channels(std::move(image), request.channels) : image;
}

DataProblem ShardImages::place(std::int64_t sample) const {
    const Piece& piece = pieces_[std::size_t(sample)];
    return {.file = files_[std::size_t(piece.file)], .row = piece.row, .field = piece.field};
}

void check_kept_size(std::int64_t bytes) {
    if (bytes <= table_bytes_max) return;
    throw Error{ErrorCode::exhausted,
                fmt::format("the gzipped files have more than {} bytes of images, the most that is "
                            "kept in memory; unpack them",
                            table_bytes_max)};
}

}    // namespace slipway
