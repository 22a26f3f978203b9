#include "executor/data/formats/image.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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

/// The pixels of a line that one new pixel is made of, and how much of each.
struct Tap {
    std::int64_t first = 0;
    std::vector<float> weights;
};

std::vector<Tap> triangle_taps(std::int64_t from, std::int64_t to) {
    const double scale = double(from) / double(to);
    const double support = std::max(scale, 1.0);
    std::vector<Tap> taps;
    for (std::int64_t i = 0; i < to; ++i) {
        const double centre = (double(i) + 0.5) * scale;
        const auto first = std::max<std::int64_t>(0, std::int64_t(centre - support + 0.5));
        const auto last = std::min<std::int64_t>(from, std::int64_t(centre + support + 0.5));
        Tap tap{first, {}};
        double sum = 0;
        for (std::int64_t j = first; j < last; ++j) {
            const double weight = std::max(0.0, 1 - std::abs((double(j) + 0.5 - centre) / support));
            tap.weights.push_back(float(weight));
            sum += weight;
        }
        for (float& weight : tap.weights)
            weight = float(weight / sum);
        taps.push_back(std::move(tap));
    }
    return taps;
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

Image resized(const Image& image, std::int64_t height, std::int64_t width) {
    if (image.height == height && image.width == width) return image;
    const auto channels = std::size_t(image.channels);
    const std::size_t row = std::size_t(width) * channels;
    const std::vector<Tap> across = triangle_taps(image.width, width);
    const std::vector<Tap> down = triangle_taps(image.height, height);

    std::vector<float> lines(std::size_t(image.height) * row);
    for (std::size_t y = 0; y < std::size_t(image.height); ++y) {
        const std::uint8_t* from = &image.pixels[y * std::size_t(image.width) * channels];
        float* to = &lines[y * row];
        for (const Tap& tap : across) {
            const std::uint8_t* pixel = from + std::size_t(tap.first) * channels;
            for (std::size_t channel = 0; channel < channels; ++channel) {
                float sum = 0;
                for (std::size_t j = 0; j < tap.weights.size(); ++j) {
                    sum += tap.weights[j] * float(pixel[j * channels + channel]);
                }
                *to++ = sum;
            }
        }
    }

    Image result{image.channels, height, width,
                 std::vector<std::uint8_t>(std::size_t(height) * row)};
    std::vector<float> sums(row);
    for (std::size_t y = 0; y < std::size_t(height); ++y) {
        std::fill(sums.begin(), sums.end(), 0.0F);
        for (std::size_t j = 0; j < down[y].weights.size(); ++j) {
            const float weight = down[y].weights[j];
            const float* line = &lines[(std::size_t(down[y].first) + j) * row];
            for (std::size_t x = 0; x < row; ++x)
                sums[x] += weight * line[x];
        }
        std::transform(sums.begin(), sums.end(), &result.pixels[y * row], to_byte);
    }
    return result;
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
