#include "scheduler/launcher/confinement.h"

#include <fmt/format.h>

#include "api/base/collectives_library.h"
#include "api/base/compiler_library.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// What every program needs: libraries, and facts about the machine. Of /proc/self not the folder:
/// net below it lists every connection and socket of the machine.
constexpr const char* machine_read_only[] = {"/etc/ld.so.cache",
                                             "/etc/localtime",
                                             "/usr/share",
                                             "/dev/urandom",
                                             "/proc/self/cgroup",
                                             "/proc/self/maps",
                                             "/proc/self/oom_score_adj",
                                             "/proc/self/stat",
                                             "/proc/self/statm",
                                             "/proc/self/status",
                                             "/proc/cpuinfo",
                                             "/proc/meminfo",
                                             "/proc/stat",
                                             "/proc/sys/vm/overcommit_memory",
                                             "/sys/devices/system/cpu",
                                             "/sys/devices/system/node",
                                             "/sys/kernel/mm/transparent_hugepage"};
constexpr const char* machine_executable[] = {"/usr/lib", "/usr/lib64", "/lib", "/lib64",
                                              "/usr/local/lib"};
constexpr const char* machine_writable[] = {"/dev/null"};

/// Beside the executor of a package, for two levels of processors (executor/codegen/kernels).
constexpr const char* kernel_libraries[] = {"libslipway-kernels.so",
                                            "glibc-hwcaps/x86-64-v4/libslipway-kernels.so"};

void add_number(std::vector<std::string>& words, const char* name, std::int64_t value) {
    if (value > 0) words.insert(words.end(), {name, fmt::to_string(value)});
}

void add_paths(std::vector<std::string>& words, const char* name,
               const std::vector<fs::path>& paths) {
    for (const fs::path& path : paths)
        words.insert(words.end(), {name, path.string()});
}

}    // namespace

std::vector<std::string> confine_arguments(const Confinement& confinement, const fs::path& program,
                                           const std::vector<std::string>& arguments) {
    std::vector<std::string> words;
    if (confinement.user) add_number(words, "--user", *confinement.user);
    for (const gid_t group : confinement.shared_groups)
        add_number(words, "--shared-group", group);
    add_number(words, "--memory-bytes", confinement.limits.memory_bytes);
    add_number(words, "--file-bytes", confinement.limits.file_bytes);
    add_number(words, "--cpu-seconds", confinement.limits.cpu_seconds);
    add_number(words, "--processes", confinement.limits.processes);
    for (const char* path : machine_read_only)
        words.insert(words.end(), {"--read", path});
    for (const char* path : machine_executable)
        words.insert(words.end(), {"--execute", path});
    for (const char* path : machine_writable)
        words.insert(words.end(), {"--write", path});
    add_paths(words, "--read", confinement.paths.readable);
    add_paths(words, "--execute", confinement.paths.executable);
    add_paths(words, "--write", confinement.paths.writable);
    // Not every program has kernels or compiles: what is not there is passed over.
    for (const char* library : kernel_libraries)
        words.insert(words.end(), {"--execute", program.parent_path() / library});
    const std::string compiler = program.parent_path() / compiler_library_file;
    words.insert(words.end(), {"--read", compiler, "--compiler", compiler});
    const std::string collectives = program.parent_path() / collectives_library_file;
    if (confinement.connects)
        words.insert(words.end(), {"--read", collectives, "--collectives", collectives});
    if (!confinement.socket_folder.empty())
        words.insert(words.end(), {"--socket-folder", confinement.socket_folder.string()});
    words.insert(words.end(), {"--execute", program.string(), "--", program.string()});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

}    // namespace slipway
