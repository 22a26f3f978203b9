// Goal: a confined program can do what an executor must, and nothing of what a hostile one would.
// Method: Python under slipway-confine, one attempt each; the reason of its refusal is part of the
// expectation, so that a script that fails for another reason does not count.

#include "scheduler/launcher/confinement.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "scheduler/launcher/confine/features.h"
#include "scheduler/launcher/hand_over.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/process.h"
#include "tests/scheduler/launcher/confined.h"
#include "tests/scheduler/launcher/exit_of.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

TEST_F(Confined, what_an_executor_needs_works) {
    EXPECT_EQ(run("print(open('../data/sample').read(), end='')"), "a sample");
    EXPECT_EQ(run("os.mkdir('a'); open('a/b', 'w').write('x'); os.rename('a/b', 'c'); "
                  "open('c', 'r+').truncate(); open('c', 'w'); os.remove('c'); os.rmdir('a'); "
                  "print('done', end='')"),
              "done");
    EXPECT_EQ(run("import threading; t = threading.Thread(target=lambda: print('done', end='')); "
                  "t.start(); t.join()"),
              "done");
    EXPECT_EQ(run("import mmap; m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE); "
                  "print(len(m), end='')"),
              "4096");
}

TEST_F(Confined, files_that_are_not_listed_do_not_exist) {
    for (const std::string path :
         {"../secret/token", "/etc/passwd", "/etc/shadow", "/proc/1/status", "/proc/1/environ",
          "/root", "/tmp", "/var", "/", "/proc/self", "/proc/self/net/tcp", "/proc/self/net/unix",
          "/proc/self/task", "/proc/self/mountinfo", "/proc/net/tcp", "/proc/self/fdinfo/0"})
        EXPECT_EQ(attempt(fmt::format("os.listdir('{0}') if os.path.isdir('{0}') else "
                                      "open('{0}').read()",
                                      path)),
                  "PermissionError")
            << path;
    EXPECT_EQ(attempt("open('../data/sample', 'w')"), "PermissionError");
    EXPECT_EQ(attempt("os.truncate('../data/sample', 0)"), "PermissionError");
    EXPECT_EQ(attempt("os.remove('../data/sample')"), "PermissionError");
    EXPECT_EQ(attempt("os.rename('../data/sample', 'mine')"), "PermissionError");
    EXPECT_EQ(read_file(folder.path() / "data/sample"), "a sample");
}

TEST_F(Confined, modes_owners_times_and_attributes_of_files_stay) {
    const fs::path token = folder.path() / "secret" / "token";
    const auto facts = [&] {
        struct stat found {};
        EXPECT_EQ(stat(token.c_str(), &found), 0);
        return fmt::format("{:o} {} {}.{}", found.st_mode, found.st_uid, found.st_mtim.tv_sec,
                           found.st_mtim.tv_nsec);
    };
    const std::string before = facts();
    folder.write("run/mine", "x");
    if (confinement.user) hand_over(folder.path() / "run" / "mine", *confinement.user);
    for (const std::string path : {"../secret/token", "../secret", "../data/sample", "mine"}) {
        for (const char* call :
             {"chmod('{}', 0o666)", "chown('{}', os.getuid(), os.getgid())", "utime('{}', (1, 1))",
              "utime('{}')", "setxattr('{}', 'user.x', b'x')", "removexattr('{}', 'user.x')",
              "chmod(os.path.basename('{0}'), 0o666, dir_fd=os.open(os.path.dirname('{0}') or '.', "
              "os.O_PATH))"}) {
            EXPECT_EQ(attempt("os." + fmt::format(fmt::runtime(call), path)), "PermissionError")
                << call << path;
        }
    }
    // Nor by a descriptor, which reading a file gives.
    for (const char* call : {"os.fchmod(f, 0)", "os.fchown(f, os.getuid(), os.getgid())",
                             "os.utime(f, (1, 1))", "os.setxattr(f, 'user.x', b'x')"}) {
        EXPECT_EQ(attempt(fmt::format("f = os.open('../data/sample', os.O_RDONLY); {}", call)),
                  "PermissionError")
            << call;
    }
    EXPECT_EQ(facts(), before);
    // What caches need: an open file was used now.
    EXPECT_EQ(attempt("os.utime(os.open('mine', os.O_RDONLY))"), "done");
}

