#include <fmt/core.h>
#include <turbojpeg.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "api/base/check.h"
#include "executor/data/formats/image.h"
#include "executor/data/formats/jpeg_warnings.h"

namespace slipway {

namespace {

struct Free {
    void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<tjhandle>, Free>;

/// One decoder per thread: making one costs more than decoding a small image.
thread_local Handle thread_decoder;

tjhandle decoder() {
    if (!thread_decoder) thread_decoder.reset(tjInitDecompress());
    check(thread_decoder != nullptr, "a JPEG decoder can be made");
    return thread_decoder.get();
}

// libjpeg goes on after damage with gray areas and calls it a warning: stop there, and decode again
// where the warning is of something else. Limiting scans
// keeps a small progressive file from decoding for minutes (libjpeg-turbo#284).
constexpr int strict_flags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS;

/// Why the last call failed. The decoder goes with it: after damage inside a header it would read
/// the next file as the rest of this one.
Error damaged() {
    const std::string reason = tjGetErrorStr2(decoder());
    thread_decoder.reset();
    return {ErrorCode::data_loss,
            fmt::format("the JPEG image is damaged or truncated: {}", reason)};
}

bool was_warning() {
    return tjGetErrorCode(decoder()) == TJERR_WARNING;
}

const unsigned char* bytes_of(std::span<const std::byte> file) {
    return reinterpret_cast<const unsigned char*>(file.data());
}

struct JpegHeader {
    int width = 0, height = 0, subsampling = 0, colours = 0;
};

Result<JpegHeader> read_header(std::span<const std::byte> file) {
    JpegHeader header;
    if (tjDecompressHeader3(decoder(), bytes_of(file), static_cast<unsigned long>(file.size()),
                            &header.width, &header.height, &header.subsampling,
                            &header.colours) != 0) {
        // Of a header that was read there may still be a warning; decoding judges it.
        if (!was_warning() || header.width < 1 || header.height < 1) return damaged();
    }
    return header;
}

bool is_cmyk(const JpegHeader& header) {
    return header.colours == TJCS_CMYK || header.colours == TJCS_YCCK;
}

/// The smallest decoding size that leaves both sides at twice what is wanted.
std::pair<int, int> decoding_size(const JpegHeader& header, std::int64_t side_hint) {
    for (const int divisor : {8, 4, 2}) {
        const tjscalingfactor factor{1, divisor};
        const int width = TJSCALED(header.width, factor);
        const int height = TJSCALED(header.height, factor);
        if (side_hint > 0 && std::min(width, height) >= 2 * side_hint) return {width, height};
    }
    return {header.width, header.height};
}

/// Printers' colours as Adobe stores them: inverted, so a product gives the light that is left.
void cmyk_to_rgb(Image& image) {
    const std::size_t area = std::size_t(image.height * image.width);
    std::vector<std::uint8_t> rgb(3 * area);
    for (std::size_t i = 0; i < area; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
            const int light = image.pixels[4 * i + c] * image.pixels[4 * i + 3];
            rgb[3 * i + c] = std::uint8_t((light + 127) / 255);
        }
    }
    image.channels = 3;
    image.pixels = std::move(rgb);
}

}    // namespace

Result<ImageHeader> read_jpeg_header(std::span<const std::byte> file) {
    const Result<JpegHeader> header = read_header(file);
    if (!header) return header.error();
    return ImageHeader{header->colours == TJCS_GRAY ? 1 : 3, header->height, header->width};
}

Result<Image> decode_jpeg(std::span<const std::byte> file, const ImageRequest& request) {
    const Result<JpegHeader> header = read_header(file);
    if (!header) return header.error();
    const bool cmyk = is_cmyk(*header);
    const bool gray =
        !cmyk && (request.channels == 1 || (request.channels == 0 && header->colours == TJCS_GRAY));
    const std::pair<int, int> size = decoding_size(*header, request.side_hint);
    const int width = size.first, height = size.second;
    const int format = cmyk ? TJPF_CMYK : gray ? TJPF_GRAY : TJPF_RGB;
    Image image{tjPixelSize[format], height, width, {}};
    image.pixels.resize(std::size_t(image.channels) * std::size_t(width) * std::size_t(height));
    if (request.accept_damage) std::fill(image.pixels.begin(), image.pixels.end(), 127);
    const auto decode = [&](int flags) {
        return tjDecompress2(decoder(), bytes_of(file), static_cast<unsigned long>(file.size()),
                             image.pixels.data(), width, 0, height, format, flags) == 0;
    };
    if (!decode(request.accept_damage ? TJFLAG_LIMITSCANS : strict_flags)) {
        const bool partly = was_warning();
        const Error error = damaged();
        if (!partly) return error;
        if (!request.accept_damage) {
            if (!has_only_harmless_warnings(file)) return error;
            if (!decode(TJFLAG_LIMITSCANS) && !was_warning()) return damaged();
        }
    }
    if (cmyk) cmyk_to_rgb(image);
    return image;
}

}    // namespace slipway
