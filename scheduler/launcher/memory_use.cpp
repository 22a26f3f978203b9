#include "scheduler/launcher/memory_use.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace slipway {

namespace {

struct Use {
    std::int64_t bytes = 0;
    bool filtered = false;    // it can make no process
};

/// By the lines of /proc/PID/status: proc(5).
Use read_use(pid_t pid) {
    Use use;
    std::ifstream file(fmt::format("/proc/{}/status", pid));
    std::string name;
    for (std::string rest; file >> name && std::getline(file, rest);) {
        if (name == "RssAnon:" || name == "RssShmem:" || name == "VmSwap:")
            use.bytes += std::stoll(rest) * 1024;
        if (name == "Seccomp:") use.filtered = std::stoi(rest) == 2;
    }
    return use;
}

}    // namespace

std::int64_t memory_use_bytes(const ProcessId& leader) {
    const Use own = read_use(leader.pid);
    if (own.filtered) return own.bytes;
    std::int64_t bytes = 0;
    for (const pid_t pid : session_members(leader.pid))
        bytes += read_use(pid).bytes;
    return bytes;
}

std::int64_t out_of_memory_kills_of_machine() {
    std::ifstream file("/proc/vmstat");
    std::string word;
    for (std::int64_t value = 0; file >> word >> value;)
        if (word == "oom_kill") return value;
    return 0;
}

}    // namespace slipway
