#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/spec/spelling.h"

namespace slipway {

enum class AugmentName {
    resize,
    center_crop,
    random_crop,
    random_resized_crop,
    horizontal_flip,
    vertical_flip,
    rotate,
    affine,
    color_jitter,
    random_erasing,
    mixup,
    cutmix
};

/// Whether a step mixes the samples of a training step with one another, instead of changing each.
constexpr bool mixes_samples(AugmentName name) {
    return name == AugmentName::mixup || name == AugmentName::cutmix;
}

/// One step of `data.augment`. Which of the fields a step has is in its table (augment_tables.cpp);
/// after decoding those that it has are set, optional ones too.
struct AugmentSpec {
    AugmentName name = AugmentName::resize;
    /// Pixels. One number: of resize the shorter side, of a crop both; two: height, width.
    std::vector<std::int64_t> size;
    std::int64_t padding = 0;                      ///< pixels added on each side before cropping
    double p = 0.5;                                ///< how often it happens
    double degrees = 0;                            ///< turned by up to this, either way
    std::array<double, 2> translate{0, 0};         ///< up to this share of width and height
    std::optional<std::array<double, 2>> scale;    ///< share of the area, of affine a factor
    std::optional<std::array<double, 2>> ratio;    ///< width / height, of random_erasing inverse
    double shear = 0;                              ///< degrees along the width, either way
    double brightness = 0;                         ///< each: a factor between 1 - this and 1 + this
    double contrast = 0;
    double saturation = 0;
    double hue = 0;      ///< turned by up to this share of the colour circle, either way
    double fill = 0;     ///< pixels from outside of the image, in [0, 1]
    double value = 0;    ///< erased pixels, in [0, 1]
    double alpha = 1;    ///< of Beta(alpha, alpha): each sample's own share when it is mixed
    bool operator==(const AugmentSpec&) const = default;
};

template <>
struct Spelling<AugmentName> {
    static constexpr std::array<std::string_view, 12> words{
        "resize",          "center_crop",    "random_crop", "random_resized_crop",
        "horizontal_flip", "vertical_flip",  "rotate",      "affine",
        "color_jitter",    "random_erasing", "mixup",       "cutmix"};
};

}    // namespace slipway
