// Goal: the agent kills and takes over only processes that it started itself, and all of those.

#include "scheduler/agent/process_records.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "api/base/error.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// A process of its own session, gone with the test.
class Sleeper {
public:
    explicit Sleeper(const TempFolder& folder, const std::string& script = "sleep 1000")
        : process_(spawn({.program = "/bin/sh",
                          .arguments = {"-c", script},
                          .folder = folder.path(),
                          .output = folder.path() / "output.log",
                          .result = {}})) {}
    ~Sleeper() {
        signal_group(process_, SIGKILL);
        eventually([this] { return reap(process_) || !is_alive(); });
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    ProcessId id() const { return process_.id; }
    bool is_alive() const { return open_process(process_.id).has_value(); }

private:
    RunningProcess process_;
};

TEST(ProcessRecords, the_next_agent_reads_what_this_one_kept) {
    const TempFolder folder;
    {
        ProcessRecords records(folder.path() / "processes");
        records.keep("job_1/2", {.id = {.pid = 12, .start_ticks = 345}, .fence = "f00d"});
        records.keep("ds_1", {.id = {.pid = 13, .start_ticks = 346}, .fence = {}});
        records.keep("ds_2", {.id = {.pid = 14, .start_ticks = 347}, .fence = {}});
        records.forget("ds_2");
    }
    const ProcessRecords records(folder.path() / "processes");
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
    const ProcessRecords records(folder.path() / "processes");
    EXPECT_TRUE(records.all().empty());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "processes"));
}

TEST(EndRecorded, the_process_goes_with_everything_it_started) {
    const TempFolder folder;
    const Sleeper sleeper(folder, "sleep 1000 & sleep 1000");
    ASSERT_TRUE(eventually([&] { return session_members(sleeper.id().pid).size() == 3; }));
    const ProcessRecord record{.id = sleeper.id(), .fence = {}};
    EXPECT_FALSE(end_recorded(record)) << "it was there";
    EXPECT_TRUE(eventually([&] { return end_recorded(record); }));
    EXPECT_TRUE(session_members(sleeper.id().pid).empty());
}

TEST(EndRecorded, a_pid_that_is_another_process_s_now_is_left_alone) {
    const TempFolder folder;
    const Sleeper innocent(folder);
    ProcessId id = innocent.id();
    --id.start_ticks;
    EXPECT_TRUE(end_recorded({.id = id, .fence = {}}));
    for (const pid_t pid : {0, 1, -1})
        EXPECT_TRUE(end_recorded({.id = {.pid = pid, .start_ticks = 0}, .fence = {}}));
    EXPECT_TRUE(innocent.is_alive());
}

}    // namespace
}    // namespace slipway
