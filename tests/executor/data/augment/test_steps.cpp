#include "executor/data/augment/steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "api/spec/tables.h"
#include "tests/executor/data/make_files.h"

namespace slipway {

namespace {

/// Steps as a job writes them, with their defaults filled in.
std::vector<AugmentSpec> steps_of(const std::string& text) {
    std::vector<AugmentSpec> steps;
    std::vector<Problem> problems;
    for (const Json& one : Json::parse(text)) {
        AugmentSpec step;
        augment_table().read(one, step, Reader(problems, augment_table()));
        steps.push_back(step);
    }
    EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems[0].message);
    return steps;
}

const std::string every_step = R"([
    {"name": "resize", "size": 40}, {"name": "center_crop", "size": [36, 38]},
    {"name": "random_crop", "size": 34, "padding": 2, "fill": 1},
    {"name": "random_resized_crop", "size": [24, 20]},
    {"name": "horizontal_flip"}, {"name": "vertical_flip", "p": 0.25},
    {"name": "rotate", "degrees": 20},
    {"name": "affine", "degrees": 5, "translate": [0.1, 0.1], "scale": [0.8, 1.2], "shear": 4},
    {"name": "color_jitter", "brightness": 0.3, "contrast": 0.3, "saturation": 0.3, "hue": 0.1},
    {"name": "random_erasing", "p": 1, "value": 0.5}])";

Image drawn(const Image& image, const std::string& steps, std::uint64_t use) {
    RandomStream random(7, site_augment, use);
    return augmented(image, steps_of(steps), random);
}

std::string refusal(const std::string& steps, ImageSize size) {
    try {
        size_after(steps_of(steps), size);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
}

}    // namespace

TEST(Steps, all_names_are_in_one_list) {
    std::set<AugmentName> named;
    for (const AugmentSpec& step : steps_of(every_step))
        named.insert(step.name);
    const AugmentName mixing[]{AugmentName::mixup, AugmentName::cutmix};    // of several images
    named.insert(std::begin(mixing), std::end(mixing));
    EXPECT_EQ(named.size(), all_words<AugmentName>().size());
}

TEST(Steps, one_use_of_a_sample_gives_the_same_pixels_and_another_use_others) {
    for (const std::int64_t channels : {1, 3}) {
        const Image image = patterned_image(channels, 50, 44);
        const Image first = drawn(image, every_step, 3);
        EXPECT_EQ(first.pixels, drawn(image, every_step, 3).pixels);
        EXPECT_NE(first.pixels, drawn(image, every_step, 4).pixels);
        EXPECT_EQ(first.height, 24);
        EXPECT_EQ(first.width, 20);
        EXPECT_EQ(first.channels, channels);
        EXPECT_EQ(first.pixels.size(), std::size_t(24 * 20 * channels));
    }
}

TEST(Steps, each_drawn_step_changes_an_image_and_evaluation_does_not_see_it) {
    const Image image = patterned_image(3, 24, 24);
    for (const AugmentSpec& step : steps_of(every_step)) {
        if (!is_drawn(step) || sets_size(step)) continue;
        bool changed = false;
        for (std::uint64_t use = 0; use < 20 && !changed; ++use) {
            RandomStream random(1, site_augment, use);
            changed = augmented(image, std::vector{step}, random).pixels != image.pixels;
        }
        EXPECT_TRUE(changed) << to_string(step.name);
        EXPECT_EQ(unaugmented(image, std::vector{step}).pixels, image.pixels);
    }
}

TEST(Steps, a_step_happens_as_often_as_its_p) {
    const Image image = patterned_image(1, 1, 2);
    for (const auto& [text, p] : {std::pair{R"([{"name": "horizontal_flip", "p": 0.2}])", 0.2},
                                  {R"([{"name": "horizontal_flip", "p": 0}])", 0.0},
                                  {R"([{"name": "horizontal_flip", "p": 1}])", 1.0}}) {
        const std::vector<AugmentSpec> steps = steps_of(text);
        int flipped = 0;
        for (std::uint64_t use = 0; use < 5000; ++use) {
            RandomStream random(1, site_augment, use);
            flipped += augmented(image, steps, random).pixels != image.pixels;
        }
        EXPECT_NEAR(flipped, 5000 * p, 5 * std::sqrt(5000 * p * (1 - p)));
    }
}

TEST(Steps, evaluation_takes_the_middle_and_ends_at_the_same_size) {
    Image image{1, 4, 8, std::vector<std::uint8_t>(32, 0)};
    for (int y = 0; y < 4; ++y)
        for (int x = 2; x < 6; ++x)
            image.pixels[std::size_t(y * 8 + x)] = 200;
    const Image middle =
        unaugmented(image, steps_of(R"([{"name": "random_resized_crop", "size": 2}])"));
    EXPECT_EQ(middle.pixels, std::vector<std::uint8_t>(4, 200));
    const std::vector<AugmentSpec> crop =
        steps_of(R"([{"name": "random_crop", "size": [2, 4], "padding": 3}])");
    EXPECT_EQ(unaugmented(image, crop).pixels, std::vector<std::uint8_t>(8, 200));
    EXPECT_EQ(size_after(crop, {4, 8}), (ImageSize{2, 4}));
    const Image whole = unaugmented(patterned_image(3, 90, 70), steps_of(every_step));
    EXPECT_EQ(whole.height, 24);
    EXPECT_EQ(whole.width, 20);
}

TEST(Steps, sizes_follow_from_the_list) {
    EXPECT_EQ(size_after(steps_of(every_step), {}), (ImageSize{24, 20}));
    EXPECT_EQ(size_after({}, {5, 6}), (ImageSize{5, 6}));
    EXPECT_EQ(size_after(steps_of(R"([{"name": "resize", "size": 10}])"), {20, 30}),
              (ImageSize{10, 15}));
}

TEST(Steps, a_size_that_cannot_be_names_the_step) {
    EXPECT_NE(refusal(R"([{"name": "horizontal_flip"}, {"name": "resize", "size": 10}])", {})
                  .find("data.augment[1] (resize)"),
              std::string::npos);
    EXPECT_NE(refusal(R"([{"name": "random_crop", "size": 32}])", {28, 28})
                  .find("data.augment[0] (random_crop)"),
              std::string::npos);
    RandomStream random(1, site_augment, 0);
    EXPECT_THROW(augmented(patterned_image(1, 10, 10),
                           steps_of(R"([{"name": "random_crop", "size": 11}])"), random),
                 Error);
}

}    // namespace slipway
