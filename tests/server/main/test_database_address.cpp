// Goal: a password reaches slipwayd without being anybody else's: no command line, no message, no
// file that others may read.
#include "server/main/database_address.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "api/base/error.h"
#include "scheduler/store/pg/password.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* secret = "postgresql://me:hunter2@db/slipway";

struct DatabaseAddress : testing::Test {
    TempFolder folder;

    std::string file(const std::string& text, mode_t mode) {
        // The one before may be one that even its owner must not write to.
        std::filesystem::remove(folder.path() / "database");
        const std::string path = folder.write("database", text).string();
        chmod(path.c_str(), mode);
        return path;
    }
    static std::string refusal(const DatabaseSources& sources) {
        try {
            database_address(sources);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
            EXPECT_THAT(error.what(), Not(HasSubstr("hunter2")));
            return error.what();
        }
        ADD_FAILURE() << "not refused";
        return {};
    }
};

TEST_F(DatabaseAddress, comes_from_the_nearest_place) {
    const std::string path = file(std::string(secret) + "\n", 0600);
    EXPECT_EQ(database_address({}), "");
    EXPECT_EQ(database_address({.environment = secret}), secret);
    EXPECT_EQ(database_address({.file = path, .environment = "other"}), secret);
    EXPECT_EQ(database_address({.given = "host=a", .environment = "other"}), "host=a");
    EXPECT_THAT(refusal({.given = secret, .file = path}), HasSubstr("leave one of them out"));
}

TEST_F(DatabaseAddress, a_file_that_others_may_read_is_refused) {
    for (const mode_t mode : {0644, 0640, 0602, 0604, 0610})
        EXPECT_THAT(refusal({.file = file(secret, mode)}), HasSubstr("chmod 600"));
    EXPECT_EQ(database_address({.file = file(secret, 0400)}), secret);
    EXPECT_THAT(refusal({.file = folder.path().string()}), HasSubstr("is not a file"));
    EXPECT_THAT(refusal({.file = "/nowhere"}), HasSubstr("/nowhere cannot be read"));
    EXPECT_THAT(refusal({.file = file(" \n", 0600)}), HasSubstr("must hold an address"));
    EXPECT_THAT(refusal({.file = file(std::string(9000, 'x'), 0600)}), HasSubstr("8192 bytes"));
}

TEST_F(DatabaseAddress, a_password_on_the_command_line_is_refused) {
    const std::string joined = std::string("--database=") + secret;
    const std::array<const char*, 2> arguments{"slipwayd", joined.c_str()};
    EXPECT_THAT(refusal({.given = secret, .arguments = arguments}), HasSubstr("--database-file"));
    // In the configuration file it is not on the command line.
    EXPECT_EQ(database_address({.given = secret}), secret);
    const std::array<const char*, 2> plain{"slipwayd", "--database=host=db user=me"};
    EXPECT_EQ(database_address({.given = "host=db user=me", .arguments = plain}),
              "host=db user=me");
}

TEST_F(DatabaseAddress, a_password_in_a_configuration_file_is_nobody_elses) {
    const auto config = [&](mode_t mode) { return std::vector{file("database = ...", mode)}; };
    for (const mode_t mode : {0644, 0640, 0604})
        EXPECT_THAT(refusal({.given = secret, .config_files = config(mode)}),
                    AllOf(HasSubstr("--config: "), HasSubstr("chmod 600")));
    EXPECT_EQ(database_address({.given = secret, .config_files = config(0600)}), secret);
    EXPECT_EQ(database_address({.given = "host=db user=me", .config_files = config(0644)}),
              "host=db user=me");
}

TEST(Password, is_seen_in_every_form_of_an_address) {
    using store::may_hold_password;
    for (const char* with :
         {secret, "host=db password=x", "host=db PASSWORD = x", "postgresql://db/a?password=x",
          "postgresql://db/a?p%61ssword=x", "postgres://:x@db", "postgresql://me:x@[::1",
          "host=db sslpassword='x'"})
        EXPECT_TRUE(may_hold_password(with)) << with;
    for (const char* without : {"", "host=db user=me", "postgresql://me@db:5432/slipway",
                                "postgresql://db:5432/slipway?sslmode=require"})
        EXPECT_FALSE(may_hold_password(without)) << without;
}

}    // namespace
}    // namespace slipway
