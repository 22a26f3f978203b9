#include "scheduler/launcher/confine/system_calls.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "api/base/error.h"

// An allow-list: a system call of next year's kernel is refused until somebody needs it. Calls
// whose arguments tell harmless from harmful are rules of their own; a pointer cannot be looked
// behind, so what is named by a path is Landlock's work. Killing the process instead of EPERM was
// considered: a library that tries a new call and falls back to an old one would be killed for
// asking.
namespace slipway {

namespace {

constexpr std::array plain{
    // reading, writing, closing
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64),
    SCMP_SYS(pwrite64), SCMP_SYS(preadv), SCMP_SYS(pwritev), SCMP_SYS(preadv2), SCMP_SYS(pwritev2),
    SCMP_SYS(close), SCMP_SYS(close_range), SCMP_SYS(lseek), SCMP_SYS(dup), SCMP_SYS(dup2),
    SCMP_SYS(dup3), SCMP_SYS(flock), SCMP_SYS(sendfile), SCMP_SYS(copy_file_range),
    SCMP_SYS(fadvise64), SCMP_SYS(readahead),
    // files; open and openat are below
    SCMP_SYS(creat), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(stat),
    SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(statfs),
    SCMP_SYS(fstatfs), SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(fchdir),
    SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(mkdir), SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(umask), SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fsync), SCMP_SYS(fdatasync),
    SCMP_SYS(sync_file_range), SCMP_SYS(syncfs),
    // memory; mmap is below
    SCMP_SYS(brk), SCMP_SYS(mprotect), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    SCMP_SYS(mincore), SCMP_SYS(msync), SCMP_SYS(mlock), SCMP_SYS(munlock), SCMP_SYS(membarrier),
    // threads and their CPUs; clone is below
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(set_tid_address), SCMP_SYS(rseq),
    SCMP_SYS(arch_prctl), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_get_priority_min), SCMP_SYS(sched_get_priority_max), SCMP_SYS(getcpu),
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(restart_syscall), SCMP_SYS(execve),
    SCMP_SYS(wait4),
    // signals to itself; kill and tgkill are below
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(sigaltstack), SCMP_SYS(signalfd4), SCMP_SYS(pause),
    // waiting and time
    SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(eventfd2),
    SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(times), SCMP_SYS(alarm), SCMP_SYS(setitimer), SCMP_SYS(getitimer),
    // who it is and what it uses
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid),
    SCMP_SYS(getgid), SCMP_SYS(getegid), SCMP_SYS(getresuid), SCMP_SYS(getresgid),
    SCMP_SYS(getgroups), SCMP_SYS(getpgrp), SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit), SCMP_SYS(getrusage), SCMP_SYS(getrandom),
    // the sockets that it inherits; sending is below, making and connecting is for members alone
    SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(shutdown), SCMP_SYS(getsockname),
    SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg)};

/// Their first argument names a process, and the kernel lets them act on every process of the same
/// user: the service itself, where it is not root. Only 0, the caller, is allowed.
/// sched_getaffinity changes nothing, and the C library calls it with a thread's own number.
constexpr std::array of_the_caller{SCMP_SYS(prlimit64),      SCMP_SYS(sched_setaffinity),
                                   SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler),
                                   SCMP_SYS(getpgid),        SCMP_SYS(getsid)};

/// Conditions on argument `argument`, counted from 0.
scmp_arg_cmp equal(unsigned argument, scmp_datum_t value) {
    return {.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};
}
scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
    return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

class Filter {
public:
    Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM))) {
        require(context_ ? 0 : -ENOMEM, "made");
        // A program of another architecture (32 bit on 64 bit) has other numbers: refused whole.
        require(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_NNP, 1), "made");
    }

    void allow(int call) {
        require(seccomp_rule_add_array(context_.get(), SCMP_ACT_ALLOW, call, 0, nullptr),
                "extended");
    }

    void allow_if(int call, std::vector<scmp_arg_cmp> conditions) {
        require(seccomp_rule_add_array(context_.get(), SCMP_ACT_ALLOW, call,
                                       unsigned(conditions.size()), conditions.data()),
                "extended");
    }

    void answer(int call, int error) {
        require(seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(std::uint32_t(error)), call,
                                       0, nullptr),
                "extended");
    }

    void load() { require(seccomp_load(context_.get()), "loaded"); }

private:
    struct Release {
        void operator()(void* context) const { seccomp_release(context); }
    };

    static void require(int result, const char* what) {
        if (result == 0) return;
        throw Error{ErrorCode::unavailable,
                    fmt::format("the filter of system calls cannot be {}: {}", what,
                                std::strerror(-result))};
    }

    std::unique_ptr<void, Release> context_;
};

/// Before its version 3 Landlock does not govern truncation, so a file is cut only through what was
/// opened for writing, which every version governs: O_TRUNC without it (and truncate) would empty
/// any file of the same user.
void allow_opening(Filter& filter) {
    struct Open {
        int call;
        unsigned flags;    // which argument
    };
    for (const Open open : {Open{SCMP_SYS(open), 1}, Open{SCMP_SYS(openat), 2}}) {
        filter.allow_if(open.call, {masked(open.flags, O_TRUNC, 0)});
        for (const scmp_datum_t mode : {O_WRONLY, O_RDWR})
            filter.allow_if(open.call, {masked(open.flags, O_TRUNC | O_ACCMODE, O_TRUNC | mode)});
    }
    // Its flags are behind a pointer: programs go on with openat.
    filter.answer(SCMP_SYS(openat2), ENOSYS);
}

