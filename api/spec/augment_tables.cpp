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
        here.report("inconsistent", fmt::format("{} must be the least and then the most, got {} "
                                                "and {}",
                                                here.path(), low, high));
    } else if (high > most) {
        here.report("out_of_bounds", fmt::format("{} must be shares of the area, at most {}, got "
                                                 "{}",
                                                 here.path(), most, high));
    }
}

void judge(const Json&, AugmentSpec& step, const Reader& at) {
    judge_range(step.scale, step.name == AugmentName::affine ? 1000 : 1, at.at("scale"));
    judge_range(step.ratio, 1000, at.at("ratio"));
    const bool changes =
        step.brightness > 0 || step.contrast > 0 || step.saturation > 0 || step.hue > 0;
    if (step.name == AugmentName::color_jitter && !changes) {
        at.report("inconsistent",
                  fmt::format("{} changes nothing; give brightness, contrast, saturation or hue",
                              at.path()));
    }
    complete(step);
}

}    // namespace

const Object<AugmentSpec>& augment_table() {
    static const auto table =
        Object<AugmentSpec>("AugmentSpec", "One step of changing images before they are learnt.")
            .variants("name", {all_words<AugmentName>().begin(), all_words<AugmentName>().end()},
                      "", [](const AugmentSpec& step) { return to_string(step.name); })
            .field("name", &AugmentSpec::name, "Which step.", Choice<AugmentName>{},
                   {.required = true})
            .field("size", &AugmentSpec::size,
                   "Pixels: height and width; one number is both, of resize the shorter side.",
                   OneOrList<Integer>{{.item = {.min = 1, .max = 4096}, .min = 1, .max = 2}},
                   {.required = true,
                    .only = {"resize", "center_crop", "random_crop", "random_resized_crop"}})
            .field("padding", &AugmentSpec::padding, "Pixels added on each side before cropping.",
                   Integer{.min = 0, .max = 4096}, {.only = {"random_crop"}})
            .field("scale", &AugmentSpec::scale,
                   "Least and most share of the area, of affine least and most factor; without it "
                   "0.08 and 1, of random_erasing 0.02 and 0.33, of affine 1 and 1.",
                   NumberPair{{.max = 1000, .above = 0}},
                   {.only = {"random_resized_crop", "affine", "random_erasing"}})
            .field("ratio", &AugmentSpec::ratio,
                   "Least and most width divided by height, of random_erasing height by width; "
                   "without it 3/4 and 4/3, of random_erasing 0.3 and 3.3.",
                   NumberPair{{.max = 1000, .above = 0}},
                   {.only = {"random_resized_crop", "random_erasing"}})
            .field("p", &AugmentSpec::p, "How often it happens.", Number{.min = 0, .max = 1},
                   {.only = {"horizontal_flip", "vertical_flip", "random_erasing"}})
            .field("degrees", &AugmentSpec::degrees, "Turned by up to this, either way.",
                   Number{.min = 0, .max = 180}, {.required = true, .only = {"rotate", "affine"}})
            .field("translate", &AugmentSpec::translate,
                   "Moved by up to these shares of the width and of the height, either way.",
                   NumberPair{{.min = 0, .max = 1}}, {.only = {"affine"}})
            .field("shear", &AugmentSpec::shear,
                   "Degrees by which it is slanted along the width, either way.",
                   Number{.min = 0, .max = 80}, {.only = {"affine"}})
            .field("fill", &AugmentSpec::fill,
                   "Pixels from outside of the image: 0 black, 1 white.",
                   Number{.min = 0, .max = 1}, {.only = {"random_crop", "rotate", "affine"}})
            .field("brightness", &AugmentSpec::brightness,
                   "Times a factor between 1 - this, at least 0, and 1 + this.",
                   Number{.min = 0, .max = 10}, {.only = {"color_jitter"}})
            .field("contrast", &AugmentSpec::contrast,
                   "The distance from the mean brightness, times such a factor.",
                   Number{.min = 0, .max = 10}, {.only = {"color_jitter"}})
            .field("saturation", &AugmentSpec::saturation,
                   "The distance from gray, times such a factor.", Number{.min = 0, .max = 10},
                   {.only = {"color_jitter"}})
            .field("hue", &AugmentSpec::hue,
                   "Colours are turned by up to this share of the circle, either way.",
                   Number{.min = 0, .max = 0.5}, {.only = {"color_jitter"}})
            .field("value", &AugmentSpec::value, "What erased pixels become: 0 black, 1 white.",
                   Number{.min = 0, .max = 1}, {.only = {"random_erasing"}})
            .field("alpha", &AugmentSpec::alpha,
                   "Each sample keeps a share of itself that is drawn from Beta(alpha, alpha) and "
                   "takes the rest from another: below 1 mostly near 0 or 1, above mostly near a "
                   "half.",
                   Number{.max = 1000, .above = 0}, {.only = {"mixup", "cutmix"}})
            .rule(judge);
    return table;
}

}    // namespace slipway
