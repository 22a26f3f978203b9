// Goal: the agent kills and takes over only processes that it started itself, and all of those.

#include "scheduler/agent/process_records.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
