#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/base/result.h"

namespace slipway {

/// Pixels of one image, 8 bits a channel, interleaved rows.
struct Image {
    std::int64_t channels = 0;    ///< 1 gray, 3 RGB
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::vector<std::uint8_t> pixels;    ///< height x width x channels
};

/// What the header of an image says.
struct ImageHeader {
    std::int64_t channels = 0;    ///< 1 for gray files, 3 for all others
    std::int64_t height = 0;
    std::int64_t width = 0;
};

/// An image larger than this is refused before a pixel is decoded.
inline constexpr std::int64_t image_pixels_max = 100'000'000;

/// Reads the header of a JPEG or PNG file, known by its content.
/// errors  data_loss in words about the image, without its name: neither JPEG nor PNG, damaged
///         header, over image_pixels_max
Result<ImageHeader> read_image_header(std::span<const std::byte> file);

/// What an image is wanted as.
struct ImageRequest {
    std::int64_t channels = 0;    ///< 1, 3; 0: as in the file
    std::int64_t side_hint =
        0;    ///< it will be shrunk to this side: a JPEG may be decoded at 1/2,
              ///< 1/4 or 1/8 as long as both sides stay at twice this; 0: full
    bool accept_damage = false;    ///< a damaged JPEG: what can be decoded, the rest gray
};

/// Decodes a JPEG or PNG file. Damage is an error, also where the decoder could go on (truncated
/// files), unless it is accepted. CMYK is converted; transparency, gamma, colour profiles and
/// orientation marks are ignored; of 16 bits the upper 8 are taken.
/// errors  data_loss in words about the image, without its name
Result<Image> decode_image(std::span<const std::byte> file, const ImageRequest& request = {});

/// The parts of the two above.
bool is_png(std::span<const std::byte> file);
bool is_jpeg(std::span<const std::byte> file);
Result<ImageHeader> read_jpeg_header(std::span<const std::byte> file);
Result<ImageHeader> read_png_header(std::span<const std::byte> file);
Result<Image> decode_jpeg(std::span<const std::byte> file, const ImageRequest& request);
Result<Image> decode_png(std::span<const std::byte> file);

/// `image` with 1 or 3 channels: gray = 0.299 R + 0.587 G + 0.114 B, as JPEG has it.
Image with_channels(Image image, std::int64_t channels);

/// `image` stretched to height x width: bilinear, and where it shrinks each pixel is the average of
/// the area it covers under a triangle (as Pillow's BILINEAR).
Image resized(const Image& image, std::int64_t height, std::int64_t width);

/// Interleaved bytes (as Image::pixels) to one plane after the other of numbers in [0, 1].
void to_planes(std::span<const std::uint8_t> pixels, std::size_t channels,
               std::span<float> features);

}    // namespace slipway
