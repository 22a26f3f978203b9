#include <fmt/core.h>

#include "api/base/check.h"
#include "executor/data/formats/image.h"
#include "tests/fuzz/target.h"

namespace slipway {

namespace {

/// Larger images are allowed; decoding them is all that a run would do then.
constexpr std::int64_t decoded_pixels_max = 1 << 20;

void check_pixels(const Image& image) {
    check(image.channels == 1 || image.channels == 3, "an image is gray or RGB");
    check(image.height > 0 && image.width > 0, "an image has pixels");
    check(std::int64_t(image.pixels.size()) == image.channels * image.height * image.width,
          "the pixels are as many as the size says");
}

}    // namespace

std::string run_image(std::span<const std::byte> input) {
    const Result<ImageHeader> header = read_image_header(input);
    if (!header) {
        check(!decode_image(input), "an image is not better than its header");
        return header.error().what();
    }
    if (header->height > decoded_pixels_max / header->width) return "a large image";
    const Result<Image> image = decode_image(input);
    const Result<Image> smaller = decode_image(input, {.channels = 1, .side_hint = 1});
    if (!image) return image.error().what();
    check_pixels(*image);
    check(image->height == header->height && image->width == header->width,
          "the image has the size that its header says");
    if (smaller) {
        check_pixels(*smaller);
        check_pixels(resized(*smaller, 3, 2));
    }
    return fmt::format("{} x {} pixels, {} channels", image->width, image->height, image->channels);
}

}    // namespace slipway
