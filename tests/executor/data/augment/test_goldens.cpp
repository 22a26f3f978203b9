// Goal: each change of an image is torchvision's.
// Method: goldens.json, which make_goldens.py has written. Where pixels are only moved they are
// equal. Where numbers are rounded they are one level apart at most: torchvision cuts off where we
// round to the nearest, Pillow rounds between the two directions of a resize, and contrast starts
// from a mean rounded to a whole level.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "executor/data/augment/colour.h"
#include "executor/data/augment/geometry.h"
#include "executor/data/augment/steps.h"

namespace slipway {

namespace {

constexpr std::int64_t height = 13, width = 17;

/// As level() in make_goldens.py.
Image input(std::int64_t channels) {
    Image image{channels, height, width, {}};
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int channel = 0; channel < channels; ++channel) {
                const int level = x * 11 + y * 7 + channel * 53 + x * y * 13 % 97;
                image.pixels.push_back(std::uint8_t(level % 256));
            }
        }
    }
    return image;
}

std::vector<std::uint8_t> bytes_of(const std::string& hexadecimal) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < hexadecimal.size(); i += 2)
        bytes.push_back(std::uint8_t(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
    return bytes;
}

using Parameters = std::vector<double>;

std::int64_t whole(double number) {
    return std::int64_t(number);
}

Image erase(Image image, const Parameters& p) {
    for (std::int64_t y = whole(p[0]); y < whole(p[0] + p[2]); ++y) {
        const auto begin = image.pixels.begin() + (y * image.width + whole(p[1])) * image.channels;
        std::fill_n(begin, whole(p[3]) * image.channels, std::uint8_t(p[4]));
    }
    return image;
}

struct Judged {
    int tolerance;    ///< levels
    std::function<Image(Image, const Parameters&)> apply;
};

const std::map<std::string, Judged>& judged() {
    static const std::map<std::string, Judged> table{
        {"shorter_side",
         {1, [](Image a, const Parameters& p) { return with_shorter_side(a, whole(p[0])); }}},
        {"resize",
         {1, [](Image a, const Parameters& p) { return resized(a, whole(p[0]), whole(p[1])); }}},
        {"resized_crop",
         {1,
          [](Image a, const Parameters& p) {
              const Box box{whole(p[0]), whole(p[1]), whole(p[2]), whole(p[3])};
              return resized(a, box, whole(p[4]), whole(p[5]));
          }}},
        {"crop",
         {0,
          [](Image a, const Parameters& p) {
              return cropped(a, {whole(p[0]), whole(p[1]), whole(p[2]), whole(p[3])});
          }}},
        {"pad",
         {0,
          [](Image a, const Parameters& p) { return padded(a, whole(p[0]), std::uint8_t(p[1])); }}},
        {"center_crop",
         {0, [](Image a,
                const Parameters& p) { return center_cropped(a, whole(p[0]), whole(p[1])); }}},
        {"horizontal_flip",
         {0, [](Image a, const Parameters&) { return flipped_horizontally(a); }}},
        {"vertical_flip", {0, [](Image a, const Parameters&) { return flipped_vertically(a); }}},
        {"rotate",
         {1, [](Image a,
                const Parameters& p) { return moved(a, {.degrees = -p[0]}, std::uint8_t(p[1])); }}},
        {"affine",
         {1,
          [](Image a, const Parameters& p) {
              const AffineMove move{p[0], p[1], p[2], p[3], p[4]};
              return moved(a, move, std::uint8_t(p[5]));
          }}},
        {"brightness", {1, [](Image a, const Parameters& p) { return with_brightness(a, p[0]); }}},
        {"contrast", {1, [](Image a, const Parameters& p) { return with_contrast(a, p[0]); }}},
        {"saturation", {1, [](Image a, const Parameters& p) { return with_saturation(a, p[0]); }}},
        {"hue", {1, [](Image a, const Parameters& p) { return with_hue(a, p[0]); }}},
        {"erase", {0, erase}},
    };
    return table;
}

}    // namespace

TEST(Goldens, every_change_of_an_image_is_torchvisions) {
    const Json goldens =
        Json::parse(std::ifstream(SLIPWAY_SOURCE_DIR "/tests/executor/data/augment/goldens.json"));
    std::map<std::string, int> seen;
    for (const Json& golden : goldens) {
        const auto name = golden["function"].get<std::string>();
        SCOPED_TRACE(name + " " + golden["parameters"].dump());
        ++seen[name];
        const Judged& row = judged().at(name);
        const Image ours = row.apply(input(golden["channels"]), golden["parameters"]);
        ASSERT_EQ(ours.height, golden["height"].get<std::int64_t>());
        ASSERT_EQ(ours.width, golden["width"].get<std::int64_t>());
        const std::vector<std::uint8_t> theirs = bytes_of(golden["pixels"]);
        ASSERT_EQ(ours.pixels.size(), theirs.size());
        for (std::size_t i = 0; i < theirs.size(); ++i)
            ASSERT_NEAR(ours.pixels[i], theirs[i], row.tolerance) << i;
    }
    EXPECT_EQ(seen.size(), judged().size());
}

}    // namespace slipway
