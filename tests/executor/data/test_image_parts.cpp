#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "executor/data/dataset.h"
#include "executor/data/formats/part_names.h"
#include "executor/data/inspect.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

/// Images at these places.
struct Tree {
    TempFolder folder;
    explicit Tree(const Names& names) {
        for (const std::string& name : names)
            folder.write(name, png_file(patterned_image(3, 4, 4)));
    }
    Json inspect(const DatasetOptions& options = {}) const {
        return inspect_dataset("image_folder", folder.path(), options);
    }
};

Names names_of(const Json& list) {
    Names names;
    for (const Json& one : list)
        names.push_back(one["name"]);
    return names;
}

std::string message_of(const Json& list) {
    return list.empty() ? "" : list[0]["message"].get<std::string>();
}

}    // namespace

TEST(PartNames, are_known_in_any_case_and_spelling) {
    for (const char* name : {"train", "Train", "VAL", "training", "testing", "validation", "valid",
                             "dev", "training_set", "test-images", "val2017", "test1", "Test Set"})
        EXPECT_TRUE(is_usual_part(name)) << name;
    for (const char* name : {"", "trainer", "cat", "test_bench", "old_train", "1", "été", "testé"})
        EXPECT_FALSE(is_usual_part(name)) << name;
    EXPECT_EQ(part_kind("Train_1"), PartKind::train);
    EXPECT_EQ(part_kind("dev"), PartKind::val);
    EXPECT_EQ(part_kind("testing"), PartKind::test);
    EXPECT_EQ(part_kind("trainer"), std::nullopt);
}

TEST(ImageParts, top_folders_with_names_of_parts_are_never_classes) {
    for (const auto& [train, val] :
         {std::pair("Train", "Val"), std::pair("training", "testing"), std::pair("train", "dev"),
          std::pair("train2017", "val2017")}) {
        const std::string first = train, second = val;
        const Json report = Tree({first + "/red/1.png", first + "/blue/2.png",
                                  second + "/red/3.png", second + "/blue/4.png"})
                                .inspect();
        EXPECT_EQ(names_of(report["classes"]), (Names{"blue", "red"})) << train;
        EXPECT_EQ(report["part_count"], 2) << train;
        EXPECT_EQ(report["problem_count"], 0) << report["problems"];
    }
}

TEST(ImageParts, a_part_without_class_folders_is_left_out_with_a_warning) {
    const Json report =
        Tree({"train/red/1.png", "train/blue/2.png", "test/3.png", "test/4.png"}).inspect();
    EXPECT_EQ(names_of(report["classes"]), (Names{"blue", "red"}));
    EXPECT_EQ(report["samples"], 2);
    EXPECT_EQ(report["problem_count"], 0);
    ASSERT_EQ(report["warnings"].size(), 1U);
    EXPECT_EQ(report["warnings"][0]["file"], "test");
    EXPECT_TRUE(message_of(report["warnings"]).starts_with("2 images are not read"));
}

TEST(ImageParts, a_stray_image_does_not_change_what_the_folders_are) {
    for (const std::string stray : {"preview.png", "train/preview.png"}) {
        const Json report = Tree({"train/red/1.png", "train/blue/2.png", stray}).inspect();
        EXPECT_EQ(names_of(report["classes"]), (Names{"blue", "red"})) << stray;
        ASSERT_EQ(report["problem_count"], 1) << stray;
        EXPECT_EQ(report["problems"][0]["file"], stray);
        EXPECT_NE(message_of(report["problems"]).find("PART/CLASS/"), std::string::npos);
    }
}

TEST(ImageParts, a_mix_of_parts_and_other_folders_is_a_problem_that_names_them) {
    const Json mixed = Tree({"train/red/1.png", "valid/red/2.png", "sample/red/3.png"}).inspect();
    ASSERT_EQ(mixed["problem_count"], 1);
    EXPECT_EQ(mixed["problems"][0]["file"], "sample");
    EXPECT_TRUE(message_of(mixed["problems"])
                    .starts_with("parts (train, valid) are beside other folders (sample)"));

    const Tree vehicles({"bus/1.png", "car/x/2.png", "train/x/3.png"});
    EXPECT_EQ(vehicles.inspect()["problem_count"], 1);
    EXPECT_EQ(names_of(vehicles.inspect({.class_names = {"bus", "car", "train"}})["classes"]),
              (Names{"bus", "car", "train"}));

    const Json flat = Tree({"train/1.png", "test/2.png"}).inspect();
    EXPECT_NE(message_of(flat["problems"]).find("hold no class folders"), std::string::npos);
}

// Goal: classes that happen to have names of parts stay classes.
TEST(ImageParts, flat_folders_beside_others_are_classes_with_a_warning) {
    for (const Names& classes : {Names{"invalid", "valid"},
                                 {"dev", "prod"},
                                 {"control", "test1"},
                                 {"bus", "car", "train"}}) {
        Names images;
        for (const std::string& name : classes)
            for (const char* image : {"/1.png", "/2.png"})
                images.push_back(name + image);
        const Json report = Tree(images).inspect();
        EXPECT_EQ(names_of(report["classes"]), classes);
        EXPECT_EQ(report["part_count"], 0);
        EXPECT_EQ(report["problem_count"], 0) << report["problems"];
        EXPECT_NE(message_of(report["warnings"]).find("PART/CLASS/IMAGE"), std::string::npos);
    }
}

TEST(ImageParts, parts_inside_classes_are_named) {
    const Json report = Tree({"cat/train/1.png", "cat/val/2.png", "dog/train/3.png"}).inspect();
    EXPECT_EQ(names_of(report["classes"]), (Names{"cat", "dog"}));
    ASSERT_EQ(report["warnings"].size(), 1U);
    EXPECT_EQ(report["warnings"][0]["file"], "cat/train");
}

TEST(ImageParts, a_link_for_a_part_is_one_problem_and_any_other_a_warning) {
    const Tree tree({"train/red/1.png", "train/blue/2.png"});
    std::filesystem::create_symlink("train", tree.folder.path() / "latest");
    std::filesystem::create_symlink("red", tree.folder.path() / "train/val");
    const Json usable = tree.inspect();
    EXPECT_EQ(usable["problem_count"], 0) << usable["problems"];
    EXPECT_NE(message_of(usable["warnings"]).find("\"latest\" (a link to a folder)"),
              std::string::npos)
        << usable["warnings"];

    std::filesystem::create_symlink("train", tree.folder.path() / "val");
    const Json report = tree.inspect();
    EXPECT_EQ(report["problem_count"], 1);
    EXPECT_EQ(report["problems"][0]["file"], "val");
}

}    // namespace slipway
