#include "migrations/dump.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "api/base/error.h"
#include "scheduler/store/cluster/process.h"
#include "tests/support/temp_folder.h"
#include "tests/support/temp_postgres.h"

namespace slipway::migrations {

namespace {

namespace fs = std::filesystem;

class Dump : public ::testing::Test {
protected:
    DumpOptions options() const {
        return {.database = database.url(),
                .folder = folder.path() / "backups",
                .version = "0.2.0",
                .at = parse_rfc3339("2026-11-29T03:21:12Z").value()};
    }

    /// The message of a dump that must fail.
    std::string refusal(const DumpOptions& asked) const {
        try {
            dump_database(asked);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            return error.what();
        }
        ADD_FAILURE() << "the dump was made";
        return {};
    }

    TempDatabase database;
    TempFolder folder;
};

TEST_F(Dump, it_is_whole_and_for_its_owner_alone) {
    database.sql("create table precious as select 42 as answer");
    const std::string killed = "backups/before-0.2.0-20261129T000000Z.dump.partial";
    fs::create_directories(options().folder);
    folder.write(killed, "of a process that was killed");
    const fs::path file = dump_database(options());
    EXPECT_EQ(file.filename(), "before-0.2.0-20261129T032112Z.dump");
    struct stat found {};
    ASSERT_EQ(stat(file.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U);
    EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
    const fs::path text = folder.path() / "precious.sql";
    ASSERT_EQ(store::run_process({.words = {"/usr/bin/pg_restore", "--table=precious",
                                            "--file=" + text.string(), file.string()}}),
              0);
    EXPECT_NE(read_file(text).find("\n42\n"), std::string::npos);
}

TEST_F(Dump, a_dump_that_fails_says_why_and_leaves_nothing) {
    DumpOptions asked = options();
    const fs::path tool = folder.path() / "15" / "bin";
    fs::create_directories(tool);
    folder.write("15/bin/pg_dump", "#!/bin/sh\necho 'No space left on device' >&2\nexit 1\n");
    fs::permissions(tool / "pg_dump", fs::perms::owner_all);
    asked.installed = folder.path();
    const std::string major =
        database.sql("select current_setting('server_version_num')::integer / 10000");
    if (major != "15") fs::rename(folder.path() / "15", folder.path() / major);
    const std::string message = refusal(asked);
    EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
    EXPECT_NE(message.find("--no-dump"), std::string::npos) << message;
    EXPECT_TRUE(fs::is_empty(asked.folder));
}

TEST_F(Dump, a_folder_that_cannot_be_made_is_named) {
    DumpOptions asked = options();
    asked.folder = folder.write("file", "") / "backups";
    EXPECT_NE(refusal(asked).find("/file/backups"), std::string::npos);
}

}    // namespace

}    // namespace slipway::migrations
