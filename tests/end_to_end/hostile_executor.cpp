// An executor that does what a hostile one would. Started by the agent in the place of
// slipway-executor, it tries each escape of the table below and writes "NAME stopped|ESCAPED WHY"
// into its run folder; then it ends. Targets come from a file in the dataset, which it may read.

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Targets = std::map<std::string, std::string>;

bool can_open(const std::string& path, int flags) {
    const int file = open(path.c_str(), flags, 0600);
    if (file < 0) return false;
    close(file);
    return true;
}

bool can_read(const std::string& path) {
    return can_open(path, O_RDONLY);
}

bool can_write(const std::string& path) {
    return can_open(path, O_WRONLY | O_CREAT);
}

bool can_change(const std::string& path, mode_t mode) {
    return chmod(path.c_str(), mode) == 0 || fchmodat(AT_FDCWD, path.c_str(), mode, 0) == 0;
}

/// By its path, or when it is opened to be read.
bool can_cut(const std::string& path) {
    struct stat found {};
    const off_t size = stat(path.c_str(), &found) == 0 ? found.st_size : 1;
    return truncate(path.c_str(), size) == 0 || can_open(path, O_RDONLY | O_TRUNC);
}

bool can_list(const std::string& path) {
    const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY);
    if (folder < 0) return false;
    char entries[512];
    const long found = syscall(SYS_getdents64, folder, entries, sizeof entries);
    close(folder);
    return found > 0;
}

bool can_call(long number, long a = 0, long b = 0, long c = 0) {
    return syscall(number, a, b, c, 0, 0, 0) >= 0 ||
           (errno != EPERM && errno != EACCES && errno != ENOSYS);
}

bool can_socket(int family, int type, int protocol = 0) {
    const int made = socket(family, type, protocol);
    if (made < 0) return false;
    close(made);
    return true;
}

bool can_connect_unix(const std::string& path, bool abstract = false) {
    const int made = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path + (abstract ? 1 : 0), sizeof(address.sun_path) - 2);
    errno = 0;
    const bool connected =
        connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    // Nobody listens: the call itself was let through.
    const bool tried = connected || errno == ECONNREFUSED || errno == ENOENT;
    close(made);
    return tried;
}

/// With what it was given: none of them may be turned into another connection.
bool can_connect_what_it_inherits(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    bool connected = false;
    for (int inherited = 0; inherited < 256; ++inherited)
        connected = connected ||
                    connect(inherited, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    return connected;
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A message with this flag connects by itself.
bool can_send_at_once(int port) {
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0) return false;
    const sockaddr_in address = loopback(port);
    return sendto(made, "x", 1, MSG_FASTOPEN, reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == 1;
}

bool can_connect_tcp(int port) {
    const int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0) return false;
    const sockaddr_in address = loopback(port);
    return connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool can_fork() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, nullptr, 0);
    return child > 0;
}

/// By every call that makes one.
bool can_make_processes() {
    struct Call {
        long number, flags;
    };
    for (const Call call :
         {Call{SYS_clone, SIGCHLD}, Call{SYS_clone, CLONE_NEWUSER | SIGCHLD}, Call{SYS_fork, 0}}) {
        const long child = syscall(call.number, call.flags, 0, 0, 0, 0);
        if (child == 0) _exit(0);
        if (child > 0) return true;
    }
    return can_call(SYS_clone3);
}

/// More than those of a project may have together.
bool can_make_threads() {
    constexpr int too_many = 5000;
    std::atomic<bool> ending{false};
    std::vector<pthread_t> made;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, std::size_t(PTHREAD_STACK_MIN));
    const auto wait = [](void* end) -> void* {
        static_cast<std::atomic<bool>*>(end)->wait(false);
        return nullptr;
    };
    pthread_t thread{};
    while (made.size() < too_many && (errno = pthread_create(&thread, &small, wait, &ending)) == 0)
        made.push_back(thread);
    const int reason = errno;
    ending = true;
    ending.notify_all();
    for (const pthread_t each : made)
        pthread_join(each, nullptr);
    errno = reason;
    return made.size() == too_many;
}

