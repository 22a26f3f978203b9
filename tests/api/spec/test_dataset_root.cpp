#include "api/spec/dataset_root.h"

#include <gtest/gtest.h>

#include "api/base/error.h"

namespace slipway {
namespace {

using Names = std::vector<std::string>;

TEST(DatasetRoot, is_a_folder_and_the_projects_it_is_for) {
    EXPECT_EQ(parse_dataset_root("/srv/data").path, "/srv/data");
    EXPECT_TRUE(parse_dataset_root("/srv/data").projects.empty());
    EXPECT_EQ(parse_dataset_root("ct,nlp-2=/srv/a=b,c").path, "/srv/a=b,c");
    EXPECT_EQ(parse_dataset_root("ct,nlp-2=/srv/a=b,c").projects, (Names{"ct", "nlp-2"}));
    EXPECT_EQ(parse_dataset_root("./ct=x").path, "./ct=x");
}

TEST(DatasetRoot, a_name_that_no_project_has_is_told) {
    for (const char* text : {"=/srv", ",ct=/srv", "ct,=/srv", "c t=/srv", "ct,,nlp=/srv"})
        try {
            parse_dataset_root(text);
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
        }
}

TEST(DatasetRoot, the_innermost_root_decides) {
    const std::vector<DatasetRoot> roots{{.path = "/srv/data"},
                                         {.path = "/srv/data/ct", .projects = {"ct"}},
                                         {.path = "/srv/data/ct/open"},
                                         {.path = "/srv/nlp", .projects = {"nlp", "ct"}}};
    const auto read_by = [&](const char* place) {
        std::string readers;
        for (const char* project : {"ct", "nlp", "other"})
            if (may_read(place, project, roots)) readers += std::string(project) + " ";
        return readers;
    };
    EXPECT_EQ(read_by("/srv/data/points"), "ct nlp other ");
    EXPECT_EQ(read_by("/srv/data/ct/scans"), "ct ");
    EXPECT_EQ(read_by("/srv/data/ctx"), "ct nlp other ");
    EXPECT_EQ(read_by("/srv/data/ct/open/x"), "ct nlp other ");
    EXPECT_EQ(read_by("/srv/nlp/x"), "ct nlp ");
    EXPECT_EQ(read_by("/srv/data"), "ct ") << "it has a folder that is not for the others";
    EXPECT_EQ(read_by("/srv"), "");
    EXPECT_EQ(read_by("/etc"), "");
}

}    // namespace
}    // namespace slipway
