#include "executor/data/augment/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/data/augment/colour.h"
#include "executor/data/augment/draws.h"
#include "executor/data/augment/geometry.h"

// A table has a row for each step: what it does with a random stream, what an evaluation does in
// its place (the middle of a crop, nothing of a flip), and which size it leaves. Sizes are followed
// through the list before any image is read, so a list that leaves images of different sizes is
// rejected at once.
namespace slipway {

namespace {

std::uint8_t to_level(double share) {
    return std::uint8_t(std::floor(share * 255 + 0.5));
}

std::int64_t height_of(const AugmentSpec& step) {
    return step.size.front();
}
std::int64_t width_of(const AugmentSpec& step) {
    return step.size.back();
}

double draw_around(RandomStream& random, double most) {
    return draw_between(random, -most, most);
}

Image resize(Image image, const AugmentSpec& step, RandomStream*) {
    if (step.size.size() == 1) return with_shorter_side(image, step.size[0]);
    return resized(image, step.size[0], step.size[1]);
}

Image center_crop(Image image, const AugmentSpec& step, RandomStream*) {
    return center_cropped(image, height_of(step), width_of(step));
}

void check_crop_fits(const AugmentSpec& step, ImageSize padded_size) {
    if (height_of(step) <= padded_size.height && width_of(step) <= padded_size.width) return;
    throw Error{ErrorCode::invalid_argument,
                fmt::format("{} of {} x {} does not fit into {} x {} pixels; put a resize before "
                            "it or give more padding",
                            to_string(step.name), height_of(step), width_of(step),
                            padded_size.height, padded_size.width)};
}

Image random_crop(Image image, const AugmentSpec& step, RandomStream* random) {
    if (step.padding > 0) image = padded(image, step.padding, to_level(step.fill));
    check_crop_fits(step, {image.height, image.width});
    return cropped(image, draw_crop(*random, image, height_of(step), width_of(step)));
}

Image random_resized_crop(Image image, const AugmentSpec& step, RandomStream* random) {
    const Box box = draw_resized_crop(*random, image, step.scale.value(), step.ratio.value());
    return resized(image, box, height_of(step), width_of(step));
}
Image middle_resized_crop(Image image, const AugmentSpec& step, RandomStream*) {
    return center_resized(image, height_of(step), width_of(step));
}

Image horizontal_flip(Image image, const AugmentSpec& step, RandomStream* random) {
    if (draw_between(*random, 0, 1) >= step.p) return image;
    return flipped_horizontally(std::move(image));
}

Image vertical_flip(Image image, const AugmentSpec& step, RandomStream* random) {
    if (draw_between(*random, 0, 1) >= step.p) return image;
    return flipped_vertically(std::move(image));
}

Image rotate(Image image, const AugmentSpec& step, RandomStream* random) {
    const AffineMove move{.degrees = draw_around(*random, step.degrees)};
    return moved(image, move, to_level(step.fill));
}

Image affine(Image image, const AugmentSpec& step, RandomStream* random) {
    const auto pixels = [&](double share, std::int64_t side) {
        return std::nearbyint(draw_around(*random, share * double(side)));
    };
    AffineMove move;
    move.degrees = draw_around(*random, step.degrees);
    move.right = pixels(step.translate[0], image.width);
    move.down = pixels(step.translate[1], image.height);
    move.scale = draw_between(*random, step.scale.value()[0], step.scale.value()[1]);
    move.shear = draw_around(*random, step.shear);
    return moved(image, move, to_level(step.fill));
}

/// The four changes of colours in a drawn order, each by a drawn amount.
Image color_jitter(Image image, const AugmentSpec& step, RandomStream* random) {
    struct Change {
        double amount;
        Image (*apply)(Image, double);
        bool around_one;
    };
    std::array<Change, 4> changes{{{step.brightness, with_brightness, true},
                                   {step.contrast, with_contrast, true},
                                   {step.saturation, with_saturation, true},
                                   {step.hue, with_hue, false}}};
    for (std::size_t left = changes.size(); left > 1; --left)
        std::swap(changes[left - 1], changes[random->next_below(left)]);
    for (const Change& change : changes) {
        if (change.amount == 0) continue;
        const double drawn =
            change.around_one
                ? draw_between(*random, std::max(0.0, 1 - change.amount), 1 + change.amount)
                : draw_around(*random, change.amount);
        image = change.apply(std::move(image), drawn);
    }
    return image;
}

Image random_erasing(Image image, const AugmentSpec& step, RandomStream* random) {
    if (draw_between(*random, 0, 1) >= step.p) return image;
    const Box box = draw_erased(*random, image, step.scale.value(), step.ratio.value());
    const std::uint8_t level = to_level(step.value);
    for (std::int64_t y = box.top; y < box.top + box.height; ++y) {
        const auto begin = image.pixels.begin() + (y * image.width + box.left) * image.channels;
        std::fill_n(begin, box.width * image.channels, level);
    }
    return image;
}

ImageSize resize_size(const AugmentSpec& step, ImageSize size) {
    if (step.size.size() == 2) return {step.size[0], step.size[1]};
    if (!size.known()) return {};
    const auto [height, width] = size_with_shorter_side(size.height, size.width, step.size[0]);
    return {height, width};
}

ImageSize own_size(const AugmentSpec& step, ImageSize) {
    return {height_of(step), width_of(step)};
}

ImageSize random_crop_size(const AugmentSpec& step, ImageSize size) {
    const std::int64_t more = 2 * step.padding;
    if (size.known()) check_crop_fits(step, {size.height + more, size.width + more});
    return own_size(step, size);
}

using Apply = Image (*)(Image, const AugmentSpec&, RandomStream*);

struct Step {
    AugmentName name;
    Apply draw;      ///< null: nothing is drawn
    Apply settle;    ///< without a stream; null: the image stays as it is
    ImageSize (*size)(const AugmentSpec&, ImageSize);    ///< null: it stays as it is
};

constexpr auto step_table = std::to_array<Step>({
    {AugmentName::resize, nullptr, resize, resize_size},
    {AugmentName::center_crop, nullptr, center_crop, own_size},
    {AugmentName::random_crop, random_crop, center_crop, random_crop_size},
    {AugmentName::random_resized_crop, random_resized_crop, middle_resized_crop, own_size},
    {AugmentName::horizontal_flip, horizontal_flip, nullptr, nullptr},
    {AugmentName::vertical_flip, vertical_flip, nullptr, nullptr},
    {AugmentName::rotate, rotate, nullptr, nullptr},
    {AugmentName::affine, affine, nullptr, nullptr},
    {AugmentName::color_jitter, color_jitter, nullptr, nullptr},
    {AugmentName::random_erasing, random_erasing, nullptr, nullptr},
});

const Step& row_of(const AugmentSpec& step) {
    const Step& row = step_table[std::size_t(step.name)];
    check(row.name == step.name, "rows are in the order of the names");
    return row;
}

}    // namespace

bool sets_size(const AugmentSpec& step) {
    return row_of(step).size != nullptr;
}

bool is_drawn(const AugmentSpec& step) {
    return row_of(step).draw != nullptr;
}

Image augmented(Image image, std::span<const AugmentSpec> steps, RandomStream& random) {
    for (const AugmentSpec& step : steps) {
        const Step& row = row_of(step);
        image = (row.draw != nullptr ? row.draw : row.settle)(std::move(image), step, &random);
    }
    return image;
}

Image unaugmented(Image image, std::span<const AugmentSpec> steps) {
    for (const AugmentSpec& step : steps) {
        if (const Apply settle = row_of(step).settle)
            image = settle(std::move(image), step, nullptr);
    }
    return image;
}

ImageSize size_after(std::span<const AugmentSpec> steps, ImageSize size) {
    const auto here = [&](std::size_t i) {
        return fmt::format("data.augment[{}] ({})", i, to_string(steps[i].name));
    };
    std::size_t last = 0;    // that had a say in the size
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto size_of = row_of(steps[i]).size;
        if (size_of == nullptr) continue;
        last = i;
        try {
            size = size_of(steps[i], size);
        } catch (const Error& error) {    // knows the step, not its place in the list
            throw Error{error.code(), here(i) + ": " + error.what()};
        }
    }
    if (size.known()) return size;
    throw Error{
        ErrorCode::invalid_argument,
        fmt::format(
            "{} leaves images of different sizes; give it height and width, or put a crop after it",
            here(last))};
}

}    // namespace slipway
