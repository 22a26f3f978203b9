#include "scheduler/agent/attempt_memory.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

AgentOptions machine(std::int64_t memory_bytes, int cores = 8) {
    AgentOptions options;
    options.memory_bytes = memory_bytes;
    options.cores = cores;
    return options;
}

TEST(AttemptMemory, is_the_share_of_its_cores_unless_the_spec_says_another) {
    const AgentOptions options = machine(16 * gib);
    EXPECT_EQ(attempt_memory_bytes(options, "{}", 1), 2 * gib);
    EXPECT_EQ(attempt_memory_bytes(options, "{}", 8), 16 * gib);
    EXPECT_EQ(attempt_memory_bytes(options, R"({"accelerator": {"memory_bytes": 1000}})", 8), 1000);
    EXPECT_EQ(attempt_memory_bytes(options, R"({"accelerator": {"memory_bytes": null}})", 1),
              2 * gib);
}

TEST(AttemptMemory, is_never_more_than_the_machine_gives_to_jobs) {
    const AgentOptions options = machine(16 * gib);
    EXPECT_EQ(attempt_memory_bytes(options,
                                   R"({"accelerator": {"memory_bytes": 9000000000000000000}})", 1),
              16 * gib);
}

TEST(AttemptMemory, is_unlimited_where_the_machine_has_no_limit_and_the_spec_none) {
    EXPECT_EQ(attempt_memory_bytes(machine(0), "{}", 8), 0);
    EXPECT_EQ(attempt_memory_bytes(machine(0), "not json", 1), 0);
}

}    // namespace
}    // namespace slipway
