#include <algorithm>

#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

using Pair = std::array<double, 2>;

/// What a step without them has: as torchvision's.
struct StandardRange {
    AugmentName name;
    std::optional<Pair> scale, ratio;
};
constexpr auto standard_ranges = std::to_array<StandardRange>({
    {AugmentName::random_resized_crop, Pair{0.08, 1}, Pair{3.0 / 4, 4.0 / 3}},
    {AugmentName::affine, Pair{1, 1}, {}},
    {AugmentName::random_erasing, Pair{0.02, 0.33}, Pair{0.3, 3.3}},
});

void complete(AugmentSpec& step) {
    for (const StandardRange& row : standard_ranges) {
        if (row.name != step.name) continue;
        if (!step.scale) step.scale = row.scale;
        if (!step.ratio) step.ratio = row.ratio;
    }
}

void judge_range(const std::optional<Pair>& range, double most, const Reader& here) {
    if (!range) return;
    const auto [low, high] = *range;
    if (low > high) {
        here.report("inconsistent",
                    fmt::format("{} must be a minimum followed by a maximum, got {} and {}",
                                here.path(), low, high));
    } else if (high > most) {
        here.report("out_of_bounds",
                    fmt::format("{} must be fractions of the area, at most {}, got {}", here.path(),
                                most, high));
    }
}

void judge(const Json&, AugmentSpec& step, const Reader& at) {
    judge_range(step.scale, step.name == AugmentName::affine ? 1000 : 1, at.at("scale"));
    judge_range(step.ratio, 1000, at.at("ratio"));
    const bool changes =
        step.brightness > 0 || step.contrast > 0 || step.saturation > 0 || step.hue > 0;
    if (step.name == AugmentName::color_jitter && !changes) {
        at.report("inconsistent",
                  fmt::format("{} has no effect; set brightness, contrast, saturation or hue",
                              at.path()));
    }
    complete(step);
}

}    // namespace

const Object<AugmentSpec>& augment_table() {
    static const auto table =
        Object<AugmentSpec>("AugmentSpec", "One augmentation step for training images.")
            .variants("name", {all_words<AugmentName>().begin(), all_words<AugmentName>().end()},
                      "", [](const AugmentSpec& step) { return to_string(step.name); })
            .field("name", &AugmentSpec::name, "Type of the step.", Choice<AugmentName>{},
                   {.required = true})
            .field("size", &AugmentSpec::size,
                   "Height and width in pixels. One number: both; for resize, the shorter side.",
                   OneOrList<Integer>{{.item = {.min = 1, .max = 4096}, .min = 1, .max = 2}},
                   {.required = true,
                    .only = {"resize", "center_crop", "random_crop", "random_resized_crop"}})
            .field("padding", &AugmentSpec::padding,
                   "Padding on each side before cropping, in pixels.",
                   Integer{.min = 0, .max = 4096}, {.only = {"random_crop"}})
            .field(
                "scale", &AugmentSpec::scale,
                "Minimum and maximum fraction of the area; for affine, minimum and maximum scale "
                "factor. Default: 0.08 and 1; random_erasing: 0.02 and 0.33; affine: 1 and 1.",
                NumberPair{{.max = 1000, .above = 0}},
                {.only = {"random_resized_crop", "affine", "random_erasing"}})
            .field("ratio", &AugmentSpec::ratio,
                   "Minimum and maximum aspect ratio, width by height; for random_erasing, height "
                   "by width. Default: 3/4 and 4/3; random_erasing: 0.3 and 3.3.",
                   NumberPair{{.max = 1000, .above = 0}},
                   {.only = {"random_resized_crop", "random_erasing"}})
            .field("p", &AugmentSpec::p, "Probability.", Number{.min = 0, .max = 1},
                   {.only = {"horizontal_flip", "vertical_flip", "random_erasing"}})
            .field("degrees", &AugmentSpec::degrees,
                   "Maximum rotation in degrees, in either direction.",
                   Number{.min = 0, .max = 180}, {.required = true, .only = {"rotate", "affine"}})
            .field(
                "translate", &AugmentSpec::translate,
                "Maximum shift as fractions of the width and of the height, in either direction.",
                NumberPair{{.min = 0, .max = 1}}, {.only = {"affine"}})
            .field("shear", &AugmentSpec::shear,
                   "Maximum horizontal shear in degrees, in either direction.",
                   Number{.min = 0, .max = 80}, {.only = {"affine"}})
            .field("fill", &AugmentSpec::fill,
                   "Value of the pixels outside the image: 0 black, 1 white.",
                   Number{.min = 0, .max = 1}, {.only = {"random_crop", "rotate", "affine"}})
            .field("brightness", &AugmentSpec::brightness,
                   "Range of the random factor on the brightness: from 1 - this, at least 0, to 1 "
                   "+ this.",
                   Number{.min = 0, .max = 10}, {.only = {"color_jitter"}})
            .field("contrast", &AugmentSpec::contrast,
                   "Range of the random factor on the distance from the mean brightness; as for "
                   "brightness.",
                   Number{.min = 0, .max = 10}, {.only = {"color_jitter"}})
            .field("saturation", &AugmentSpec::saturation,
                   "Range of the random factor on the distance from gray; as for brightness.",
                   Number{.min = 0, .max = 10}, {.only = {"color_jitter"}})
            .field("hue", &AugmentSpec::hue,
                   "Maximum hue shift as a fraction of the colour circle, in either direction.",
                   Number{.min = 0, .max = 0.5}, {.only = {"color_jitter"}})
            .field("value", &AugmentSpec::value, "Value of erased pixels: 0 black, 1 white.",
                   Number{.min = 0, .max = 1}, {.only = {"random_erasing"}})
            .field("alpha", &AugmentSpec::alpha,
                   "Mixing weights are sampled from Beta(alpha, alpha). Below 1 they are mostly "
                   "close to 0 or 1, above 1 mostly close to one half.",
                   Number{.max = 1000, .above = 0}, {.only = {"mixup", "cutmix"}})
            .rule(judge);
    return table;
}

}    // namespace slipway
