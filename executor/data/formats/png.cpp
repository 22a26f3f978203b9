#include <fmt/core.h>
#include <png.h>

#include <utility>

#include "executor/data/formats/image.h"

namespace slipway {

namespace {

/// libpng's simplified reader: no longjmp reaches us, and its limits on chunks hold.
class PngReader {
public:
    explicit PngReader(std::span<const std::byte> file) {
        image_.version = PNG_IMAGE_VERSION;
        begun_ = png_image_begin_read_from_memory(&image_, file.data(), file.size()) != 0;
        // Without this 16-bit files would be taken for linear light.
        image_.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    }
    ~PngReader() { png_image_free(&image_); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;

    bool begun() const { return begun_; }
    png_image& image() { return image_; }
    bool gray() const { return (image_.format & PNG_FORMAT_FLAG_COLOR) == 0; }
    Error damaged() const {
        return {ErrorCode::data_loss,
                fmt::format("the PNG image is damaged or truncated: {}", image_.message)};
    }

private:
    png_image image_{};
    bool begun_ = false;
};

std::int64_t big_endian(std::span<const std::byte> bytes) {
    std::int64_t value = 0;
    for (const std::byte byte : bytes)
        value = value << 8 | std::to_integer<std::int64_t>(byte);
    return value;
}

}    // namespace

Result<ImageHeader> read_png_header(std::span<const std::byte> file) {
    // The first chunk is IHDR: length, type, width, height, depth, colour type.
    constexpr std::size_t header_end = 26;
    if (file.size() < header_end) {
        return Error{ErrorCode::data_loss, "the PNG image is damaged or truncated: no header"};
    }
    const int colour_type = std::to_integer<int>(file[25]);
    const bool gray =
        colour_type == PNG_COLOR_TYPE_GRAY || colour_type == PNG_COLOR_TYPE_GRAY_ALPHA;
    const ImageHeader header{gray ? 1 : 3, big_endian(file.subspan(20, 4)),
                             big_endian(file.subspan(16, 4))};
    return header;
}

Result<Image> decode_png(std::span<const std::byte> file) {
    PngReader reader(file);
    if (!reader.begun()) return reader.damaged();
    Image image{reader.gray() ? 1 : 3, reader.image().height, reader.image().width, {}};
    reader.image().format = reader.gray() ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    image.pixels.resize(std::size_t(image.channels * image.height * image.width));
    const png_color white{255, 255, 255};
    if (png_image_finish_read(&reader.image(), &white, image.pixels.data(), 0, nullptr) == 0) {
        return reader.damaged();
    }
    return image;
}

}    // namespace slipway
