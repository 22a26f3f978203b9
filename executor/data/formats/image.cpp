#include "executor/data/formats/image.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace slipway {

namespace {

Error unknown_kind() {
    return {ErrorCode::data_loss,
            "it is neither a JPEG nor a PNG image; convert it or leave it out"};
}

Result<ImageHeader> within_limit(Result<ImageHeader> header) {
    if (header && (header->height < 1 || header->width < 1)) {
        return Error{ErrorCode::data_loss, "the image is damaged or truncated: it has no pixels"};
    }
    // The division keeps a product of two claims of 2^32 from overflowing.
    if (!header || header->height <= image_pixels_max / header->width) return header;
    return Error{ErrorCode::data_loss,
                 fmt::format("the image has {} x {} pixels, more than the {} million that are read",
                             header->width, header->height, image_pixels_max / 1'000'000)};
}

std::uint8_t to_byte(float value) {
    return std::uint8_t(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

}    // namespace

bool is_png(std::span<const std::byte> file) {
    constexpr unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    return file.size() >= sizeof signature &&
           std::equal(std::begin(signature), std::end(signature),
                      reinterpret_cast<const unsigned char*>(file.data()));
}

bool is_jpeg(std::span<const std::byte> file) {
    return file.size() >= 3 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8} &&
           file[2] == std::byte{0xFF};
}

Result<ImageHeader> read_image_header(std::span<const std::byte> file) {
    if (file.empty()) return Error{ErrorCode::data_loss, "the file is empty"};
    if (is_jpeg(file)) return within_limit(read_jpeg_header(file));
    if (is_png(file)) return within_limit(read_png_header(file));
    return unknown_kind();
}

Result<Image> decode_image(std::span<const std::byte> file, const ImageRequest& request) {
    const Result<ImageHeader> header = read_image_header(file);
    if (!header) return header.error();
    Result<Image> image = is_jpeg(file) ? decode_jpeg(file, request) : decode_png(file);
    if (!image || request.channels == 0) return image;
    return with_channels(std::move(image).value(), request.channels);
}

Image with_channels(Image image, std::int64_t channels) {
    check(channels == 1 || channels == 3, "an image is gray or RGB");
    if (image.channels == channels) return image;
    const std::size_t area = std::size_t(image.height * image.width);
    std::vector<std::uint8_t> pixels(area * std::size_t(channels));
    for (std::size_t i = 0; i < area; ++i) {
        if (channels == 3) {
            std::fill_n(&pixels[3 * i], 3, image.pixels[i]);
        } else {
            const std::uint8_t* rgb = &image.pixels[3 * i];
            pixels[i] = to_byte(0.299F * rgb[0] + 0.587F * rgb[1] + 0.114F * rgb[2]);
        }
    }
    return {channels, image.height, image.width, std::move(pixels)};
}

void to_planes(std::span<const std::uint8_t> pixels, std::size_t channels,
               std::span<float> features) {
    const std::size_t area = pixels.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        float* plane = &features[channel * area];
        const std::uint8_t* from = &pixels[channel];
        for (std::size_t i = 0; i < area; ++i)
            plane[i] = float(from[i * channels]) / 255.0F;
    }
}

}    // namespace slipway
