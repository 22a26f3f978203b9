#include "server/routes/dataset_check.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

struct Roots : testing::Test {
    TempFolder folder;
    fs::path root = folder.path() / "data";
    fs::path other = folder.path() / "more";

    Roots() {
        folder.write("data/points/points.csv", "a,label\n1,x\n");
        folder.write("data/.hidden/x", "");
        folder.write("more/glyphs/labels.csv", "");
        folder.write("secret/key", "");
        fs::create_directory_symlink(folder.path() / "secret", root / "leak");
        fs::create_directory_symlink(root / "points", root / "alias");
    }
    std::vector<Problem> check(const std::string& path) const {
        return check_dataset_path(path, "default", {{.path = root}, {.path = other}});
    }
};

TEST_F(Roots, folders_and_files_below_a_root_are_taken) {
    for (const char* path : {"points", "points/points.csv", "glyphs", "alias"})
        EXPECT_TRUE(check(path).empty()) << path;
    EXPECT_TRUE(check((root / "points").string()).empty());
}

TEST_F(Roots, what_leads_out_is_refused) {
    for (const std::string& path :
         {std::string("../secret"), std::string("points/../../secret"), std::string("/etc"),
          std::string("leak"), std::string("leak/key"), std::string("."), std::string(".."),
          std::string("./points"), (folder.path() / "secret").string(),
          std::string("points\0/x", 9), root.string() + "more"}) {
        const auto problems = check(path);
        ASSERT_EQ(problems.size(), 1U) << path;
        EXPECT_EQ(problems[0].pointer, "/source/path");
    }
}

TEST_F(Roots, a_missing_folder_is_answered_with_those_that_exist) {
    const auto problems = check("pionts");
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].code, "not_found");
    EXPECT_EQ(problems[0].allowed, (std::vector<std::string>{"alias", "glyphs", "points"}));
}

// Goal: a project's root is to others as if it were not there.
TEST_F(Roots, of_other_projects_do_not_exist) {
    const std::vector<DatasetRoot> roots{{.path = root}, {.path = other, .projects = {"ct"}}};
    EXPECT_TRUE(check_dataset_path("glyphs", "ct", roots).empty());
    for (const std::string& path : {std::string("glyphs"), (other / "glyphs").string()}) {
        const auto problems = check_dataset_path(path, "nlp", roots);
        std::string unknown = path;
        unknown.back() = 'z';
        auto expected = check_dataset_path(unknown, "nlp", roots).at(0);
        expected.message.replace(expected.message.find(unknown), unknown.size(), path);
        ASSERT_EQ(problems.size(), 1U);
        EXPECT_EQ(problems[0].code, expected.code);
        EXPECT_EQ(problems[0].message, expected.message);
        EXPECT_EQ(problems[0].allowed, expected.allowed);
    }
    const std::vector<DatasetRoot> nested{{.path = folder.path()},
                                          {.path = other, .projects = {"ct"}}};
    EXPECT_EQ(check_dataset_path("more/glyphs", "nlp", nested).at(0).code, "not_found");
    EXPECT_EQ(check_dataset_path("more", "nlp", nested).at(0).allowed,
              (std::vector<std::string>{"data", "secret"}));
    const auto none = check_dataset_path("points", "nlp", {{.path = root, .projects = {"ct"}}});
    ASSERT_EQ(none.size(), 1U);
    EXPECT_NE(none[0].message.find("project nlp; upload"), std::string::npos) << none[0].message;
}

TEST(DatasetPath, without_roots_there_is_only_the_upload) {
    const auto problems = check_dataset_path("points", "default", {});
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].message.find("upload"), std::string::npos);
}

}    // namespace
}    // namespace slipway
