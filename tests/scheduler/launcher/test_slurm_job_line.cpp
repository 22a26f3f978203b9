#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>

#include "scheduler/launcher/slurm/job_line.h"

namespace slipway {
namespace {

std::string line(const std::string& number, const std::string& state, int status,
                 const std::string& reason, const std::string& comment, const std::string& node) {
    return fmt::format("{:<24}|{:<32}|{:<16}|{:<128}|{:<128}|{:<128}|{:<256}|\n", number, state,
                       status, reason, comment, node, node == "n/a" ? "" : node);
}

SlurmJobLine ended(const std::string& state, int wait_status, const std::string& node = "node1") {
    return {.number = 1,
            .state = state,
            .wait_status = wait_status,
            .reason = {},
            .comment = {},
            .node = node};
}

TEST(SlurmJobLines, are_read_as_squeue_writes_them) {
    const auto jobs =
        parse_job_lines(line("17", "PENDING", 0, "JobHeldUser", "slipway 1f host", "n/a") +
                        line("18", "FAILED", 768, "NonZeroExitCode", "(null)", "node2"));
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0], (SlurmJobLine{.number = 17,
                                     .state = "PENDING",
                                     .wait_status = 0,
                                     .reason = "JobHeldUser",
                                     .comment = "slipway 1f host",
                                     .node = {}}));
    EXPECT_EQ(jobs[1].wait_status, 768);
    EXPECT_EQ(jobs[1].node, "node2");
    EXPECT_EQ(jobs[1].nodes, "node2");
    EXPECT_TRUE(parse_job_lines("").empty());
}

// Goal: whatever others write into their comments, ours are found.
TEST(SlurmJobLines, of_another_form_hide_no_other_one) {
    std::string odd = line("20", "RUNNING", 0, "None", "broken", "node1");
    odd.insert(odd.find("broken"), "a line\nbreak | ");
    const auto jobs = parse_job_lines(odd + "\n|||\n" + line("3_4", "RUNNING", 0, "", "", "n/a") +
                                      line("21", "RUNNING", 0, "None", "ours", "node1"));
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].number, 20);
    EXPECT_EQ(stage_of(jobs[0].state), SlurmStage::running) << "not known to have ended";
    EXPECT_EQ(jobs[1].comment, "ours");
}

TEST(SlurmJobLines, lists_of_nodes_are_written_out) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(expand_nodes("n1"), (Names{"n1"}));
    EXPECT_EQ(expand_nodes("n[1-3,07],big,m[09-11]"),
              (Names{"n1", "n2", "n3", "n07", "big", "m09", "m10", "m11"}));
    EXPECT_EQ(expand_nodes("a,n[1-2"), (Names{"a"})) << "what was cut";
    EXPECT_TRUE(expand_nodes("").empty());
}

TEST(SlurmJobLines, a_state_that_is_not_known_is_no_end) {
    for (const char* state : {"", "RUNNING", "COMPLETING", "STAGE_OUT", "SUSPENDED", "NEW_IN_2030"})
        EXPECT_EQ(stage_of(state), SlurmStage::running) << state;
    for (const char* state : {"PENDING", "CONFIGURING"})
        EXPECT_EQ(stage_of(state), SlurmStage::waiting) << state;
    for (const char* state :
         {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"})
        EXPECT_EQ(stage_of(state), SlurmStage::ended) << state;
}

TEST(SlurmJobLines, say_how_the_program_ended_where_slurm_knows) {
    EXPECT_EQ(exit_of_job(ended("COMPLETED", 0))->status, 0);
    EXPECT_EQ(exit_of_job(ended("FAILED", 3 << 8))->status, 3);
    const auto killed = exit_of_job(ended("FAILED", SIGKILL));
    EXPECT_EQ(killed->status, 128 + SIGKILL);
    EXPECT_TRUE(killed->killed);
    EXPECT_TRUE(exit_of_job(ended("FAILED", SIGXCPU))->exceeded_cpu);
    EXPECT_EQ(exit_of_job(ended("NODE_FAIL", 0)), std::nullopt);
    EXPECT_EQ(exit_of_job(ended("CANCELLED", 0, "")), std::nullopt) << "it never ran";
}

}    // namespace
}    // namespace slipway
