#include "api/base/posix.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <string>

#include "api/base/check.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// Sets the process's umask and puts the one before back.
struct Umask {
    explicit Umask(mode_t mask) : before(umask(mask)) {}
    ~Umask() { umask(before); }
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;

    mode_t before;
};

TEST(ListenUnix, a_socket_is_for_its_owner_alone_whatever_the_umask) {
    const TempFolder folder;
    for (const mode_t mask : {0, 022, 077}) {
        const Umask set(mask);
        const UniqueFd listener = listen_unix(folder.path(), "test.sock");
        struct stat found {};
        ASSERT_EQ(stat((folder.path() / "test.sock").c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & (S_IRWXG | S_IRWXO), 0U) << mask;
        EXPECT_TRUE(found.st_mode & S_IWUSR);
        EXPECT_EQ(umask(mask), mask) << "the umask is as before";
        EXPECT_TRUE(connect_unix(folder.path(), "test.sock"));
    }
}

struct SocketPair {
    SocketPair() {
        int ends[2];
        check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "sockets for a test");
        ours = UniqueFd(ends[0]);
        theirs = UniqueFd(ends[1]);
    }
    /// What has arrived at the other end.
    std::string receive() const {
        std::string received;
        std::array<char, 65536> piece{};
        ssize_t got = 0;
        while ((got = recv(theirs.get(), piece.data(), piece.size(), MSG_DONTWAIT)) > 0)
            received.append(piece.data(), std::size_t(got));
        return received;
    }

    UniqueFd ours;
    UniqueFd theirs;
};

TEST(SendAvailable, keeps_what_a_full_socket_does_not_take_and_sends_it_later) {
    const SocketPair sockets;
    std::string text;
    for (int i = 0; text.size() < (std::size_t{4} << 20); ++i)
        text += std::to_string(i) + "\n";
    const std::string all = text;
    EXPECT_TRUE(send_available(sockets.ours, text));
    EXPECT_FALSE(text.empty()) << "more than a socket takes";
    EXPECT_LT(text.size(), all.size());
    std::string received;
    while (!text.empty()) {
        received += sockets.receive();
        ASSERT_TRUE(send_available(sockets.ours, text));
    }
    EXPECT_EQ(received + sockets.receive(), all);
}

TEST(SendAvailable, sends_nothing_of_an_empty_text) {
    const SocketPair sockets;
    std::string text;
    EXPECT_TRUE(send_available(sockets.ours, text));
    EXPECT_EQ(sockets.receive(), "");
}

TEST(SendAvailable, says_that_the_other_end_is_gone) {
    SocketPair sockets;
    sockets.theirs.reset();
    std::string text = "heartbeat\n";
    EXPECT_FALSE(send_available(sockets.ours, text));
    EXPECT_EQ(text, "heartbeat\n") << "unsent";
}

}    // namespace
}    // namespace slipway
