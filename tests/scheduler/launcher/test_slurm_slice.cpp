#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "api/base/error.h"
#include "scheduler/launcher/slurm/batch.h"
#include "scheduler/launcher/slurm/job_line.h"
#include "scheduler/launcher/slurm/job_mark.h"
#include "scheduler/launcher/slurm/slice_folder.h"
#include "scheduler/launcher/slurm/slurm_process.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

TEST(SlurmMarks, of_members_say_slice_and_rank) {
    const std::int64_t mark = slice_mark("job_1/2");
    EXPECT_EQ(mark, slice_mark("job_1/2"));
    std::set<std::int64_t> different{mark};
    for (const int rank : {0, 1, 255}) {
        const ProcessId id = id_of_member(17, {.mark = mark, .rank = rank});
        EXPECT_TRUE(is_job(id));
        EXPECT_EQ(id.pid, 17);
        EXPECT_EQ(mark_of(id), mark);
        ASSERT_TRUE(member_of(id));
        EXPECT_EQ(member_of(id)->rank, rank);
    }
    for (int attempt = 3; attempt < 100; ++attempt)
        EXPECT_TRUE(different.insert(slice_mark(fmt::format("job_1/{}", attempt))).second);
}

TEST(SlurmMarks, of_one_program_are_no_member_s) {
    for (int again = 0; again < 1000; ++again) {
        const std::int64_t mark = random_mark();
        const ProcessId id = id_of(17, mark);
        EXPECT_TRUE(is_job(id));
        EXPECT_FALSE(member_of(id));
        EXPECT_EQ(mark_of(id), mark);
    }
    EXPECT_FALSE(is_job({.pid = 17, .start_ticks = 1}));
}

TEST(SlurmSlices, are_one_task_on_each_node_and_end_together) {
    const BatchRequest request{.name = "job_1/2",
                               .comment = "c",
                               .cores = 8,
                               .starter = "/bin/start",
                               .order = "/orders/a b.slice",
                               .nodes = 4,
                               .program_path = "/opt/slurm/bin:/bin"};
    std::string words = fmt::format("{}", fmt::join(submit_command(request, {}), " "));
    for (const char* word :
         {"--nodes=4", "--ntasks=4", "--ntasks-per-node=1", "--cpus-per-task=8", "--hold"})
        EXPECT_NE(words.find(word), std::string::npos) << word;
    const std::string script = batch_script(request);
    EXPECT_TRUE(script.starts_with("#!/bin/sh\nPATH='/opt/slurm/bin:/bin' exec srun ")) << script;
    EXPECT_TRUE(script.ends_with(" '/bin/start' --member '/orders/a b.slice'\n")) << script;
    for (const char* word : {"--kill-on-bad-exit=1", "--ntasks=4", "--ntasks-per-node=1"})
        EXPECT_NE(script.find(word), std::string::npos) << word;
}

TEST(SlurmSlices, what_a_cluster_takes_away_is_told_from_what_ends) {
    for (const char* state : {"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED"})
        EXPECT_TRUE(was_taken_away(state)) << state;
    for (const char* state : {"", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY"})
        EXPECT_FALSE(was_taken_away(state)) << state;
}

std::string order_of_one_of_two(const std::string& program) {
    return to_text({.program = program,
                    .arguments = {},
                    .environment = {},
                    .folder = {},
                    .output = {},
                    .members = 2});
}

class SliceFolders : public testing::Test {
protected:
    TempFolder home;
    const SliceFolder slice{home.path() / "slurm" / "1f.slice"};
};

TEST_F(SliceFolders, hold_an_order_until_its_member_is_known) {
    slice.hold_order(0, order_of_one_of_two("/bin/a"));
    slice.hold_order(1, order_of_one_of_two("/bin/b"));
    EXPECT_EQ(slice.count_let_go(), 0);
    EXPECT_FALSE(std::filesystem::exists(slice.order_of(0)));
    slice.let_go(1);
    slice.let_go(1);    // by the next service
    EXPECT_EQ(slice.count_let_go(), 1);
    EXPECT_EQ(slice.read_order(1)->program, "/bin/b");
    EXPECT_EQ(slice.read_order(0)->members, 2);
    EXPECT_FALSE(slice.read_order(2));
    EXPECT_THROW(slice.let_go(2), Error);
}

TEST_F(SliceFolders, are_for_the_user_of_the_service_alone) {
    slice.hold_order(0, "{}");
    slice.let_go(0);
    for (const auto& path : {slice.path(), slice.order_of(0)}) {
        struct stat facts {};
        ASSERT_EQ(stat(path.c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 077, 0U) << path;
    }
}

TEST_F(SliceFolders, tell_who_failed_first) {
    for (const int rank : {0, 1, 2})
        slice.hold_order(rank, "{}");
    EXPECT_EQ(slice.first_failed_before(0), std::nullopt);
    slice.keep_exit(1, {.status = 137, .ended_ns = 1000, .node = "node2"});
    slice.keep_exit(2, {.status = 1, .ended_ns = 2000, .node = "node3"});
    EXPECT_EQ(slice.exit_of(1)->node, "node2");
    EXPECT_EQ(slice.first_failed_before(1), std::nullopt) << "it is the cause";
    EXPECT_EQ(slice.first_failed_before(2), 1);
    EXPECT_EQ(slice.first_failed_before(0), 1) << "it was ended without a message";
    slice.keep_exit(0, {.status = 0, .ended_ns = 10, .node = "node1"});
    EXPECT_EQ(slice.first_failed_before(1), std::nullopt) << "who has ended well is no cause";
    EXPECT_EQ(slice.count_exits(), 3);
}

TEST_F(SliceFolders, leave_word_that_their_job_has_ended) {
    const auto ended = home.path() / "slurm" / "1f.ended";
    for (const int rank : {0, 1})
        slice.hold_order(rank, "{}");
    SlurmOrders{.file = {}, .slice = slice, .rank = 0}.remove();
    EXPECT_FALSE(std::filesystem::exists(ended)) << "another member is left";
    SlurmOrders{.file = {}, .slice = slice, .rank = 1}.remove();
    EXPECT_TRUE(std::filesystem::exists(ended));
    SlurmOrders{.file = home.path() / "slurm" / "2a.order"}.remove();
    EXPECT_TRUE(std::filesystem::exists(home.path() / "slurm" / "2a.ended"));
}

TEST_F(SliceFolders, are_gone_with_their_last_member) {
    for (const int rank : {0, 1})
        slice.hold_order(rank, "{}");
    slice.let_go(0);
    slice.keep_exit(0, {.status = 0, .ended_ns = 1, .node = {}});
    slice.remove(0);
    EXPECT_TRUE(slice.exit_of(0)) << "the other one may still ask";
    slice.remove(1);
    EXPECT_FALSE(std::filesystem::exists(slice.path()));
}

TEST_F(SliceFolders, know_nothing_from_a_damaged_file) {
    slice.hold_order(0, "no order");
    EXPECT_FALSE(slice.read_order(0));
    for (const char* text : {"", "{", "[]", R"({"status": "x", "ended_ns": 1, "node": ""})"}) {
        std::ofstream(slice.path() / "0.exit") << text;
        EXPECT_FALSE(slice.exit_of(0)) << text;
    }
}

}    // namespace
}    // namespace slipway
