// Goal: the agent kills and takes over only processes that it started itself, and all of those.

#include "scheduler/agent/process_records.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "api/base/error.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

TEST(ProcessRecords, the_next_agent_reads_what_this_one_kept) {
    const TempFolder folder;
    {
        ProcessRecords records(folder.path() / "processes", "boot_1");
        records.keep("job_1/2", {.id = {.pid = 12, .start_ticks = 345}, .fence = "f00d"});
        records.keep("ds_1", {.id = {.pid = 13, .start_ticks = 346}, .fence = {}});
        records.keep("ds_2", {.id = {.pid = 14, .start_ticks = 347}, .fence = {}});
        records.forget("ds_2");
    }
    const ProcessRecords records(folder.path() / "processes", "boot_1");
    EXPECT_EQ(records.all().size(), 2U);
    const auto found = records.find("job_1/2");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, (ProcessId{.pid = 12, .start_ticks = 345}));
    EXPECT_EQ(found->fence, "f00d");
    EXPECT_FALSE(records.find("ds_2"));
    struct stat facts {};
    ASSERT_EQ(stat((folder.path() / "processes").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700U) << "the agent's alone";
}

// Goal: a file that is used again says nothing of the process that it was of.
TEST(ProcessRecords, files_of_forgotten_ones_are_used_again) {
    const TempFolder folder;
    const std::filesystem::path kept = folder.path() / "processes";
    const auto names = [&kept] {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(kept))
            found.push_back(entry.path().filename());
        return found;
    };
    {
        ProcessRecords records(kept, "boot_1", 2);
        records.keep("a_name_that_is_much_longer/1",
                     {.id = {.pid = 12, .start_ticks = 3}, .fence = {}});
        records.forget("a_name_that_is_much_longer/1");
        records.forget("a_name_that_is_much_longer/1");
        ASSERT_EQ(names().size(), 1U);
        records.keep("job_1/1", {.id = {.pid = 13, .start_ticks = 4}, .fence = "f00d"});
        EXPECT_EQ(names(), std::vector<std::string>{"job_1.1.json"});
        records.keep("job_2/1", {.id = {.pid = 14, .start_ticks = 5}, .fence = "f00d"});
        records.keep("job_3/1",
                     {.id = {.pid = 15, .start_ticks = 6}, .fence = std::string(1000, 'f')});
        records.forget("job_2/1");
        records.forget("job_3/1");
        EXPECT_EQ(names().size(), 2U) << "one that is too long to be written over is removed";
    }
    const ProcessRecords records(kept, "boot_1");
    EXPECT_EQ(records.all().size(), 1U);
    EXPECT_EQ(records.find("job_1/1")->id, (ProcessId{.pid = 13, .start_ticks = 4}));
    EXPECT_EQ(names().size(), 1U) << "nobody knows the others";
}

TEST(ProcessRecords, a_spare_file_that_is_gone_is_no_loss) {
    const TempFolder folder;
    ProcessRecords records(folder.path() / "processes", "boot_1", 2);
    records.keep("job_1/1", {.id = {.pid = 12, .start_ticks = 3}, .fence = {}});
    records.forget("job_1/1");
    std::filesystem::remove_all(folder.path() / "processes");
    records.keep("job_2/1", {.id = {.pid = 13, .start_ticks = 4}, .fence = {}});
    EXPECT_TRUE(ProcessRecords(folder.path() / "processes", "boot_1").find("job_2/1"));
}

TEST(ProcessRecords, damage_and_records_of_another_start_of_the_machine_are_removed) {
    const TempFolder folder;
    folder.write("processes/a.json", "");
    folder.write("processes/b.json", R"({"name": "ds_1", "pid": "12"})");
    folder.write("processes/c.json",
                 R"({"name":"ds_1","pid":12,"start_ticks":1,"fence":"","boot":"another"})");
    const ProcessRecords records(folder.path() / "processes", "boot_1");
    EXPECT_TRUE(records.all().empty());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "processes"));
}

TEST(ProcessRecords, what_runs_on_other_machines_outlives_a_start_of_this_one) {
    const TempFolder folder;
    {
        ProcessRecords records(folder.path() / "processes", "boot_1");
        records.keep("job_1/2", {.id = {.pid = 17, .start_ticks = -345}, .fence = "f00d"});
        records.keep("job_2/1", {.id = {.pid = 18, .start_ticks = 345}, .fence = "f00d"});
    }
    const ProcessRecords records(folder.path() / "processes", "boot_2");
    EXPECT_TRUE(records.find("job_1/2"));
    EXPECT_FALSE(records.find("job_2/1"));
}

}    // namespace
}    // namespace slipway
