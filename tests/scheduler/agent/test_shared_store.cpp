// Goal: a store that is not the one which the hosts share is noticed, whichever way it is another
// one. Method: two home folders on one database, with one store, two, and a copy.
#include "scheduler/agent/shared_store.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "api/base/error.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/shared_store.h"
#include "tests/support/hand_clock.h"
#include "tests/support/temp_folder.h"
#include "tests/support/temp_postgres.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

fs::path folder_of(const ArtifactStore& artifacts) {
    return artifacts.folder(Artifact::checkpoint).parent_path();
}

struct SharedStore : testing::Test {
    TempDatabase database;
    store::Store store{{.database = database.url()}};
    HandClock clock;
    TempFolder folder;
    ArtifactStore first{folder.path() / "first"};
    ArtifactStore second{folder.path() / "second"};

    SharedStore() {
        fs::create_directories(folder_of(first));
        fs::create_directories(folder.path() / "second");
    }
    void share() { fs::create_directory_symlink(folder_of(first), folder_of(second)); }
    void check(const ArtifactStore& artifacts, const std::string& home) {
        check_store_is_shared(store, artifacts, home, clock, 0ms);
    }
    std::string refusal(const ArtifactStore& artifacts, const std::string& home) {
        try {
            check(artifacts, home);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unavailable);
            return error.what();
        }
        return "not refused";
    }
    void register_first(const std::string& mark) {
        store::register_host(store, {.name = "first", .home = "one"});
        if (!mark.empty()) store::keep_store_mark(store, {"first", mark});
    }
};

TEST_F(SharedStore, hosts_with_one_folder_see_that_it_is_one) {
    check(first, "one");
    const std::string id = read_file(folder_of(first) / "store.id");
    EXPECT_EQ(store::find_store_id(store), id);
    const std::string mark = write_store_mark(first, "first");
    EXPECT_EQ(mark.size(), 32U);
    register_first(mark);
    share();
    check(second, "two");
    // It starts again: another mark in the same file.
    const std::string again = write_store_mark(first, "first");
    EXPECT_NE(again, mark);
    EXPECT_THAT(refusal(second, "two"), HasSubstr("it is a copy of theirs"));
    register_first(again);
    check(second, "two");
    check_store_can_be_written(second);
    EXPECT_EQ(read_file(folder_of(first) / "store.id"), id);
}

TEST_F(SharedStore, another_folder_is_refused_and_left_as_it_is) {
    check(first, "one");
    fs::create_directories(folder_of(second));
    EXPECT_THAT(refusal(second, "two"), HasSubstr("it has no id, and the id of theirs is"));
    EXPECT_TRUE(fs::is_empty(folder_of(second)));
    folder.write("second/store/store.id", std::string(32, '0') + "\n");
    EXPECT_THAT(refusal(second, "two"), HasSubstr("its id is " + std::string(32, '0')));
}

TEST_F(SharedStore, an_id_that_was_lost_can_be_written_again) {
    check(first, "one");
    fs::remove(folder_of(first) / "store.id");
    EXPECT_THAT(refusal(first, "one"), HasSubstr("write " + *store::find_store_id(store)));
    folder.write("first/store/store.id", *store::find_store_id(store) + "\n");
    check(first, "one");
}

TEST_F(SharedStore, a_file_without_an_id_is_named) {
    for (const std::string& text :
         {std::string(31, 'a'), std::string(32, 'x'), std::string(100, 'a'), std::string("\n\n")}) {
        folder.write("first/store/store.id", text);
        EXPECT_THAT(refusal(first, "one"), HasSubstr("store.id holds no id")) << text;
    }
    EXPECT_FALSE(store::find_store_id(store));
}

TEST_F(SharedStore, a_database_without_an_id_takes_that_of_the_store) {
    const std::string id(32, 'a');
    folder.write("first/store/store.id", id);
    check(first, "one");
    EXPECT_EQ(store::find_store_id(store), id);
}

TEST_F(SharedStore, only_marks_of_living_hosts_of_other_machines_are_looked_for) {
    check(first, "one");
    share();
    register_first("");    // an older version, or it could not write
    check(second, "two");
    register_first(std::string(32, 'b'));
    EXPECT_THAT(refusal(second, "two"), HasSubstr("what the host \"first\" has written"));
    check(second, "one");
    database.sql("update host set heartbeat_at = clock_timestamp() - interval '1 minute'");
    check(second, "two");
}

TEST_F(SharedStore, a_store_that_cannot_be_written_says_so) {
    try {
        check_store_can_be_written(second);
        ADD_FAILURE() << "there is no such folder";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
        EXPECT_THAT(error.what(), HasSubstr(folder_of(second).string() + " cannot be written"));
    }
    EXPECT_EQ(write_store_mark(ArtifactStore("/proc/none"), "first"), "");
}

}    // namespace
}    // namespace slipway
