#include "executor/data/augment/draws.h"

#include <array>
#include <cmath>

#include "api/base/check.h"

namespace slipway {

namespace {

constexpr int draws_max = 10;

/// A box of this size within an image, where there is room for it.
Box placed(RandomStream& random, const Image& image, std::int64_t height, std::int64_t width) {
    const std::int64_t top = draw_up_to(random, image.height - height);
    const std::int64_t left = draw_up_to(random, image.width - width);
    return {top, left, height, width};
}

/// Lengths whose product is a drawn share of the image's area; `first` / `second` is drawn too.
struct Sides {
    double first, second;
};

Sides draw_sides(RandomStream& random, const Image& image, const Range& area, const Range& ratio) {
    const double pixels =
        double(image.height * image.width) * draw_between(random, area[0], area[1]);
    const double drawn = std::exp(draw_between(random, std::log(ratio[0]), std::log(ratio[1])));
    return {std::sqrt(pixels * drawn), std::sqrt(pixels / drawn)};
}

Box middle(const Image& image, std::int64_t height, std::int64_t width) {
    return {(image.height - height) / 2, (image.width - width) / 2, height, width};
}

/// The logarithm of a number drawn from Gamma(shape, 1): as such it may be as small as it likes.
/// Marsaglia and Tsang 2000, with shapes below 1 from that one above.
double draw_log_gamma(RandomStream& random, double shape) {
    const auto uniform = [&] { return (double(random.next_u32()) + 0.5) / 4294967296.0; };
    if (shape < 1) return draw_log_gamma(random, shape + 1) + std::log(uniform()) / shape;
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = double(random.next_normal());
        const double root = 1 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root;
        if (std::log(uniform()) < x * x / 2 + d - d * v + d * std::log(v))
            return std::log(d) + std::log(v);
    }
}

}    // namespace

double draw_between(RandomStream& random, double low, double high) {
    return low + (high - low) * double(random.next_uniform());
}

std::int64_t draw_up_to(RandomStream& random, std::int64_t most) {
    return std::int64_t(random.next_below(std::uint64_t(most) + 1));
}

double draw_beta(RandomStream& random, double alpha) {
    const double first = draw_log_gamma(random, alpha);
    const double second = draw_log_gamma(random, alpha);
    return 1 / (1 + std::exp(second - first));
}

Box draw_crop(RandomStream& random, const Image& image, std::int64_t height, std::int64_t width) {
    check(height <= image.height && width <= image.width, "a crop fits into its image");
    return placed(random, image, height, width);
}

Box draw_resized_crop(RandomStream& random, const Image& image, const Range& area,
                      const Range& ratio) {
    for (int i = 0; i < draws_max; ++i) {
        const Sides sides = draw_sides(random, image, area, ratio);
        const auto width = std::int64_t(std::nearbyint(sides.first));
        const auto height = std::int64_t(std::nearbyint(sides.second));
        if (width < 1 || width > image.width || height < 1 || height > image.height) continue;
        return placed(random, image, height, width);
    }
    const double whole = double(image.width) / double(image.height);
    const auto at_least_one = [](double pixels) {
        return std::max<std::int64_t>(1, std::int64_t(std::nearbyint(pixels)));
    };
    if (whole < ratio[0]) {
        return middle(image, at_least_one(double(image.width) / ratio[0]), image.width);
    }
    if (whole > ratio[1]) {
        return middle(image, image.height, at_least_one(double(image.height) * ratio[1]));
    }
    return middle(image, image.height, image.width);
}

Box draw_erased(RandomStream& random, const Image& image, const Range& area, const Range& ratio) {
    for (int i = 0; i < draws_max; ++i) {
        const Sides sides = draw_sides(random, image, area, ratio);
        const auto height = std::int64_t(std::nearbyint(sides.first));
        const auto width = std::int64_t(std::nearbyint(sides.second));
        if (height < image.height && width < image.width) {
            return placed(random, image, height, width);
        }
    }
    return {};
}

}    // namespace slipway
