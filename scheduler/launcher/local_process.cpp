#include "scheduler/launcher/local_process.h"

#include <csignal>

#include "api/base/log.h"
#include "scheduler/launcher/confine/cgroup.h"
#include "scheduler/launcher/confine/limits.h"
#include "scheduler/launcher/memory_use.h"
#include "scheduler/launcher/niceness.h"

namespace slipway {

LocalProcess::LocalProcess(RunningProcess process, std::filesystem::path cgroup, int niceness)
    : process_(std::move(process)),
      cgroup_(std::move(cgroup)),
      niceness_(niceness),
      kills_before_(cgroup_.empty() ? 0 : out_of_memory_kills(cgroup_)) {}

void LocalProcess::go_ahead() {
    if (niceness_ != 0) set_group_niceness(process_.id.pid, niceness_behind_us(0));
}

void LocalProcess::stand_back() {
    if (niceness_ != 0) set_group_niceness(process_.id.pid, niceness_behind_us(niceness_));
}

void LocalProcess::terminate() {
    signal_group(process_, SIGTERM);
}

void LocalProcess::kill() {
    signal_group(process_, SIGKILL);
}

std::optional<ProcessExit> LocalProcess::collect_exit() {
    // Killed before it is reaped: until then the number of the group cannot belong to anybody else.
    if (process_.child) kill();
    const std::optional<int> status = reap(process_);
    if (!status) return std::nullopt;
    return ProcessExit{.status = *status,
                       .killed = *status == 128 + SIGKILL,
                       .exceeded_cpu = *status == 128 + SIGXCPU};
}

bool LocalProcess::is_cleared() {
    if (!end_session(process_.id)) return false;
    if (!cgroup_.empty() && !remove_cgroup(cgroup_))
        log_warn("a cgroup cannot be removed yet", {{"cgroup", cgroup_.string()}});
    return true;
}

std::int64_t LocalProcess::read_memory_bytes() const {
    return memory_use_bytes(process_.id);
}

bool LocalProcess::exceeded_memory() const {
    return !cgroup_.empty() && out_of_memory_kills(cgroup_) > kills_before_;
}

std::int64_t LocalProcess::uncounted_memory_bytes() const {
    return uncounted_bytes_max;
}

std::int64_t LocalProcess::count_host_memory_kills() const {
    return out_of_memory_kills_of_machine();
}

bool end_session(const ProcessId& leader) {
    // Negative: of a launcher that runs nothing on this machine.
    if (leader.pid <= 1 || leader.start_ticks < 0) return true;
    // The kernel gives no number again while a session has it: another leader means that nothing
    // of ours is left.
    const auto ticks = process_start_ticks(leader.pid);
    if (ticks && *ticks != leader.start_ticks) return true;
    const std::vector<pid_t> left = session_members(leader.pid);
    for (const pid_t pid : left)
        ::kill(pid, SIGKILL);
    return left.empty();
}

}    // namespace slipway
