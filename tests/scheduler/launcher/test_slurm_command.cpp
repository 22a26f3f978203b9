#include <gtest/gtest.h>

#include <cstdlib>

#include "api/base/error.h"
#include "scheduler/launcher/slurm/command.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

TEST(Commands, give_what_they_say_and_how_they_end) {
    const CommandResult result =
        run_command({"sh", "-c", "cat; echo wrong >&2; exit 3"}, {.input = "in\n", .limit = 60s});
    EXPECT_EQ(result.output, "in\n");
    EXPECT_EQ(result.error, "wrong\n");
    EXPECT_EQ(result.status, 3);
    EXPECT_FALSE(result.good());
    EXPECT_TRUE(run_command({"true"}, {.limit = 60s}).good());
    EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, {.limit = 60s}).status, 128 + 9);
}

TEST(Commands, that_take_too_long_are_ended) {
    const CommandResult result = run_command({"sleep", "1000"}, {.limit = 50ms});
    EXPECT_TRUE(result.timed_out);
    EXPECT_FALSE(result.good());
}

TEST(Commands, that_say_too_much_are_heard_in_part_and_end) {
    const CommandResult result = run_command({"sh", "-c", "yes | head -c 3000000; exit 4"},
                                             {.limit = 60s, .output_bytes_max = 1000});
    EXPECT_EQ(result.output.size(), 1000U);
    EXPECT_EQ(result.status, 4);
}

TEST(Commands, know_nothing_of_our_environment_but_where_things_are) {
    setenv("SBATCH_PARTITION", "other", 1);
    setenv("SLURM_CONF", "/some/slurm.conf", 1);
    const CommandResult result = run_command({"env"}, {.limit = 60s});
    unsetenv("SBATCH_PARTITION");
    unsetenv("SLURM_CONF");
    EXPECT_EQ(result.output.find("SBATCH_PARTITION"), std::string::npos);
    EXPECT_NE(result.output.find("SLURM_CONF=/some/slurm.conf"), std::string::npos);
    EXPECT_NE(result.output.find("LC_ALL=C"), std::string::npos);
}

TEST(Commands, that_are_not_there_are_an_error) {
    try {
        run_command({"no-such-program-at-all"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
    }
}

}    // namespace
}    // namespace slipway
