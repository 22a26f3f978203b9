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
