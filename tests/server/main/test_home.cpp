#include "server/main/home.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "api/base/error.h"
#include "api/client/service.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
    struct stat found {};
    EXPECT_EQ(stat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777;
}

TEST(Home, a_new_one_has_its_folders_and_modes) {
    const TempFolder folder;
    const Home home(folder.path() / "a" / "home");
    EXPECT_EQ(mode_of(home.path()), geteuid() == 0 ? 0711U : 0750U);
    for (const char* one :
         {"store", "store/checkpoints", "store/datasets", "store/uploads", "store/splits", "runs"})
        EXPECT_EQ(mode_of(home.path() / one), geteuid() == 0 ? 0711U : 0700U) << one;
    EXPECT_EQ(read_file(home.path() / "slipwayd.pid"), std::to_string(getpid()) + "\n");
}

TEST(Home, it_is_in_use_while_a_service_has_it) {
    const TempFolder folder;
    EXPECT_FALSE(is_home_in_use(folder.path() / "home")) << "there is none";
    {
        const Home home(folder.path() / "home");
        EXPECT_TRUE(is_home_in_use(home.path()));
    }
    EXPECT_FALSE(is_home_in_use(folder.path() / "home"));
    const Home again(folder.path() / "home");
}

TEST(Home, an_older_one_is_closed_to_others) {
    const TempFolder folder;
    fs::create_directory(folder.path() / "home");
    fs::permissions(folder.path() / "home", fs::perms{0777});
    const Home home(folder.path() / "home");
    EXPECT_EQ(mode_of(home.path()), geteuid() == 0 ? 0711U : 0750U);
}

TEST(Home, two_never_share_one) {
    const TempFolder folder;
    {
        const Home first(folder.path() / "home");
        try {
            const Home second(folder.path() / "home");
            ADD_FAILURE() << "both have it";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::conflict);
            EXPECT_NE(std::string(error.what()).find(std::to_string(getpid())), std::string::npos);
        }
        EXPECT_TRUE(fs::exists(folder.path() / "home/slipwayd.pid"));
    }
    EXPECT_FALSE(fs::exists(folder.path() / "home/slipwayd.pid"));
    const Home again(folder.path() / "home");
}

TEST(Home, the_admin_token_is_for_its_owner_alone) {
    const TempFolder folder;
    const Home home(folder.path() / "home");
    EXPECT_FALSE(home.admin_token().has_value());
    home.keep_admin_token("slp_first");
    home.keep_admin_token("slp_second");
    EXPECT_EQ(home.admin_token(), "slp_second");
    EXPECT_EQ(mode_of(home.path() / "admin-token"), 0600U);
    EXPECT_FALSE(read_admin_token(folder.path() / "nowhere").has_value());
}

TEST(Home, its_service_s_address_is_where_other_programs_find_it) {
    const TempFolder folder;
    EXPECT_EQ(client::address_in(folder.path().string()), "");
    const Home home(folder.path());
    home.keep_address("http://127.0.0.1:9000");
    home.keep_address("https://[::1]:9001");
    EXPECT_EQ(client::address_in(folder.path().string()), "https://[::1]:9001");
    ASSERT_EQ(unsetenv("SLIPWAY_URL"), 0);
    const auto there = client::connect(
        {.url = {}, .token = "t", .home = folder.path().string(), .certificate_authority = {}});
    EXPECT_EQ(to_string(there.options().url), "https://[::1]:9001");
    const auto given = client::connect({.url = "http://127.0.0.1:9002",
                                        .token = "t",
                                        .home = folder.path().string(),
                                        .certificate_authority = {}});
    EXPECT_EQ(given.options().url.authority.port, 9002);
}

TEST(Home, a_folder_that_cannot_be_made_is_named_with_the_way_out) {
    const TempFolder folder;
    folder.write("file", "in the way");
    for (const char* path : {"file", "file/home"}) {
        try {
            const Home home(folder.path() / path);
            ADD_FAILURE() << path;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            EXPECT_NE(std::string(error.what()).find("--home"), std::string::npos);
        }
    }
}

TEST(Home, what_is_given_goes_before_the_environment) {
    setenv("SLIPWAY_HOME", "/from/environment", 1);
    EXPECT_EQ(home_folder("/given/"), fs::path("/given/"));
    EXPECT_EQ(home_folder(""), fs::path("/from/environment"));
    EXPECT_TRUE(home_folder("relative").is_absolute());
    unsetenv("SLIPWAY_HOME");
    EXPECT_FALSE(home_folder("").empty());
}

}    // namespace
}    // namespace slipway
