// Goal: a member that has met the others can use its connections and make no other, whichever of
// its threads tries; a process that could gain privileges is left as it is.
#include "executor/collectives/library/keep_sockets.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <latch>
#include <thread>

namespace slipway {
namespace {

bool is_refused(int result) {
    return result < 0 && errno == EPERM;
}

bool makes_no_socket() {
    std::array<int, 2> pair{};
    return is_refused(socket(AF_INET, SOCK_STREAM, 0)) &&
           is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) &&
           is_refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()));
}

/// In a process of its own, since there is no way back; the number of the first check that failed.
int try_out() {
    std::array<int, 2> pair{};
    const int free_socket = socket(AF_INET, SOCK_STREAM, 0);
    if (free_socket < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) return 1;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0) {
        keep_sockets();
        if (socket(AF_INET, SOCK_STREAM, 0) < 0) return 2;
    }
    std::latch kept(1);
    bool thread_makes_none = false;
    std::thread thread([&] {
        kept.wait();
        thread_makes_none = makes_no_socket();
    });
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    // The thread began before; it has no_new_privs with the filter.
    keep_sockets();
    kept.count_down();
    thread.join();
    if (!thread_makes_none) return 3;
    if (!makes_no_socket()) return 4;
    sockaddr address{};
    address.sa_family = AF_INET;
    if (!is_refused(connect(free_socket, &address, sizeof address))) return 5;
    if (!is_refused(bind(free_socket, &address, sizeof address))) return 6;
    if (!is_refused(listen(free_socket, 1))) return 7;
    char byte = 'x';
    if (write(pair[0], &byte, 1) != 1 || read(pair[1], &byte, 1) != 1) return 8;
    return 0;
}

TEST(KeepSockets, no_thread_makes_another_connection_and_those_that_are_there_go_on) {
    const pid_t child = fork();
    if (child == 0) _exit(try_out());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}    // namespace
}    // namespace slipway
