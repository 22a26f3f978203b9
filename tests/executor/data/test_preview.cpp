#include "executor/data/preview.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "executor/data/base64.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

}    // namespace

TEST(Base64, as_in_the_standard) {
    const auto text = [](const std::string& bytes) { return base64(as_bytes(bytes)); };
    EXPECT_EQ(text(""), "");
    EXPECT_EQ(text("f"), "Zg==");
    EXPECT_EQ(text("fo"), "Zm8=");
    EXPECT_EQ(text("foo"), "Zm9v");
    EXPECT_EQ(text("foobar\xff"), "Zm9vYmFy/w==");
}

TEST(Preview, the_first_samples_are_spread_however_many_are_looked_at) {
    EXPECT_EQ(spread_samples(100, 5), (std::vector<std::int64_t>{0, 50, 25, 75, 12}));
    EXPECT_TRUE(spread_samples(0, 5).empty());
    const auto all = spread_samples(7, 32);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), 7U);
    EXPECT_EQ(spread_samples(1'000'003, 32).size(), 32U);
}

TEST(Preview, shows_rows_of_a_table) {
    TempFolder folder;
    folder.write("t.csv", "x,y,label,who\n1,10,a,p\n2,11,b,p\n");
    const Json preview =
        preview_dataset("csv", folder.path(), {.group_column = "who", .mean = {9}});
    EXPECT_EQ(preview["samples"], 2);
    EXPECT_EQ(preview["columns"], Json({"x", "y"}));
    const Json& second = preview["items"][1];
    EXPECT_EQ(second["sample"], 1);
    EXPECT_EQ(second["row"], 3);
    EXPECT_EQ(second["class"], "b");
    EXPECT_EQ(second["group"], "p");
    EXPECT_EQ(second["values"], Json({2.0, 11.0}));
    EXPECT_TRUE(second["image"].is_null());
}

TEST(Preview, shows_images_small_and_says_which_cannot_be_shown) {
    TempFolder folder;
    folder.write("a/1.png", "\x89PNG, but no more");
    folder.write("b/2.png", png_file(patterned_image(3, 200, 400, 1)));
    const Json preview =
        preview_dataset("image_folder", folder.path(), {.truncated_images = TruncatedImages::skip});
    const Json& good = preview["items"][1];
    EXPECT_EQ(good["shape"], Json({3, 200, 400}));
    EXPECT_EQ(good["class"], "b");
    EXPECT_TRUE(good["image"].get<std::string>().starts_with("data:image/jpeg;base64,/9j/"));
    EXPECT_LT(good["image"].get<std::string>().size(), 20'000U);
    const Json& bad = preview["items"][0];
    EXPECT_TRUE(bad["image"].is_null());
    EXPECT_FALSE(bad["problem"].get<std::string>().empty());
}

TEST(Preview, shows_the_beginning_of_texts_in_whole_characters) {
    TempFolder folder;
    std::string text;
    for (int i = 0; i < 600; ++i)
        text += "é";
    folder.write("train.txt", text);
    folder.write("valid.txt", "short\nlines\n");
    const Json preview = preview_dataset("text", folder.path());
    EXPECT_EQ(preview["samples"], 3);
    EXPECT_EQ(preview["items"][0]["text"].get<std::string>().size(), 1000U);
    EXPECT_EQ(preview["items"][0]["shape"], Json({1200}));
    EXPECT_EQ(preview["items"][1]["part"], "valid");
    EXPECT_EQ(preview["items"][1]["text"], "short\nlines\n");
}

}    // namespace slipway
