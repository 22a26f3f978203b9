#include "executor/data/augment/colour.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slipway {

namespace {

std::uint8_t to_level(float value) {
    return std::uint8_t(std::clamp(value + 0.5F, 0.0F, 255.0F));
}

/// Each level becomes factor * level + offset.
Image with_levels(Image image, float factor, float offset) {
    std::array<std::uint8_t, 256> levels;
    for (std::size_t level = 0; level < levels.size(); ++level)
        levels[level] = to_level(factor * float(level) + offset);
    for (std::uint8_t& pixel : image.pixels)
        pixel = levels[pixel];
    return image;
}

float gray_of(const std::uint8_t* rgb) {
    return 0.299F * float(rgb[0]) + 0.587F * float(rgb[1]) + 0.114F * float(rgb[2]);
}

double mean_gray(const Image& image) {
    double sum = 0;
    if (image.channels == 1) {
        for (const std::uint8_t pixel : image.pixels)
            sum += pixel;
        return sum / double(image.pixels.size());
    }
    const std::size_t pixels = image.pixels.size() / 3;
    for (std::size_t i = 0; i < pixels; ++i)
        sum += double(gray_of(&image.pixels[3 * i]));
    return sum / double(pixels);
}

/// The hue as a number in [0, 6): 0 red, 2 green, 4 blue. `spread` is the greatest less the least
/// channel, above 0.
float hue_of(const std::uint8_t* rgb, float greatest, float spread) {
    const float red = rgb[0], green = rgb[1], blue = rgb[2];
    if (greatest == red) {
        const float hue = (green - blue) / spread;
        return hue < 0 ? hue + 6 : hue;
    }
    if (greatest == green) return 2 + (blue - red) / spread;
    return 4 + (red - green) / spread;
}

/// The share of a channel's spread that it is below the greatest channel at a hue that is
/// `distance` away from the channel's own: none up to 1, all from 2 on.
float below_greatest(float hue, float own) {
    float distance = std::abs(hue - own);
    distance = std::min(distance, 6 - distance);
    return std::clamp(distance - 1, 0.0F, 1.0F);
}

}    // namespace

Image with_brightness(Image image, double factor) {
    return with_levels(std::move(image), float(factor), 0);
}

Image with_contrast(Image image, double factor) {
    const auto offset = float((1 - factor) * mean_gray(image));
    return with_levels(std::move(image), float(factor), offset);
}

Image with_saturation(Image image, double factor) {
    if (image.channels == 1) return image;
    const auto kept = float(factor), added = float(1 - factor);
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
        std::uint8_t* pixel = &image.pixels[i];
        const float gray = added * gray_of(pixel);
        for (std::size_t channel = 0; channel < 3; ++channel)
            pixel[channel] = to_level(kept * float(pixel[channel]) + gray);
    }
    return image;
}

Image with_hue(Image image, double share) {
    if (image.channels == 1) return image;
    const auto turn = float(6 * (share < 0 ? share + 1 : share));
    for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
        std::uint8_t* pixel = &image.pixels[i];
        const auto [least, greatest] = std::minmax({pixel[0], pixel[1], pixel[2]});
        if (least == greatest) continue;
        const auto spread = float(greatest - least);
        float hue = hue_of(pixel, float(greatest), spread) + turn;
        if (hue >= 6) hue -= 6;
        for (int channel = 0; channel < 3; ++channel) {
            const float below = spread * below_greatest(hue, 2 * float(channel));
            pixel[channel] = to_level(float(greatest) - below);
        }
    }
    return image;
}

}    // namespace slipway
