#include "executor/data/augment/geometry.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "api/base/check.h"

// An affine map is inverted once, and each pixel of the new image asks where it comes from in the
// old one: no pixel is left without a value. Coordinates are f64 and colours f32, as torchvision
// computes them; a place outside the image gets the fill.
namespace slipway {

namespace {

Image blank(std::int64_t channels, std::int64_t height, std::int64_t width, std::uint8_t fill) {
    return {channels, height, width,
            std::vector<std::uint8_t>(std::size_t(channels * height * width), fill)};
}

/// Copies `box` of `from` so that its corner comes to (top, left) of `to`.
void paste(const Image& from, const Box& box, Image& to, std::int64_t top, std::int64_t left) {
    const auto bytes = std::size_t(box.width * from.channels);
    for (std::int64_t y = 0; y < box.height; ++y) {
        const auto source = ((box.top + y) * from.width + box.left) * from.channels;
        const auto target = ((top + y) * to.width + left) * to.channels;
        std::copy_n(from.pixels.begin() + source, bytes, to.pixels.begin() + target);
    }
}

/// Half of `pixels`, .5 to the even number.
std::int64_t half(std::int64_t pixels) {
    return std::int64_t(std::nearbyint(double(pixels) / 2));
}

/// From a place of the new image to the one in the old that it shows.
struct Inverse {
    double xx, xy, x0, yx, yy, y0;
};

Inverse inverse_of(const AffineMove& move, double centre_x, double centre_y) {
    const double turn = move.degrees * std::numbers::pi / 180;
    const double slant = std::tan(move.shear * std::numbers::pi / 180);
    // Forward: turn * [[1, -slant], [0, 1]] * scale. The y axis points down.
    const double a = std::cos(turn) * move.scale, b = -std::sin(turn) * move.scale;
    const double c = std::sin(turn) * move.scale, d = std::cos(turn) * move.scale;
    const double bs = b - a * slant, ds = d - c * slant;
    const double determinant = a * ds - bs * c;
    Inverse inverse{ds / determinant, -bs / determinant, 0, -c / determinant, a / determinant, 0};
    const double x = centre_x + move.right, y = centre_y + move.down;
    inverse.x0 = centre_x - inverse.xx * x - inverse.xy * y;
    inverse.y0 = centre_y - inverse.yx * x - inverse.yy * y;
    return inverse;
}

/// Interpolates at (x, y), in pixels from the corner, which is within the image.
void interpolate(const Image& image, double x, double y, std::uint8_t* pixel) {
    x -= 0.5;
    y -= 0.5;
    const double left = std::floor(x), top = std::floor(y);
    const auto across = float(x - left), down = float(y - top);
    const auto clamped = [](double place, std::int64_t size) {
        return std::clamp<std::int64_t>(std::int64_t(place), 0, size - 1);
    };
    const std::int64_t x0 = clamped(left, image.width), x1 = clamped(left + 1, image.width);
    const std::int64_t y0 = clamped(top, image.height), y1 = clamped(top + 1, image.height);
    const auto at = [&](std::int64_t row, std::int64_t column) {
        return &image.pixels[std::size_t((row * image.width + column) * image.channels)];
    };
    const std::uint8_t *upper0 = at(y0, x0), *upper1 = at(y0, x1);
    const std::uint8_t *lower0 = at(y1, x0), *lower1 = at(y1, x1);
    const auto between = [](float a, float b, float share) { return a + share * (b - a); };
    for (std::int64_t channel = 0; channel < image.channels; ++channel) {
        const float upper = between(upper0[channel], upper1[channel], across);
        const float lower = between(lower0[channel], lower1[channel], across);
        pixel[channel] = std::uint8_t(std::floor(between(upper, lower, down) + 0.5F));
    }
}

}    // namespace

std::array<std::int64_t, 2> size_with_shorter_side(std::int64_t height, std::int64_t width,
                                                   std::int64_t side) {
    if (width <= height) return {side * height / width, side};
    return {side, side * width / height};
}

Image with_shorter_side(const Image& image, std::int64_t side) {
    const auto [height, width] = size_with_shorter_side(image.height, image.width, side);
    return resized(image, height, width);
}

Image cropped(const Image& image, const Box& box) {
    check(box.top >= 0 && box.left >= 0 && box.top + box.height <= image.height &&
              box.left + box.width <= image.width,
          "a box lies within its image");
    Image result = blank(image.channels, box.height, box.width, 0);
    paste(image, box, result, 0, 0);
    return result;
}

Image padded(const Image& image, std::int64_t pixels, std::uint8_t fill) {
    Image result = blank(image.channels, image.height + 2 * pixels, image.width + 2 * pixels, fill);
    paste(image, {0, 0, image.height, image.width}, result, pixels, pixels);
    return result;
}

Image center_cropped(const Image& image, std::int64_t height, std::int64_t width) {
    const std::int64_t taken_height = std::min(height, image.height);
    const std::int64_t taken_width = std::min(width, image.width);
    // torchvision adds the smaller half above and on the left, and cuts the rounded one.
    const std::int64_t top = (height - taken_height) / 2, left = (width - taken_width) / 2;
    Image result = blank(image.channels, height, width, 0);
    paste(image,
          {half(image.height - taken_height), half(image.width - taken_width), taken_height,
           taken_width},
          result, top, left);
    return result;
}

Image center_resized(const Image& image, std::int64_t height, std::int64_t width) {
    const double scale =
        std::min(double(image.height) / double(height), double(image.width) / double(width));
    const auto part = [scale](std::int64_t pixels, std::int64_t most) {
        return std::clamp<std::int64_t>(std::llround(scale * double(pixels)), 1, most);
    };
    const std::int64_t part_height = part(height, image.height);
    const std::int64_t part_width = part(width, image.width);
    return resized(
        image,
        {(image.height - part_height) / 2, (image.width - part_width) / 2, part_height, part_width},
        height, width);
}

Image flipped_horizontally(Image image) {
    const auto channels = std::size_t(image.channels);
    const auto width = std::size_t(image.width);
    for (std::size_t y = 0; y < std::size_t(image.height); ++y) {
        std::uint8_t* left = &image.pixels[y * width * channels];
        std::uint8_t* right = left + (width - 1) * channels;
        for (; left < right; left += channels, right -= channels)
            std::swap_ranges(left, left + channels, right);
    }
    return image;
}

Image flipped_vertically(Image image) {
    const auto row = std::ptrdiff_t(image.width * image.channels);
    auto top = image.pixels.begin();
    for (auto bottom = image.pixels.end() - row; top < bottom; top += row, bottom -= row)
        std::swap_ranges(top, top + row, bottom);
    return image;
}

Image moved(const Image& image, const AffineMove& move, std::uint8_t fill) {
    Image result = blank(image.channels, image.height, image.width, fill);
    const auto width = double(image.width), height = double(image.height);
    const Inverse inverse = inverse_of(move, width / 2, height / 2);
    std::uint8_t* pixel = result.pixels.data();
    for (std::int64_t row = 0; row < image.height; ++row) {
        for (std::int64_t column = 0; column < image.width; ++column, pixel += image.channels) {
            const double u = double(column) + 0.5, v = double(row) + 0.5;
            const double x = inverse.xx * u + inverse.xy * v + inverse.x0;
            const double y = inverse.yx * u + inverse.yy * v + inverse.y0;
            if (x < 0 || x >= width || y < 0 || y >= height) continue;
            interpolate(image, x, y, pixel);
        }
    }
    return result;
}

}    // namespace slipway
