// Goal: a confined program has the one socket that it was given; a member of a slice reaches other
// members by TCP, and no other process.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/base/executor_socket.h"
#include "api/base/posix.h"
#include "scheduler/launcher/confine/paths.h"
#include "tests/scheduler/launcher/confined.h"

namespace slipway {
namespace {

// Goal: it listens where its agent connects, at a socket of its user that it could not make.
TEST_F(Confined, it_inherits_the_socket_at_which_it_listens) {
    confinement.socket_folder = folder.path() / "run";
    const RunningProcess process =
        start(fmt::format("s = socket.socket(fileno=int(os.environ['{}'])); s.setblocking(True); "
                          "print(s.accept()[0].recv(5).decode(), end='')",
                          executor_socket_variable),
              folder.path() / "output");
    std::optional<UniqueFd> agent;
    ASSERT_TRUE(eventually([&] {
        agent = connect_unix(folder.path() / "run", executor_socket_name);
        return agent.has_value();
    }));
    struct stat facts {};
    ASSERT_EQ(stat((folder.path() / "run" / executor_socket_name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, confinement.user.value_or(geteuid()));
    EXPECT_EQ(facts.st_mode & 077, 0U);
    std::string text = "hello";
    EXPECT_TRUE(send_available(*agent, text));
    EXPECT_TRUE(eventually([&] { return reap(process) == 0; }));
    EXPECT_EQ(read_file(folder.path() / "output"), "hello");
    // Nor does it lead anywhere else.
    EXPECT_EQ(
        attempt(fmt::format("socket.socket(fileno=int(os.environ['{}'])).connect('executor.sock')",
                            executor_socket_variable)),
        "PermissionError");
    confinement.connects = true;
    EXPECT_EQ(
        attempt(fmt::format("socket.socket(fileno=int(os.environ['{}'])).connect('executor.sock')",
                            executor_socket_variable)),
        "OSError");
}

TEST_F(Confined, nobody_is_reached_by_network_or_socket) {
    for (const std::string family : {"AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET"})
        EXPECT_EQ(attempt(fmt::format("socket.socket(socket.{}, socket.SOCK_RAW if '{}' != "
                                      "'AF_INET' else socket.SOCK_STREAM)",
                                      family, family)),
                  "PermissionError")
            << family;
    for (const char* type : {"STREAM", "DGRAM", "SEQPACKET"})
        EXPECT_EQ(attempt(fmt::format("socket.socket(socket.AF_UNIX, socket.SOCK_{})", type)),
                  "PermissionError")
            << type;
    EXPECT_EQ(attempt("socket.socketpair()"), "PermissionError");
}

// Goal: a member of a slice reaches the others by TCP, and no process in another way.
TEST_F(Confined, a_member_of_a_slice_connects_by_tcp_alone) {
    confinement.connects = true;
    EXPECT_EQ(run("a = socket.socket(); a.bind(('127.0.0.1', 0)); a.listen(); "
                  "b = socket.create_connection(a.getsockname()); b.sendall(b'done'); "
                  "print(a.accept()[0].recv(4).decode(), end='')"),
              "done");
    for (const char* other :
         {"socket.AF_INET, socket.SOCK_DGRAM", "socket.AF_INET, socket.SOCK_RAW",
          "socket.AF_INET6, socket.SOCK_DGRAM", "socket.AF_PACKET, socket.SOCK_RAW",
          "socket.AF_UNIX, socket.SOCK_DGRAM", "socket.AF_UNIX, socket.SOCK_STREAM",
          "socket.AF_INET, socket.SOCK_STREAM, 262", "socket.AF_INET, socket.SOCK_STREAM, 132"})
        EXPECT_EQ(attempt(fmt::format("socket.socket({})", other)), "PermissionError") << other;
    EXPECT_EQ(attempt("socket.socketpair()"), "PermissionError");
}

/// A listener that is on no port that the system chooses by itself, as services are.
struct Service {
    Service() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        for (port = 20000; port < 30000; ++port) {
            address.sin_port = htons(port);
            if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                    0 &&
                listen(socket.get(), 8) == 0)
                return;
        }
    }
    UniqueFd socket;
    std::uint16_t port = 0;
};

// Goal: of what listens on this machine and others, a member reaches other members alone.
TEST_F(Confined, a_member_of_a_slice_reaches_no_service) {
    const Service service;
    const std::string address = fmt::format("('127.0.0.1', {})", service.port);
    confinement.connects = true;
    EXPECT_EQ(
        attempt(fmt::format("socket.socket().sendto(b'x', socket.MSG_FASTOPEN, {})", address)),
        "PermissionError");
    if (landlock_version() < landlock_with_tcp) GTEST_SKIP() << "the kernel has no Landlock 4";
    EXPECT_EQ(attempt(fmt::format("socket.socket().connect({})", address)), "PermissionError");
    EXPECT_EQ(attempt(fmt::format("socket.socket().bind(('127.0.0.1', {}))", service.port + 1)),
              "PermissionError");
}

}    // namespace
}    // namespace slipway