void allow_memory(Filter& filter) {
    // RLIMIT_DATA counts neither shared anonymous memory nor what grows down like a stack; huge
    // pages are the machine's own reserve.
    constexpr scmp_datum_t bits_seen = MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_HUGETLB;
    for (const scmp_datum_t bits : {0, MAP_SHARED, MAP_ANONYMOUS})
        filter.allow_if(SCMP_SYS(mmap), {masked(3, bits_seen, bits)});
}

/// What libraries ask of a descriptor. Not F_SETOWN, F_SETSIG and O_ASYNC, which send signals to
/// others (before Landlock 6 to every process of the same user); not F_SETLEASE and F_NOTIFY, which
/// hold up whoever opens a file; not locks and F_SETPIPE_SZ, whose memory no limit counts.
void allow_descriptors(Filter& filter) {
    for (const scmp_datum_t command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL})
        filter.allow_if(SCMP_SYS(fcntl), {equal(1, command)});
    filter.allow_if(SCMP_SYS(fcntl), {equal(1, F_SETFL), masked(2, O_ASYNC, 0)});
}

/// Landlock does not govern modes, owners and times of files: nothing of them can be changed, by
/// path or by descriptor. But caches mark by its time what was used: utimensat without a path and
/// without a time sets that of an open file to now.
void allow_marking_as_used(Filter& filter) {
    filter.allow_if(SCMP_SYS(utimensat), {equal(1, 0), equal(2, 0)});
}

void allow_threads(Filter& filter) {
    filter.allow_if(SCMP_SYS(clone), {masked(0, CLONE_THREAD, CLONE_THREAD)});
    // Its flags are behind a pointer; without it the C library takes clone.
    filter.answer(SCMP_SYS(clone3), ENOSYS);
    const auto self = scmp_datum_t(getpid());    // stays the same through execve
    filter.allow_if(SCMP_SYS(kill), {equal(0, self)});
    filter.allow_if(SCMP_SYS(tgkill), {equal(0, self)});
    for (const scmp_datum_t option : {PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_SET_NO_NEW_PRIVS})
        filter.allow_if(SCMP_SYS(prctl), {equal(0, option)});
}

void allow_terminals_and_sending(Filter& filter) {
    for (const scmp_datum_t request : {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX})
        filter.allow_if(SCMP_SYS(ioctl), {equal(1, request)});
    // With this flag a message connects first, and nothing that governs connect sees it.
    filter.allow_if(SCMP_SYS(sendto), {masked(3, MSG_FASTOPEN, 0)});
    filter.allow_if(SCMP_SYS(sendmsg), {masked(2, MSG_FASTOPEN, 0)});
}

/// Of a member of a slice: it connects to the others, and Gloo asks for the interface of its
/// address by a netlink socket, with which a process without privileges can only read. Never a Unix
/// socket: the database's and the machine's are Unix sockets, and no filter sees an address. Of
/// TCP, Landlock sees the port, but not that of its relatives such as MPTCP.
void allow_connections(Filter& filter) {
    constexpr scmp_datum_t type_bits = 0xf;    // flags are beside them
    for (const scmp_datum_t family : {AF_INET, AF_INET6})
        for (const scmp_datum_t protocol : {0, int(IPPROTO_TCP)})
            filter.allow_if(SCMP_SYS(socket), {equal(0, family), masked(1, type_bits, SOCK_STREAM),
                                               equal(2, protocol)});
    filter.allow_if(SCMP_SYS(socket), {equal(0, AF_NETLINK), equal(2, NETLINK_ROUTE)});
    for (const int call : {SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(connect),
                           SCMP_SYS(setsockopt), SCMP_SYS(epoll_create)})
        filter.allow(call);
    // Once it has met the others it takes all this from itself (executor/collectives/library).
    filter.allow_if(SCMP_SYS(prctl), {equal(0, PR_GET_NO_NEW_PRIVS)});
    filter.allow_if(SCMP_SYS(seccomp),
                    {equal(0, SECCOMP_SET_MODE_FILTER), equal(1, SECCOMP_FILTER_FLAG_TSYNC)});
}

}    // namespace

bool has_system_call_filters() {
    const unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool allow_system_calls(bool connects) {
    if (!has_system_call_filters()) return false;
    Filter filter;
    for (const int call : plain)
        filter.allow(call);
    for (const int call : of_the_caller)
        filter.allow_if(call, {equal(0, 0)});
    allow_opening(filter);
    allow_memory(filter);
    allow_marking_as_used(filter);
    allow_descriptors(filter);
    allow_threads(filter);
    allow_terminals_and_sending(filter);
    if (connects) allow_connections(filter);
    filter.load();
    return true;
}

}    // namespace slipway
