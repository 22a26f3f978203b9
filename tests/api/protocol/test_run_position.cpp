#include "api/protocol/run_position.h"

#include <gtest/gtest.h>

#include <cstring>

namespace slipway {
namespace {

std::string bytes_of(const RunPosition& position) {
    std::string bytes(sizeof(position), '\0');
    std::memcpy(bytes.data(), &position, sizeof(position));
    return bytes;
}

TEST(RunPosition, what_is_left_is_read) {
    RunPosition position{.step = 7, .epoch = 2, .batch = 3};
    set_phase(position, "transfer_to_device");
    const auto read = read_run_position(bytes_of(position));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->step, 7);
    EXPECT_EQ(read->epoch, 2);
    EXPECT_EQ(read->batch, 3);
    EXPECT_EQ(phase_of(*read), "transfer_to_device");
    EXPECT_EQ(describe(*read), "in step 7, phase transfer_to_device");
    set_phase(position, "open_data");
    EXPECT_EQ(phase_of(position), "open_data") << "nothing of the longer word is left";
    position.step = 0;
    EXPECT_EQ(describe(position), "before the first step, phase open_data");
}

TEST(RunPosition, a_crash_names_its_operation_program_and_replica) {
    RunPosition position{.step = 7};
    set_phase(position, "execute");
    set_program(position, "train_step");
    set_operation(position, "matmul 32x10x64 \x1b[1m", 3);
    const auto read = read_run_position(bytes_of(position));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->replica, 3);
    EXPECT_EQ(program_of(*read), "train_step");
    EXPECT_EQ(operation_of(*read).find('\x1b'), std::string::npos);
    EXPECT_TRUE(describe(*read).starts_with("in step 7, phase execute, in `matmul 32x10x64 "));
    EXPECT_TRUE(describe(*read).ends_with("` of train_step on replica 3"));
    set_operation(position, "sgd", -1);
    EXPECT_EQ(describe(position), "in step 7, phase execute, in `sgd` of train_step");
    set_operation(position, std::string(500, 'x').c_str(), -2);
    EXPECT_EQ(operation_of(position).size(), 119U);
    EXPECT_FALSE(read_run_position(bytes_of(position)));
    set_operation(position, "sgd", 0);
    set_program(position, "7");
    EXPECT_FALSE(read_run_position(bytes_of(position)));
}

TEST(RunPosition, what_an_executor_was_made_to_write_is_no_position) {
    EXPECT_FALSE(read_run_position(""));
    EXPECT_FALSE(read_run_position(std::string(sizeof(RunPosition), '\0'))) << "not begun";
    EXPECT_FALSE(read_run_position(std::string(sizeof(RunPosition), 'a'))) << "negative or endless";
    RunPosition position{.step = 1};
    set_phase(position, "execute");
    EXPECT_TRUE(read_run_position(bytes_of(position)));
    EXPECT_FALSE(read_run_position(bytes_of(position) + "x"));
    position.step = -1;
    EXPECT_FALSE(read_run_position(bytes_of(position)));
    position.step = 1;
    set_phase(position, "exec\nute");
    EXPECT_FALSE(read_run_position(bytes_of(position)));
    set_phase(position, std::string(100, 'x'));
    EXPECT_EQ(phase_of(position).size(), 23U);
}

}    // namespace
}    // namespace slipway