bool can_write_large_file() {
    signal(SIGXFSZ, SIG_IGN);
    const int file = open("large", O_WRONLY | O_CREAT, 0600);
    const bool wrote = pwrite(file, "x", 1, off_t{1} << 40) == 1;
    close(file);
    unlink("large");
    return wrote;
}

/// A sample of what would fill the disk: nothing counts them.
bool can_write_many_files() {
    int made = 0;
    for (int i = 0; i < 1000; ++i)
        made += can_write("file-" + std::to_string(i)) ? 1 : 0;
    for (int i = 0; i < 1000; ++i)
        unlink(("file-" + std::to_string(i)).c_str());
    return made == 1000;
}

bool can_raise_limit() {
    rlimit now{};
    getrlimit(RLIMIT_DATA, &now);
    if (now.rlim_max == RLIM_INFINITY) return true;
    rlimit more{now.rlim_max * 2, now.rlim_max * 2};
    return setrlimit(RLIMIT_DATA, &more) == 0;
}

bool can_take_memory() {
    rlimit now{};
    getrlimit(RLIMIT_DATA, &now);
    if (now.rlim_max == RLIM_INFINITY) return true;
    void* const taken = mmap(nullptr, now.rlim_max + (1 << 20), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return taken != MAP_FAILED;
}

bool can_map(int flags) {
    return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

/// The limit of memory does not count what was written and made read-only since.
bool can_keep_as_read_only() {
    constexpr std::size_t piece = 256 << 20, pieces_max = 4096;    // 1 TiB, none of it written
    std::vector<void*> kept;
    while (kept.size() < pieces_max) {
        void* const taken = mmap(nullptr, piece, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (taken == MAP_FAILED) break;
        kept.push_back(taken);
        if (mprotect(taken, piece, PROT_READ) != 0) break;
    }
    const int reason = errno;
    for (void* const each : kept)    // later attempts need addresses
        munmap(each, piece);
    errno = reason;
    return kept.size() == pieces_max;
}

bool can_read_memory_of(pid_t pid) {
    char byte = 0;
    iovec here{&byte, 1};
    iovec there{reinterpret_cast<void*>(0x400000), 1};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0 || errno == EFAULT;
}

/// Whoever may read another's limit may set it, too: the same call does both.
bool can_limit(pid_t pid) {
    rlimit now{};
    return prlimit(pid, RLIMIT_CORE, nullptr, &now) == 0;
}

bool can_move(pid_t pid) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
           sched_setaffinity(pid, sizeof cpus, &cpus) == 0;
}

struct Escape {
    const char* name;
    std::function<bool(const Targets&)> succeeds;
};

pid_t number(const Targets& targets, const char* name) {
    return pid_t(std::stol(targets.at(name)));
}

std::string at(const Targets& targets, const char* name) {
    return targets.at(name);
}

std::vector<Escape> escapes_to_files() {
    return {
        {"read_the_admin_token",
         [](const Targets& t) { return can_read(at(t, "home") + "/admin-token"); }},
        {"read_the_shadow_file", [](const Targets&) { return can_read("/etc/shadow"); }},
        {"read_the_user_list", [](const Targets&) { return can_read("/etc/passwd"); }},
        {"read_the_service_log",
         [](const Targets& t) { return can_read(at(t, "home") + "/slipwayd.log"); }},
        {"list_the_home_folder", [](const Targets& t) { return can_list(at(t, "home")); }},
        {"read_another_projects_dataset",
         [](const Targets& t) { return can_read(at(t, "other_dataset")); }},
        {"list_the_dataset_root",
         [](const Targets& t) { return can_list(at(t, "home") + "/data"); }},
        {"list_run_folders_of_others",
         [](const Targets& t) { return can_list(at(t, "home") + "/runs"); }},
        {"read_another_run_folder", [](const Targets& t) { return can_list(at(t, "other_run")); }},
        {"read_another_jobs_checkpoint",
         [](const Targets& t) { return can_read(at(t, "other_checkpoint")); }},
        {"change_another_jobs_report",
         [](const Targets& t) { return can_write(at(t, "other_report") + "/x"); }},
        {"change_its_own_dataset",
         [](const Targets& t) { return can_write(at(t, "dataset") + "/x"); }},
        {"change_its_own_program",
         [](const Targets& t) { return can_open(at(t, "program"), O_WRONLY); }},
        {"change_a_library", [](const Targets&) { return can_write("/usr/lib/x"); }},
        {"leave_a_file_in_tmp", [](const Targets&) { return can_write("/tmp/slipway-hostile"); }},
        {"leave_a_cron_job",
         [](const Targets&) { return can_write("/etc/cron.d/slipway-hostile"); }},
        {"write_another_projects_compile_cache",
         [](const Targets& t) { return can_write(at(t, "other_cache") + "/x"); }},
        {"list_compile_caches",
         [](const Targets& t) { return can_list(at(t, "home") + "/store/compile_cache"); }},
        {"leave_a_link_to_the_admin_token",
         [](const Targets& t) {
             return symlink((at(t, "home") + "/admin-token").c_str(), "report.json") == 0;
         }},
        {"link_the_admin_token_hard",
         [](const Targets& t) {
             return link((at(t, "home") + "/admin-token").c_str(), "token") == 0;
         }},
        {"leave_a_fifo", [](const Targets&) { return mkfifo("fifo", 0600) == 0; }},
        {"make_a_device",
         [](const Targets&) { return mknod("device", S_IFCHR | 0600, makedev(1, 1)) == 0; }},
        {"move_its_run_folder_away",
         [](const Targets& t) {
             return rename(at(t, "run").c_str(), (at(t, "home") + "/runs/x").c_str()) == 0;
         }},
    };
}

/// What Landlock alone does not stop, or not every version of it.
std::vector<Escape> escapes_around_landlock() {
    return {
        {"list_the_machines_connections",
         [](const Targets&) { return can_read("/proc/self/net/tcp"); }},
        {"list_the_machines_sockets",
         [](const Targets&) { return can_read("/proc/self/net/unix"); }},
        {"list_the_machines_mounts", [](const Targets&) { return can_read("/proc/self/mounts"); }},
        {"open_the_admin_token_to_all",
         [](const Targets& t) { return can_change(at(t, "home") + "/admin-token", 0666); }},
        {"close_the_home_folder", [](const Targets& t) { return can_change(at(t, "home"), 0700); }},
        {"close_the_database_folder",
         [](const Targets& t) { return can_change(at(t, "home") + "/postgres/data", 0700); }},
        {"cut_the_service_log",
         [](const Targets& t) { return can_cut(at(t, "home") + "/slipwayd.log"); }},
        {"cut_another_jobs_checkpoint",
         [](const Targets& t) { return can_cut(at(t, "other_checkpoint")); }},
        {"cut_its_dataset",
         [](const Targets& t) { return can_cut(at(t, "dataset") + "/points.csv"); }},
        {"change_the_mode_of_its_dataset",
         [](const Targets& t) { return can_change(at(t, "dataset") + "/points.csv", 0644); }},
        {"change_the_mode_of_an_open_file",
         [](const Targets& t) {
             return fchmod(open((at(t, "dataset") + "/points.csv").c_str(), O_RDONLY), 0644) == 0;
         }},
        {"date_the_admin_token_back",
         [](const Targets& t) {
             const timespec times[2]{{1, 0}, {1, 0}};
             return utimensat(AT_FDCWD, (at(t, "home") + "/admin-token").c_str(), times, 0) == 0;
         }},
        {"give_its_dataset_away",
         [](const Targets& t) {
             return chown((at(t, "dataset") + "/points.csv").c_str(), getuid(), getgid()) == 0;
         }},
    };
}

std::vector<Escape> escapes_to_processes() {
    return {
        {"read_the_services_environment",
         [](const Targets& t) { return can_read("/proc/" + at(t, "slipwayd") + "/environ"); }},
        {"read_the_services_memory_file",
         [](const Targets& t) { return can_read("/proc/" + at(t, "slipwayd") + "/mem"); }},
        {"pass_through_anothers_root",
         [](const Targets&) { return can_read("/proc/1/root/etc/hostname"); }},
        {"signal_the_service",
         [](const Targets& t) { return kill(number(t, "slipwayd"), 0) == 0; }},
        {"signal_everybody", [](const Targets&) { return kill(-1, 0) == 0; }},
        {"signal_the_database",
         [](const Targets& t) { return kill(number(t, "postmaster"), 0) == 0; }},
        {"trace_the_service",
         [](const Targets& t) {
             return ptrace(PTRACE_ATTACH, number(t, "slipwayd"), nullptr, nullptr) == 0;
         }},
        {"read_the_services_memory",
         [](const Targets& t) { return can_read_memory_of(number(t, "slipwayd")); }},
        {"hold_the_service",
         [](const Targets& t) { return can_call(SYS_pidfd_open, number(t, "slipwayd")); }},
        {"see_the_services_limits",
         [](const Targets& t) { return can_limit(number(t, "slipwayd")); }},
        {"see_the_databases_limits",
         [](const Targets& t) { return can_limit(number(t, "postmaster")); }},
        {"see_its_parents_limits", [](const Targets&) { return can_limit(getppid()); }},
        {"signal_its_parent_through_a_file",
         [](const Targets&) {
             const int file = open("signals", O_RDWR | O_CREAT, 0600);
             return fcntl(file, F_SETOWN, getppid()) == 0 || fcntl(file, F_SETSIG, SIGKILL) == 0;
         }},
        {"hold_up_who_opens_a_file",
         [](const Targets&) {
             const int file = open("lease", O_RDWR | O_CREAT, 0600);
             return fcntl(file, F_SETLEASE, F_WRLCK) == 0;
         }},
        {"move_the_service_to_one_cpu",
         [](const Targets& t) { return can_move(number(t, "slipwayd")); }},
        {"slow_the_service_down",
         [](const Targets& t) {
             return setpriority(PRIO_PROCESS, id_t(number(t, "slipwayd")), 19) == 0;
         }},
        {"make_a_process", [](const Targets&) { return can_fork(); }},
        {"make_processes_without_end", [](const Targets&) { return can_make_processes(); }},
        {"become_root", [](const Targets&) { return setuid(0) == 0 && getuid() == 0; }},
    };
}

std::vector<Escape> escapes_from_limits() {
    return {
        {"raise_its_memory_limit", [](const Targets&) { return can_raise_limit(); }},
        {"take_more_memory_than_its_limit", [](const Targets&) { return can_take_memory(); }},
        {"take_shared_memory", [](const Targets&) { return can_map(MAP_SHARED); }},
        {"take_memory_that_grows_down",
         [](const Targets&) { return can_map(MAP_PRIVATE | MAP_GROWSDOWN); }},
        {"take_huge_pages", [](const Targets&) { return can_map(MAP_PRIVATE | MAP_HUGETLB); }},
        {"keep_memory_without_end_as_read_only",
         [](const Targets&) { return can_keep_as_read_only(); }},
        {"make_threads_without_end", [](const Targets&) { return can_make_threads(); }},
        {"write_a_file_of_more_than_a_tib", [](const Targets&) { return can_write_large_file(); }},
        {"write_any_number_of_files", [](const Targets&) { return can_write_many_files(); }},
        {"let_its_stack_grow_without_end",
         [](const Targets&) {
             const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
             return setrlimit(RLIMIT_STACK, &none) == 0;
         }},
        {"take_memory_as_a_file",
         [](const Targets&) { return can_call(SYS_memfd_create, long("x"), 0); }},
        {"take_system_v_memory",
         [](const Targets&) { return can_call(SYS_shmget, 0, 4096, 01600); }},
    };
}

std::vector<Escape> escapes_through_the_kernel() {
    return {
        {"make_a_user_namespace", [](const Targets&) { return unshare(CLONE_NEWUSER) == 0; }},
        {"change_its_root", [](const Targets&) { return chroot(".") == 0; }},
        {"mount_a_file_system",
         [](const Targets&) { return mount("none", ".", "tmpfs", 0, nullptr) == 0; }},
        {"call_the_api", [](const Targets& t) { return can_connect_tcp(number(t, "port")); }},
        {"call_the_api_at_once",
         [](const Targets& t) { return can_send_at_once(number(t, "port")); }},
        {"open_a_relative_of_tcp",
         [](const Targets&) { return can_socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP); }},
        {"send_a_datagram", [](const Targets&) { return can_socket(AF_INET, SOCK_DGRAM); }},
        {"open_a_raw_socket",
         [](const Targets&) { return can_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
        {"open_a_netlink_socket",
         [](const Targets&) { return can_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
        {"connect_to_the_database",
         [](const Targets& t) { return can_connect_unix(at(t, "database_socket")); }},
        {"open_a_unix_socket", [](const Targets&) { return can_socket(AF_UNIX, SOCK_STREAM); }},
        {"connect_what_it_inherits_to_the_database",
         [](const Targets& t) { return can_connect_what_it_inherits(at(t, "database_socket")); }},
        {"connect_to_an_abstract_socket",
         [](const Targets&) { return can_connect_unix("hostile", true); }},
        {"load_a_bpf_program", [](const Targets&) { return can_call(SYS_bpf, 0); }},
        {"measure_the_machine", [](const Targets&) { return can_call(SYS_perf_event_open); }},
        {"use_the_keyring", [](const Targets&) { return can_call(SYS_keyctl, 0, -3); }},
        {"use_io_uring", [](const Targets&) { return can_call(SYS_io_uring_setup, 1); }},
        {"use_userfaultfd", [](const Targets&) { return can_call(SYS_userfaultfd, 0); }},
        {"load_a_module", [](const Targets&) { return can_call(SYS_init_module, 0, 0); }},
        {"load_a_kernel", [](const Targets&) { return can_call(SYS_kexec_load, 0, 0); }},
        {"change_its_personality",
         [](const Targets&) { return can_call(SYS_personality, 0x0040000); }},
    };
}

std::vector<Escape> escapes() {
    std::vector<Escape> all;
    for (const auto& some : {escapes_to_files(), escapes_around_landlock(), escapes_to_processes(),
                             escapes_from_limits(), escapes_through_the_kernel()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

Targets read_targets(const fs::path& file) {
    Targets targets;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
        if (const auto equals = line.find('='); equals != std::string::npos)
            targets[line.substr(0, equals)] = line.substr(equals + 1);
    return targets;
}

}    // namespace

int main(int argc, char** argv) {
    if (argc < 3 || std::string(argv[1]) != "attempt") return 2;
    const fs::path run = argv[2];
    // attempt.json names the dataset; a search is enough of a reader here.
    std::ifstream order(run / "attempt.json");
    const std::string text{std::istreambuf_iterator<char>(order), std::istreambuf_iterator<char>()};
    const std::string key = "\"path\":\"";
    const auto begin = text.find(key, text.find("\"dataset\":{")) + key.size();
    const fs::path dataset = text.substr(begin, text.find('"', begin) - begin);
    Targets targets = read_targets(dataset / "targets.txt");
    targets["run"] = run.string();
    targets["dataset"] = dataset.string();
    targets["program"] = fs::read_symlink("/proc/self/exe").string();
    std::ofstream results(run / "results.txt");
    for (const Escape& escape : escapes()) {
        errno = 0;
        const bool escaped = escape.succeeds(targets);
        results << escape.name << (escaped ? " ESCAPED" : " stopped ")
                << (escaped ? "" : std::strerror(errno)) << '\n';
        results.flush();
    }
    return 1;
}
