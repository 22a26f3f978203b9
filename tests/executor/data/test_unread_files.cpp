#include "executor/data/unread_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/inspect.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

std::string warnings_of(std::string_view format, const TempFolder& folder) {
    return inspect_dataset(format, folder.path())["warnings"].dump();
}

}    // namespace

TEST(UnreadFiles, are_named_in_every_format_of_folders) {
    const TempFolder images, tables, texts, listed;
    for (const char* name : {"a/1.png", "b/2.png"})
        images.write(name, png_file(patterned_image(1, 2, 2)));
    EXPECT_EQ(warnings_of("image_folder", images), "[]");
    images.write("a/photo", jpeg_file(patterned_image(1, 2, 2)));
    images.write("b/notes.txt", "");
    EXPECT_NE(warnings_of("image_folder", images)
                  .find("2 files of the folder are not read: "
                        "\\\"a/photo\\\", \\\"b/notes.txt\\\""),
              std::string::npos)
        << warnings_of("image_folder", images);

    tables.write("t.csv", "x,label\n1,a\n2,b\n");
    tables.write("deep/u.csv", "x,label\n1,a\n");
    EXPECT_NE(warnings_of("csv", tables).find("1 file of the folder is not read"),
              std::string::npos);

    texts.write("train.txt", "a");
    texts.write("vocab.txt", "a");
    EXPECT_EQ(warnings_of("text", texts), "[]");
    texts.write("README.md", "a");
    EXPECT_NE(warnings_of("text", texts).find("README.md"), std::string::npos);

    for (const char* name : {"1.png", "2.png", "3.png"})
        listed.write(name, png_file(patterned_image(1, 2, 2)));
    listed.write("labels.csv", "file,label\n./1.png,a\n2.png,b\n");
    EXPECT_NE(warnings_of("image_csv", listed).find("not read: \\\"3.png\\\""), std::string::npos);
}

TEST(UnreadFiles, that_a_problem_or_a_warning_names_are_not_named_twice) {
    const TempFolder folder;
    for (const char* name : {"train/a/1.png", "train/b/2.png", "test/3.png"})
        folder.write(name, png_file(patterned_image(1, 2, 2)));
    folder.write("train/a/x.webp", "");
    const auto report = inspect_dataset("image_folder", folder.path());
    EXPECT_EQ(report["problem_count"], 1);
    EXPECT_EQ(report["warnings"].size(), 1U);
}

TEST(UnreadFiles, of_other_kinds_beside_images_are_a_warning) {
    const TempFolder folder;
    for (const char* name : {"a/1.png", "b/2.png"})
        folder.write(name, png_file(patterned_image(1, 2, 2)));
    for (const char* name : {"a/1.dcm", "logo.svg", "b/2.jxl"})
        folder.write(name, "");
    const auto report = inspect_dataset("image_folder", folder.path());
    EXPECT_EQ(report["problem_count"], 0) << report["problems"];
    EXPECT_NE(report["warnings"].dump().find("3 files of the folder are not read"),
              std::string::npos)
        << report["warnings"];
}

TEST(UnreadFiles, jpegs_are_read_with_all_their_endings) {
    const TempFolder folder;
    for (const char* name : {"a/1.jfif", "a/2.JPE", "b/3.jpeg"})
        folder.write(name, jpeg_file(patterned_image(1, 2, 2)));
    const auto report = inspect_dataset("image_folder", folder.path());
    EXPECT_EQ(report["samples"], 3);
    EXPECT_EQ(report["warnings"].dump(), "[]");
}

}    // namespace slipway
