// PNG through libpng's row reader, as Pillow's convert("RGB") reads it: the samples as they are
// stored. Only the chunks that hold samples (IHDR, PLTE, IDAT) are looked at: the others can ask
// for minutes of inflating (zTXt, iTXt, iCCP) or change the samples (gAMA, iCCP, tRNS). libpng's
// simplified reader was tried before: it applies gAMA and blends in linear light.
// libpng leaves by longjmp: functions that call it after setjmp own nothing with a destructor.
#include <fmt/core.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <string>
#include <string_view>

#include "api/base/check.h"
#include "executor/data/formats/image.h"

namespace slipway {

namespace {

constexpr std::size_t signature_size = 8;

Error damaged(std::string_view reason) {
    return {ErrorCode::data_loss, fmt::format("the PNG image is damaged or truncated: {}", reason)};
}

/// libpng's handles and the file that they read.
class PngReader {
public:
    explicit PngReader(std::span<const std::byte> file) : file_(file) {
        png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](auto, auto) {});
        check(png_ != nullptr, "libpng has the version of its header");
        info_ = png_create_info_struct(png_);
        check(info_ != nullptr, "there is memory for a header");
    }
    ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;

    /// Reads what is before the samples and asks for them with 8 bits, gray or RGB.
    /// False: message().
    bool begin();
    /// Reads the samples into height() rows of row_bytes(). False: message().
    bool read(std::uint8_t* pixels);

    std::int64_t height() const { return png_get_image_height(png_, info_); }
    std::int64_t width() const { return png_get_image_width(png_, info_); }
    std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
    std::string_view message() const { return message_.data(); }

private:
    [[noreturn]] static void fail(png_structp png, png_const_charp message) {
        auto& reader = *static_cast<PngReader*>(png_get_error_ptr(png));
        const std::size_t length = std::min(strlen(message), reader.message_.size() - 1);
        std::copy_n(message, length, reader.message_.begin());
        png_longjmp(png, 1);
    }

    static void take(png_structp png, png_bytep to, std::size_t count) {
        auto& reader = *static_cast<PngReader*>(png_get_io_ptr(png));
        if (count > reader.file_.size()) png_error(png, "read beyond end of data");
        std::memcpy(to, reader.file_.data(), count);
        reader.file_ = reader.file_.subspan(count);
    }

    std::span<const std::byte> file_;    // what is left of it
    std::array<char, 128> message_{};
    png_structp png_ = nullptr;
    png_infop info_ = nullptr;
};

bool PngReader::begin() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, take);
    png_set_benign_errors(png_, 1);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER,
                                reinterpret_cast<png_const_bytep>("tRNS"), 1);
    png_read_info(png_, info_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    return true;
}

bool PngReader::read(std::uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    for (int pass = 0; pass < passes; ++pass) {
        for (std::int64_t row = 0; row < height(); ++row)
            png_read_row(png_, pixels + std::size_t(row) * row_bytes(), nullptr);
    }
    return true;
}

std::int64_t big_endian(std::span<const std::byte> bytes) {
    std::int64_t value = 0;
    for (const std::byte byte : bytes)
        value = value << 8 | std::to_integer<std::int64_t>(byte);
    return value;
}

}    // namespace

Result<ImageHeader> read_png_header(std::span<const std::byte> file) {
    // The first chunk is IHDR: length, type, width, height, depth, colour type.
    constexpr std::size_t type_at = signature_size + 4, header_end = 26;
    if (file.size() < header_end) return damaged("no header");
    if (std::memcmp(file.data() + type_at, "IHDR", 4) != 0) {
        return damaged("its first chunk is not IHDR");
    }
    const int colour_type = std::to_integer<int>(file[25]);
    const bool gray =
        colour_type == PNG_COLOR_TYPE_GRAY || colour_type == PNG_COLOR_TYPE_GRAY_ALPHA;
    const ImageHeader header{gray ? 1 : 3, big_endian(file.subspan(20, 4)),
                             big_endian(file.subspan(16, 4))};
    return header;
}

Result<Image> decode_png(std::span<const std::byte> file) {
    const Result<ImageHeader> header = read_png_header(file);
    if (!header) return header.error();
    PngReader reader(file);
    if (!reader.begin()) return damaged(reader.message());
    // What is allocated has the size that was judged: libpng's word for it, not the bytes alone.
    if (reader.height() != header->height || reader.width() != header->width) {
        return damaged("it has two sizes");
    }
    Image image{header->channels, header->height, header->width, {}};
    image.pixels.resize(std::size_t(image.channels * image.height * image.width));
    if (!reader.read(image.pixels.data())) return damaged(reader.message());
    return image;
}

}    // namespace slipway
