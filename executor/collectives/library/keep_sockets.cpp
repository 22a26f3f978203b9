// A member needs the network until it has met the others, and reads the files of users only then:
// code that takes over a parser can make no connection. slipway-confine cannot do this, since it
// runs before. A filter on top of its own can only forbid more.
#include "executor/collectives/library/keep_sockets.h"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::array refused{SYS_socket, SYS_socketpair, SYS_bind, SYS_listen, SYS_connect};

constexpr sock_filter statement(std::uint16_t code, std::uint32_t value) {
    return {.code = code, .jt = 0, .jf = 0, .k = value};
}

/// The number of the call decides. Calls of another architecture have been refused before.
auto make_filter() {
    constexpr std::size_t count = refused.size();
    std::array<sock_filter, count + 3> filter{};
    filter[0] = statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (std::size_t i = 0; i < count; ++i)
        filter[i + 1] = {.code = BPF_JMP | BPF_JEQ | BPF_K,
                         .jt = std::uint8_t(count - i),
                         .jf = 0,
                         .k = std::uint32_t(refused[i])};
    filter[count + 1] = statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[count + 2] = statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    return filter;
}

}    // namespace

void keep_sockets() {
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return;
    auto filter = make_filter();
    const sock_fprog program{.len = filter.size(), .filter = filter.data()};
    // Of all threads: Gloo has one of its own. A positive answer is a thread that cannot have it.
    const long result =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (result == 0 || (result < 0 && (errno == ENOSYS || errno == EINVAL))) return;
    throw Error{ErrorCode::unavailable,
                fmt::format("the network cannot be given up: {}",
                            result > 0 ? "a thread has another filter" : std::strerror(errno))};
}

}    // namespace slipway
