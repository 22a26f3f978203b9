#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/dataset.h"
#include "executor/data/files.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {
using Json = nlohmann::json;
}

TEST(DatasetOptions, are_read_from_json) {
    const DatasetOptions options = parse_dataset_options(Json::parse(R"({
        "label_column": "kind", "group_column": "family", "file_column": "path", "image_column": "jpeg",
        "labels_file": "t.csv", "label_columns": ["l", "m"], "feature_columns": ["x", "y"], "class_names": ["a", "b"],
        "raw_pixels": "planar", "raw_shape": [4, 6, 3], "shape_columns": ["h", "w", "d"],
        "image_size": 64, "channels": 3, "mean": [0.1, 0.2, 0.3], "std": 0.5})"));
    EXPECT_EQ(options.label_column, "kind");
    EXPECT_EQ(options.group_column, "family");
    EXPECT_EQ(options.file_column, "path");
    EXPECT_EQ(options.image_column, "jpeg");
    EXPECT_EQ(options.labels_file, "t.csv");
    EXPECT_EQ(options.label_columns, (std::vector<std::string>{"l", "m"}));
    EXPECT_EQ(options.feature_columns.size(), 2U);
    EXPECT_EQ(options.class_names.size(), 2U);
    EXPECT_EQ(options.image_size, 64);
    EXPECT_EQ(options.channels, 3);
    EXPECT_EQ(options.raw_pixels, PixelLayout::planar);
    EXPECT_EQ(options.raw_shape, (std::vector<std::int64_t>{4, 6, 3}));
    EXPECT_EQ(options.shape_columns[2], "d");
    EXPECT_EQ(options.mean.size(), 3U);
    EXPECT_EQ(options.deviation, std::vector<float>{0.5F});
    EXPECT_EQ(parse_dataset_options(nullptr).label_column, "label");
}

TEST(DatasetOptions, refuses_unknown_keys_and_wrong_values) {
    for (const char* text : {R"([])",
                             R"("x")",
                             R"({"lable_column": "x"})",
                             R"({"label_column": ""})",
                             R"({"label_column": 3})",
                             R"({"image_size": 0})",
                             R"({"image_size": 5000})",
                             R"({"image_size": 3.5})",
                             R"({"channels": 2})",
                             R"({"mean": "x"})",
                             R"({"mean": ["x"]})",
                             R"({"mean": 1e300})",
                             R"({"std": 0})",
                             R"({"std": [1, -1]})",
                             R"({"class_names": ["a", "a"]})",
                             R"({"feature_columns": "x"})",
                             R"({"feature_columns": [1]})",
                             R"({"label_columns": ["a", "a"]})",
                             R"({"label_columns": "a"})",
                             R"({"raw_pixels": "hwc"})",
                             R"({"raw_shape": [4, 6]})",
                             R"({"raw_shape": [4, 6, 2]})",
                             R"({"raw_shape": [4, 6, 1.5]})",
                             R"({"shape_columns": ["h", "w"]})"}) {
        EXPECT_EQ(error_code_of([&] { parse_dataset_options(Json::parse(text)); }),
                  ErrorCode::invalid_argument)
            << text;
    }
}

TEST(Folder, lists_files_sorted_without_hidden_ones) {
    TempFolder folder;
    for (const std::string name : {"b", "a/z", "a/.x", ".git/config", "c/d/e"})
        folder.write(name, "");
    EXPECT_EQ(Folder(folder.path()).list(), (std::vector<std::string>{"a/z", "b", "c/d/e"}));
}

TEST(Folder, reads_inside_and_nothing_else) {
    TempFolder folder, outside;
    folder.write("a/file", "text");
    outside.write("secret", "text");
    std::filesystem::create_symlink(outside.path(), folder.path() / "door");
    const Folder inside(folder.path());
    EXPECT_EQ(inside.read("a/file", 100).size(), 4U);
    for (const std::string& name :
         {std::string(), std::string("a"), std::string("none"), std::string("../x"),
          std::string("/etc/passwd"), std::string("door/secret"), std::string("a/../../x"),
          std::string("a\0b", 3), std::string("/proc/self/cwd")}) {
        EXPECT_EQ(data_problem_of([&] { inside.read(name, 100); }).file, name);
    }
    EXPECT_EQ(data_problem_of([&] { inside.read("a/file", 3); }).file, "a/file");
}

}    // namespace slipway
