// Goal: a socket goes from one run folder to the next, and is made where there is none of ours.

#include "executor/main/frames/frame_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/base/error.h"
#include "api/base/executor_socket.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

class FrameListenerTest : public ::testing::Test {
protected:
    FrameListenerTest() {
        for (const fs::path& run : {first, second})
            fs::create_directories(run);
    }
    static bool is_heard(const fs::path& run) {
        return connect_unix(run, "executor.sock").has_value();
    }

    TempFolder folder;
    const fs::path first = folder.path() / "first", second = folder.path() / "second";
    FrameListener listener;
};

TEST_F(FrameListenerTest, one_that_came_along_is_used_again) {
    const int before = listener.listen_in(first);
    fs::rename(first / "executor.sock", second / "executor.sock");
    EXPECT_TRUE(is_heard(second)) << "before the run begins";
    EXPECT_EQ(listener.listen_in(second), before);
    EXPECT_TRUE(is_heard(second));
}

// Goal: a confined process, which may make no socket, listens at the one that it inherits.
TEST_F(FrameListenerTest, one_that_was_inherited_is_used_once) {
    UniqueFd made = listen_unix(first, executor_socket_name);
    const int inherited = fcntl(made.get(), F_DUPFD, 0);
    made.reset();
    setenv(executor_socket_variable, std::to_string(inherited).c_str(), 1);
    EXPECT_EQ(listener.listen_in(first), inherited);
    EXPECT_TRUE(is_heard(first));
    EXPECT_EQ(fcntl(inherited, F_GETFD), FD_CLOEXEC);
    FrameListener other;
    EXPECT_NE(other.listen_in(second), inherited);
}

TEST_F(FrameListenerTest, one_that_stayed_behind_or_is_not_ours_is_replaced) {
    listener.listen_in(first);
    listener.listen_in(second);
    EXPECT_TRUE(is_heard(second));
    EXPECT_FALSE(is_heard(first)) << "nobody takes its connections";
    fs::remove(second / "executor.sock");
    folder.write("second/executor.sock", "no socket");
    EXPECT_FALSE(is_heard(second));
    listener.listen_in(second);
    EXPECT_TRUE(is_heard(second));
    EXPECT_THROW(listener.listen_in(folder.path() / "absent"), Error);
}

}    // namespace
}    // namespace slipway
