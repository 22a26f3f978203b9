#include <gtest/gtest.h>

#include <algorithm>

#include "api/base/error.h"
#include "scheduler/launcher/slurm/batch.h"
#include "scheduler/launcher/slurm/start_order.h"

namespace slipway {
namespace {

bool holds(const std::vector<std::string>& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
}

TEST(SlurmBatch, what_is_submitted_is_held_and_never_requeued) {
    const std::vector<std::string> words =
        submit_command({.name = "job_1/2",
                        .comment = "slipway 1f host",
                        .cores = 4,
                        .memory_bytes = (std::int64_t{3} << 20) + 1,
                        .starter = "/bin/start",
                        .order = "/orders/1f.order"},
                       {.partition = "main", .options = {"--account=ml"}});
    EXPECT_EQ(words.front(), "sbatch");
    for (const char* word : {"--hold", "--no-requeue", "--partition=main", "--account=ml",
                             "--job-name=job_1/2", "--comment=slipway 1f host", "--cpus-per-task=4",
                             "--mem=4M", "--output=/dev/null", "--error=/dev/null", "--export=ALL"})
        EXPECT_TRUE(holds(words, word)) << word;
}

TEST(SlurmBatch, nodes_are_left_out_beside_those_that_the_operator_leaves_out) {
    const std::vector<std::string> words = submit_command(
        {.name = "a", .comment = "b", .starter = "s", .order = "o", .excluded = {"n1", "n2"}},
        {.options = {"--exclude=n9", "--qos=low"}});
    EXPECT_TRUE(holds(words, "--exclude=n1,n2,n9"));
    EXPECT_FALSE(holds(words, "--exclude=n9")) << "sbatch takes the last one alone";
    EXPECT_TRUE(holds(words, "--qos=low"));
}

TEST(SlurmBatch, without_a_limit_of_memory_the_partition_s_own_holds) {
    const std::vector<std::string> words = submit_command(
        {.name = "a", .comment = "b", .cores = 1, .memory_bytes = 0, .starter = "s", .order = "o"},
        {});
    EXPECT_TRUE(std::ranges::none_of(
        words, [](const std::string& word) { return word.starts_with("--mem"); }));
}

TEST(SlurmBatch, a_script_runs_the_starter_whatever_its_path_holds) {
    EXPECT_EQ(batch_script({.name = {},
                            .comment = {},
                            .cores = 1,
                            .memory_bytes = 0,
                            .starter = "/a b/start",
                            .order = "/it's $(here)/x.order"}),
              "#!/bin/sh\nexec '/a b/start' '/it'\\''s $(here)/x.order'\n");
}

TEST(SlurmBatch, options_say_where_a_job_runs_and_not_what) {
    EXPECT_EQ(parse_batch_options("  --account=ml   --exclusive "),
              (std::vector<std::string>{"--account=ml", "--exclusive"}));
    EXPECT_TRUE(parse_batch_options("").empty());
    for (const char* refused :
         {"--output=/etc/passwd", "--export=ALL", "--requeue", "--chdir=/", "script.sh", "-p main",
          "--account ml", "--wrap=id", "--uid=0", "--array=1-9", "--comment=x", "--mem=1"}) {
        try {
            parse_batch_options(refused);
            ADD_FAILURE() << refused;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        }
    }
}

TEST(SlurmBatch, the_number_is_what_sbatch_says_and_nothing_else) {
    EXPECT_EQ(read_submitted("17\n"), 17);
    EXPECT_EQ(read_submitted("17;cluster\n"), 17);
    for (const char* other : {"", "\n", "0\n", "-1\n", "17x\n", "Submitted batch job 17\n"})
        EXPECT_EQ(read_submitted(other), std::nullopt) << other;
}

TEST(StartOrders, are_read_as_they_were_written) {
    const StartOrder order{.program = "/bin/program",
                           .arguments = {"--read", "/a b", "'\"\n"},
                           .environment = {"PATH=/bin", "EMPTY="},
                           .folder = "/run",
                           .output = "/run/output.log",
                           .result = "/run/report.json",
                           .lock = "/run/lock"};
    EXPECT_EQ(read_start_order(to_text(order)), order);
    for (const char* other : {"", "{", "[]", "{}", "1",
                              R"({"program": 1, "arguments": [], "environment": [], "folder": "",
                                  "output": "", "result": "", "lock": ""})"})
        EXPECT_EQ(read_start_order(other), std::nullopt) << other;
}

}    // namespace
}    // namespace slipway