TEST_F(Confined, a_file_is_cut_only_through_what_was_opened_for_writing) {
    for (const std::string path : {"../secret/token", "../data/sample"}) {
        EXPECT_EQ(attempt(fmt::format("os.truncate('{}', 0)", path)), "PermissionError") << path;
        for (const char* mode : {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"})
            EXPECT_EQ(attempt(fmt::format("os.open('{}', os.O_TRUNC | os.{})", path, mode)),
                      "PermissionError")
                << path << mode;
        // Python opens by openat; open is a call of its own.
        EXPECT_EQ(run(fmt::format("libc = ctypes.CDLL(None, use_errno=True); "
                                  "print(libc.syscall(2, b'{}', os.O_TRUNC), ctypes.get_errno(), "
                                  "end='')",
                                  path)),
                  "-1 1");
    }
    EXPECT_EQ(read_file(folder.path() / "secret/token"), "a token");
    EXPECT_EQ(read_file(folder.path() / "data/sample"), "a sample");
    // Landlock of every version governs this way; its own file is a file like any other.
    EXPECT_EQ(attempt("open('mine', 'w').write('x'); os.open('mine', os.O_TRUNC)"),
              "PermissionError");
    EXPECT_EQ(attempt("os.open('mine', os.O_TRUNC | os.O_RDWR)"), "done");
    EXPECT_EQ(run("libc = ctypes.CDLL(None, use_errno=True); "
                  "print(libc.syscall(437, -100, b'mine', 0, 0), ctypes.get_errno(), end='')"),
              "-1 38")
        << "openat2: its flags cannot be seen";
}

TEST_F(Confined, no_link_leads_out_and_none_can_be_left_for_others) {
    fs::create_symlink(folder.path() / "secret" / "token", folder.path() / "run" / "link");
    EXPECT_EQ(attempt("open('link').read()"), "PermissionError");
    EXPECT_EQ(attempt("os.symlink('/etc/passwd', 'made')"), "PermissionError");
    EXPECT_EQ(attempt("os.link('../data/sample', 'made')"), "PermissionError");
    EXPECT_EQ(attempt("os.mkfifo('made')"), "PermissionError");
    EXPECT_FALSE(fs::exists(fs::symlink_status(folder.path() / "run" / "made")));
}

TEST_F(Confined, no_process_is_made_and_none_is_signalled) {
    const pid_t ours = getpid();
    EXPECT_EQ(attempt("os.fork()"), "PermissionError");
    EXPECT_EQ(attempt("os.posix_spawn('/usr/bin/python3', ['x'], {})"), "PermissionError");
    EXPECT_EQ(attempt(fmt::format("os.kill({}, 0)", ours)), "PermissionError");
    EXPECT_EQ(attempt("os.kill(-1, 9)"), "PermissionError");
    EXPECT_EQ(attempt(fmt::format("os.pidfd_open({})", ours)), "PermissionError");
    EXPECT_EQ(attempt("os.kill(os.getpid(), 0)"), "done");
}

TEST_F(Confined, a_descriptor_sends_no_signals_and_holds_nobody_up) {
    const std::string file = "import fcntl, signal; f = open('mine', 'w'); fcntl.fcntl(f, fcntl.";
    for (const char* command :
         {"F_SETOWN, os.getppid())", "F_SETOWN, os.getpid())", "F_GETOWN)",
          "F_SETSIG, signal.SIGKILL)", "F_SETFL, os.O_ASYNC)",
          "F_SETFL, os.O_ASYNC | os.O_NONBLOCK)", "F_SETLEASE, fcntl.F_WRLCK)",
          "F_NOTIFY, fcntl.DN_MODIFY)", "F_SETPIPE_SZ, 1 << 20)"}) {
        EXPECT_EQ(attempt(file + command), "PermissionError") << command;
    }
    EXPECT_EQ(attempt("import fcntl; fcntl.lockf(open('mine', 'w'), fcntl.LOCK_EX)"),
              "PermissionError");
    EXPECT_EQ(attempt("import fcntl, termios; "
                      "fcntl.ioctl(os.pipe()[0], 0x5452, (1).to_bytes(4, 'little'))"),
              "PermissionError")
        << "FIOASYNC";
    for (const char* command : {"F_GETFD)", "F_SETFD, fcntl.FD_CLOEXEC)", "F_GETFL)",
                                "F_SETFL, os.O_NONBLOCK)", "F_DUPFD_CLOEXEC, 9)", "F_DUPFD, 9)"}) {
        EXPECT_EQ(attempt(file + command), "done") << command;
    }
    EXPECT_EQ(attempt("import fcntl; fcntl.flock(open('mine', 'w'), fcntl.LOCK_EX)"), "done");
}

TEST_F(Confined, no_other_process_is_changed) {
    const Sibling sibling{start("import time; print('up', flush=True); time.sleep(1000)",
                                folder.path() / "output_of_sibling")};
    const pid_t other = sibling.process.id.pid;
    ASSERT_TRUE(
        eventually([&] { return read_file(folder.path() / "output_of_sibling") == "up\n"; }));
    const std::string limits = sibling.limits();
    for (const char* limit : {"NOFILE, (0, 0)", "CPU, (1, 1)", "CORE"}) {
        EXPECT_EQ(attempt(fmt::format("import resource; resource.prlimit({}, resource.RLIMIT_{})",
                                      other, limit)),
                  "PermissionError")
            << limit;
    }
    for (const char* call :
         {"sched_setaffinity({}, os.sched_getaffinity(0))", "setpriority(os.PRIO_PROCESS, {}, 19)",
          "sched_getparam({})", "sched_getscheduler({})", "getpgid({})", "getsid({})"}) {
        EXPECT_EQ(attempt("os." + fmt::format(fmt::runtime(call), other)), "PermissionError")
            << call;
    }
    EXPECT_EQ(sibling.limits(), limits);
    // Its own it may lower, and it may keep a thread on a CPU.
    EXPECT_EQ(attempt("import resource; resource.prlimit(0, resource.RLIMIT_NOFILE, (99, 99))"),
              "done");
    EXPECT_EQ(attempt("os.sched_setaffinity(0, os.sched_getaffinity(0))"), "done");
}

TEST_F(Confined, it_sees_what_the_system_says_of_itself) {
    for (const char* name : {"maps", "status", "stat", "statm", "oom_score_adj"})
        EXPECT_EQ(attempt(fmt::format("assert open('/proc/self/{}').read()", name)), "done")
            << name;
}

TEST_F(Confined, there_is_no_way_back_to_privileges) {
    const std::string status = run("print(open('/proc/self/status').read())");
    for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
        EXPECT_NE(status.find(fmt::format("{}:\t0000000000000000", set)), std::string::npos) << set;
    EXPECT_NE(status.find("NoNewPrivs:\t1"), std::string::npos);
    EXPECT_NE(status.find("Seccomp:\t2"), std::string::npos);
    if (geteuid() == 0) {
        EXPECT_NE(status.find("CapBnd:\t0000000000000000"), std::string::npos);
        EXPECT_NE(status.find(fmt::format("Uid:\t{0}\t{0}\t{0}\t{0}", test_user)),
                  std::string::npos);
    }
    EXPECT_EQ(attempt("os.setuid(0)"), "PermissionError");
    EXPECT_EQ(attempt("os.chroot('.')"), "PermissionError");
    EXPECT_EQ(run("print(open('/proc/self/oom_score_adj').read().strip(), end='')"), "500");
}

TEST_F(Confined, system_calls_that_no_executor_needs_are_refused) {
    struct Call {
        const char* name;
        int number;
    };
    for (const Call call : {Call{"ptrace", 101},
                            Call{"process_vm_readv", 310},
                            Call{"mount", 165},
                            Call{"unshare", 272},
                            Call{"setns", 308},
                            Call{"bpf", 321},
                            Call{"perf_event_open", 298},
                            Call{"keyctl", 250},
                            Call{"add_key", 248},
                            Call{"io_uring_setup", 425},
                            Call{"userfaultfd", 323},
                            Call{"kexec_load", 246},
                            Call{"init_module", 175},
                            Call{"memfd_create", 319},
                            Call{"shmget", 29},
                            Call{"reboot", 169},
                            Call{"personality", 135},
                            Call{"pidfd_send_signal", 424},
                            Call{"vfork", 58},
                            Call{"setsockopt", 54},
                            Call{"truncate", 76},
                            Call{"chmod", 90},
                            Call{"fchmod", 91},
                            Call{"fchmodat", 268},
                            Call{"fchmodat2", 452},
                            Call{"chown", 92},
                            Call{"fchown", 93},
                            Call{"lchown", 94},
                            Call{"fchownat", 260},
                            Call{"utime", 132},
                            Call{"utimes", 235},
                            Call{"futimesat", 261},
                            Call{"setxattr", 188},
                            Call{"lsetxattr", 189},
                            Call{"fsetxattr", 190},
                            Call{"removexattr", 197},
                            Call{"setxattrat", 463},
                            Call{"sched_setscheduler", 144},
                            Call{"sched_setparam", 142},
                            Call{"sched_setattr", 314},
                            Call{"ioprio_set", 251},
                            Call{"get_robust_list", 274},
                            Call{"migrate_pages", 256},
                            Call{"move_pages", 279},
                            Call{"inotify_init1", 294}}) {
        EXPECT_EQ(run(fmt::format("libc = ctypes.CDLL(None, use_errno=True); "
                                  "print(libc.syscall({}, 0, 0, 0, 0, 0, 0), "
                                  "ctypes.get_errno(), end='')",
                                  call.number)),
                  "-1 1")
            << call.name;
    }
    EXPECT_EQ(attempt("import mmap; mmap.mmap(-1, 4096)"), "PermissionError") << "shared memory";
}

TEST_F(Confined, limits_hold) {
    confinement.limits = {.memory_bytes = 256 << 20, .file_bytes = 1 << 20, .cpu_seconds = 1};
    EXPECT_EQ(attempt("bytearray(1 << 30)"), "MemoryError");
    EXPECT_EQ(attempt("bytearray(1 << 26)"), "done");
    EXPECT_EQ(attempt("import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 40,) * 2)"),
              "ValueError");
    EXPECT_EQ(attempt("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
                      "open('large', 'wb').write(bytes(2 << 20))"),
              "OSError");
    EXPECT_LE(fs::file_size(folder.path() / "run" / "large"), 1 << 20);
    EXPECT_EQ(run("while True: pass"), fmt::format(" status {}", 128 + SIGXCPU));
}

TEST_F(Confined, memory_that_its_limit_does_not_count_is_refused_or_bounded) {
    confinement.limits = {.memory_bytes = 256 << 20};
    const std::string map =
        "import mmap; libc = ctypes.CDLL(None, use_errno=True); m = libc.mmap; "
        "m.restype = ctypes.c_void_p; "
        "m.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]; "
        "failed = 2**64 - 1; got = lambda flags, size: m(None, size, 3, flags, -1, 0) != failed; ";
    constexpr int map_private = 0x22, shared = 0x21, grows_down = 0x100, huge = 0x40000;
    EXPECT_EQ(run(map + fmt::format("print(got({}, 4096), end='')", map_private)), "True");
    for (const int flags : {shared, shared | 0x2, map_private | grows_down, shared | grows_down,
                            map_private | huge, map_private | grows_down | 0x20000}) {
        EXPECT_EQ(run(map + fmt::format("print(got({}, 4096), ctypes.get_errno(), end='')", flags)),
                  "False 1")
            << flags;
    }
    // Written, then made read-only: no longer counted. The sum of all addresses ends it.
    EXPECT_EQ(run(map + "libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, "
                        "ctypes.c_int]\n"
                        "taken = 0\n"
                        "while taken < 200 << 30:\n"
                        "  a = m(None, 128 << 20, 3, 0x4022, -1, 0)\n"
                        "  if a == failed or libc.mprotect(a, 128 << 20, 1) != 0: break\n"
                        "  taken += 128 << 20\n"
                        "print(1 << 30 < taken < 97 << 30, end='')"),
              "True");
    const std::string set = "import resource; resource.setrlimit(resource.RLIMIT_";
    EXPECT_EQ(attempt(set + "AS, (1 << 45,) * 2)"), "ValueError");
    EXPECT_EQ(attempt(set + "STACK, (9 << 20,) * 2)"), "ValueError") << "stacks are not counted";
    EXPECT_EQ(attempt(set + "NOFILE, (4097,) * 2)"), "ValueError") << "nor are pipes";
}

TEST_F(Confined, what_cannot_be_run_says_why) {
    program = "/usr/bin/absent";
    EXPECT_EQ(
        run(""),
        "slipway-confine: cannot run /usr/bin/absent: No such file or directory\n status 126");
}

// Goal: a service that root starts from a clone in /root runs executors, whose users cannot enter
// it.
TEST_F(Confined, a_program_runs_below_a_folder_that_its_user_cannot_enter) {
    const fs::path hidden = folder.path() / "hidden";
    fs::create_directories(hidden);
    fs::copy_file("/bin/echo", hidden / "echo");
    fs::permissions(hidden, fs::perms(0700));
    program = hidden / "echo";
    EXPECT_EQ(run("all of it"), "-I -S -c import os, socket, ctypes, sys\nall of it\n");
    program = "/usr/bin/python3";
    if (geteuid() == 0)
        EXPECT_EQ(attempt("open('../hidden/echo')"), "PermissionError") << "it alone is run";
}

// Goal: an executor loads its compiler wherever the programs lie, and cannot change it.
TEST_F(Confined, the_compiler_beside_the_program_can_be_read) {
    const char* const absent = "print(os.environ.get('SLIPWAY_COMPILER'), end='')";
    EXPECT_EQ(run(absent), "None");
    const fs::path hidden = folder.path() / "hidden";
    fs::create_directories(hidden);
    fs::copy_file("/usr/bin/python3", hidden / "python3");
    folder.write("hidden/slipway-compiler.so", "the compiler");
    if (geteuid() == 0) fs::permissions(hidden, fs::perms(0700));
    program = hidden / "python3";
    EXPECT_EQ(run("print(open(os.environ['SLIPWAY_COMPILER']).read(), end='')"), "the compiler");
    EXPECT_EQ(attempt("open(os.environ['SLIPWAY_COMPILER'], 'r+')"), "PermissionError");
    EXPECT_EQ(attempt("os.write(int(os.environ['SLIPWAY_COMPILER'].split('/')[-1]), b'x')"),
              "OSError");
}

TEST_F(Confined, what_it_makes_is_for_its_user_alone) {
    EXPECT_EQ(attempt("os.mkdir('made', 0o777); os.close(os.open('made/file', os.O_CREAT, 0o666))"),
              "done");
    const auto mode = [&](const char* name) {
        return int(fs::status(folder.path() / "run" / name).permissions());
    };
    EXPECT_EQ(mode("made"), 0700);
    EXPECT_EQ(mode("made/file"), 0600);
}

TEST_F(Confined, folders_that_were_open_to_others_are_closed_at_the_start) {
    const fs::path run_folder = folder.path() / "run", data = folder.path() / "data";
    fs::permissions(run_folder, fs::perms(0755));
    fs::permissions(data, fs::perms(0711));
    LauncherOptions options{.confiner = confinement.confiner, .first_user = {}};
    if (geteuid() == 0) options.first_user = test_user;
    const std::unique_ptr<LaunchedProcess> process =
        LocalLauncher(options).launch({.process = {.program = program,
                                                   .arguments = {"-c", "open('../data/sample')"},
                                                   .folder = run_folder,
                                                   .output = folder.path() / "output",
                                                   .result = {}},
                                       .readable = {data},
                                       .owned = {data},
                                       .writable = {run_folder, folder.path() / "new"}});
    EXPECT_EQ(exit_of(*process), 0) << read_file(folder.path() / "output");
    for (const char* name : {"run", "data", "new"})
        EXPECT_EQ(int(fs::status(folder.path() / name).permissions()), 0700) << name;
}

// Goal: a start that a killed service did not finish can be made again: the folder is the user's by
// then, and what is written into it for the second start is not. Method: two starts in one folder.
TEST_F(Confined, a_second_start_in_a_folder_reads_what_was_written_for_it) {
    const fs::path run_folder = folder.path() / "run";
    LauncherOptions options{.confiner = confinement.confiner, .first_user = {}};
    if (geteuid() == 0) options.first_user = test_user;
    for (const char* order : {"first", "second"}) {
        fs::remove(run_folder / "order");
        folder.write("run/order", order);
        fs::permissions(run_folder / "order", fs::perms(0600));
        const std::unique_ptr<LaunchedProcess> process = LocalLauncher(options).launch(
            {.process = {.program = program,
                         .arguments = {"-c",
                                       fmt::format("assert open('order').read() == '{}'", order)},
                         .folder = run_folder,
                         .output = folder.path() / "output",
                         .result = {}},
             .writable = {run_folder},
             .orders = {run_folder / "order"}});
        EXPECT_EQ(exit_of(*process), 0) << order << read_file(folder.path() / "output");
    }
}

/// The filter that some container gives a program: it has no filters of its own to set.
constexpr const char* without_seccomp = R"(#!/usr/bin/python3 -IS
import ctypes, os, struct, sys
def code(*rows): return b"".join(struct.pack("HBBI", *row) for row in rows)
load, equal, answer, allow = 0x20, 0x15, 0x06, 0x7FFF0000
program = code((load, 0, 0, 0), (equal, 0, 1, 317), (answer, 0, 0, 0x50000 + 38),
               (equal, 0, 3, 157), (load, 0, 0, 16), (equal, 0, 1, 22),
               (answer, 0, 0, 0x50000 + 22), (answer, 0, 0, allow))
buffer = ctypes.create_string_buffer(program)
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
filter = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
if libc.prctl(22, 2, filter, 0, 0) != 0: sys.exit("no filter")
os.execv(r"{0}", [r"{0}"] + sys.argv[1:])
)";

TEST_F(Confined, without_seccomp_it_starts_with_what_there_is) {
    const fs::path wrapper = folder.write(
        "confine", fmt::format(fmt::runtime(without_seccomp), confinement.confiner.string()));
    fs::permissions(wrapper, fs::perms(0755));
    confinement.confiner = wrapper;
    EXPECT_EQ(run("print(open('../data/sample').read(), end='')"), "a sample");
    EXPECT_EQ(attempt("open('../secret/token').read()"), "PermissionError") << "Landlock is there";
    EXPECT_EQ(attempt("socket.socketpair()"), "done") << "the filter is not";
}

TEST(ConfinementFeatures, say_of_each_kernel_what_it_enforces) {
    struct Row {
        const char* kernel;
        MachineSupport machine;
        std::set<std::string> enforced;
    };
    const std::set<std::string> by_filter{"files",   "system_calls", "network",
                                          "signals", "processes",    "memory"};
    std::set<std::string> all = by_filter;
    all.insert({"user", "threads"});
    std::set<std::string> without_landlock = by_filter;
    without_landlock.erase("files");
    for (const Row& row : {
             Row{"6.12, root", {.landlock = 6, .filters = true, .root = true}, all},
             Row{"6.12", {.landlock = 6, .filters = true, .root = false}, by_filter},
             Row{"6.1, Debian 12", {.landlock = 2, .filters = true, .root = false}, by_filter},
             Row{"5.10", {.landlock = 0, .filters = true, .root = false}, without_landlock},
             Row{"6.12 without seccomp", {.landlock = 6}, {"signals"}},
             Row{"6.7 without seccomp", {.landlock = 4}, {}},
             Row{"nothing, root", {.root = true}, {"user", "threads"}},
             Row{"nothing", {}, {}},
             Row{"nothing but cgroups", {.cgroups = {"/sys/fs/cgroup/x", {}}}, {"memory"}},
         }) {
        std::set<std::string> enforced;
        for (const ConfinementFeature& feature : features_of(row.machine))
            if (feature.enforced) enforced.insert(feature.name);
        EXPECT_EQ(enforced, row.enforced) << row.kernel;
    }
}

TEST(ConfinementFeatures, say_what_governs_truncation) {
    const auto files = [](MachineSupport machine) { return features_of(machine).front().detail; };
    EXPECT_EQ(files({.landlock = 2, .filters = true}),
              "Landlock 2; truncation, modes, owners and times by seccomp");
    EXPECT_EQ(files({.landlock = 3, .filters = true}),
              "Landlock 3; modes, owners and times by seccomp");
    EXPECT_NE(files({.landlock = 2}).find("truncation, modes"), std::string::npos);
    EXPECT_EQ(files({.landlock = 3}).find("truncation"), std::string::npos);
}

TEST(ConfinementFeatures, say_what_keeps_the_limit_of_memory) {
    const auto memory = [](const CgroupTree& cgroups) {
        for (const ConfinementFeature& one : features_of({.filters = true, .cgroups = cgroups}))
            if (one.name == "memory") return one.detail;
        return std::string();
    };
    EXPECT_NE(memory({"/sys/fs/cgroup/x", {}}).find("/sys/fs/cgroup/x"), std::string::npos);
    EXPECT_NE(memory({{}, "--cgroup off"}).find("no cgroup: --cgroup off"), std::string::npos);
}

TEST(ConfinementFeatures, each_says_how_or_why_not) {
    const auto features = confinement_features({});
    EXPECT_EQ(features.size(), 9U);
    for (const ConfinementFeature& feature : features)
        EXPECT_FALSE(feature.name.empty() || feature.detail.empty());
}

}    // namespace
}    // namespace slipway
