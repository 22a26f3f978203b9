#include "executor/data/names.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "executor/data/dataset.h"
#include "executor/data/inspect.h"
#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

using Names = std::vector<std::string>;

nlohmann::json inspect_table(const std::string& text, const DatasetOptions& options = {}) {
    const TempFolder folder;
    folder.write("t.csv", text);
    return inspect_dataset("csv", folder.path(), options);
}

}    // namespace

TEST(Names, that_look_alike_have_one_look) {
    for (const auto& [a, b] :
         std::vector<std::pair<std::string, std::string>>{{"Cat", "cat"},
                                                          {"caf\u00E9", "cafe\u0301"},
                                                          {"no finding", "nofinding"},
                                                          {"a\u00A0b", "a b"},
                                                          {"7", "007"},
                                                          {"1", "1.0"},
                                                          {"+5", "5"},
                                                          {"\uFF17", "7"},
                                                          {"STRASSE", "stra\u00DFe"},
                                                          {"МОСКВА", "москва"}})
        EXPECT_EQ(look_of(a), look_of(b)) << a << " " << b;
    for (const auto& [a, b] :
         std::vector<std::pair<std::string, std::string>>{{"cat", "cut"},
                                                          {"9007199254740993", "9007199254740992"},
                                                          {"a-b", "ab"},
                                                          {"cafe", "caf\u00E9"},
                                                          {"nan", "inf"},
                                                          {"", "0"}})
        EXPECT_NE(look_of(a), look_of(b)) << a << " " << b;
    EXPECT_EQ(without_blanks(" \t b c\r\n"), "b c");
    EXPECT_EQ(without_blanks(" \t"), "");
}

// Goal: one patient is one group, whatever blanks are around its name.
TEST(Names, are_read_without_the_blanks_around_them) {
    const nlohmann::json report = inspect_table(
        "x,pid , label\n1,7,a\n2,7 ,b\n3, 7,\"b \"\n4,8,a\n", {.group_column = "pid"});
    EXPECT_EQ(report["groups"].size(), 2U);
    EXPECT_EQ(report["classes"].size(), 2U);
    EXPECT_EQ(report["warnings"], nlohmann::json::array());
    EXPECT_EQ(inspect_table("x,label\n1,a\n2, \n")["problem_count"], 1);

    const TempFolder folders;
    folders.write("a/1.png", png_file(patterned_image(1, 2, 2)));
    folders.write("a /2.png", png_file(patterned_image(1, 2, 2)));
    folders.write("b/3.png", png_file(patterned_image(1, 2, 2)));
    EXPECT_EQ(open_dataset("image_folder", folders.path())->index().class_names, (Names{"a", "b"}));

    folders.write("labels.csv", "file,label\na/1.png,x\na /2.png,x \nb/3.png,y\n");
    EXPECT_EQ(open_dataset("image_csv", folders.path())->index().class_names, (Names{"x", "y"}));
}

TEST(Names, class_names_keep_their_places) {
    const TempFolder folder;
    folder.write("t.csv", "x,label\n1,c\n2,b \n3,a\n");
    EXPECT_EQ(
        open_dataset("csv", folder.path(), {.class_names = {"a ", "b", "b ", "c"}})->index().labels,
        (std::vector<std::int32_t>{3, 1, 0}));
}

TEST(Names, that_look_alike_are_a_warning) {
    for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
             {"Cat", "cat"}, {"caf\u00E9", "cafe\u0301"}, {"1", "1.0"}}) {
        const nlohmann::json report = inspect_table(
            "x,who,label\n1,p," + a + "\n2,q," + b + "\n3,P,c\n4,p,c\n", {.group_column = "who"});
        EXPECT_EQ(report["problem_count"], 0);
        ASSERT_EQ(report["warnings"].size(), 2U);
        EXPECT_TRUE(report["warnings"][0]["message"].get<std::string>().starts_with("the classes"));
        EXPECT_TRUE(report["warnings"][1]["message"].get<std::string>().starts_with("the groups"));
    }
}

// Goal: the dataset's own label is never a feature, also where it was named with its blank.
TEST(Names, of_columns_are_found_with_and_without_blanks) {
    const TempFolder folder;
    folder.write("t.csv", "x, y, label,kind\n1,2,a,k\n3,4,b,l\n");
    const auto dataset = open_dataset("csv", folder.path(),
                                      {.label_column = "kind", .excluded_columns = {" label"}});
    EXPECT_EQ(dataset->index().feature_names, (Names{"x", "y"}));
    const auto chosen =
        open_dataset("csv", folder.path(), {.label_column = " label ", .feature_columns = {" y"}});
    EXPECT_EQ(chosen->index().feature_names, Names{"y"});

    const nlohmann::json report = inspect_table("x;y;label\n1;2;a\n");
    EXPECT_NE(report["problems"][0]["message"].get<std::string>().find("separated by \";\""),
              std::string::npos);
}

}    // namespace slipway
