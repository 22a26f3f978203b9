// A host that cannot start jobs is free, so placement would send it one after the other. Two things
// keep it from that: a job that it could not start goes to other hosts first, and three such starts
// in a row drain the host. A dataset that is gone everywhere is no fault of any host: it counts
// against one only when another host has started the same job.
#include "scheduler/agent/host_faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "scheduler/agent/this_host.h"
#include "scheduler/store/avoided_hosts.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t faults_min = 3;
constexpr std::size_t faults_kept = 16;

bool takes(const store::Host& host, const WantedHosts& wanted) {
    const int usable = host.cores - int(host.drained.size());
    return !host.drain && host.silent_for <= host_silence_max && usable >= wanted.cores &&
           (wanted.pool.empty() || host.pool == wanted.pool);
}

/// A slice has hosts of one pool.
int count_others(const WantedHosts& wanted, const std::set<std::string>& avoided,
                 const std::vector<store::Host>& hosts) {
    std::map<std::string, int> others;
    for (const store::Host& host : hosts)
        if (takes(host, wanted) && !avoided.contains(host.name)) ++others[host.pool];
    int most = 0;
    for (const auto& [pool, count] : others)
        most = std::max(most, count);
    return most;
}

}    // namespace

std::string find_missing_parts(const AgentOptions& options) {
    if (access(options.executor.c_str(), X_OK) != 0)
        return fmt::format("the executor {} is not a program that can be run",
                           options.executor.string());
    const fs::path store = options.artifacts().folder(Artifact::checkpoint).parent_path();
    for (const fs::path& folder : {options.home, store})
        if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
            return fmt::format("the folder {} cannot be written", folder.string());
    return {};
}

store::AttemptEnd try_elsewhere(store::AttemptEnd end, const WantedHosts& wanted,
                                const std::vector<store::Host>& hosts) {
    std::set<std::string> avoided = wanted.avoided;
    avoided.insert(end.fault_host);
    std::string more;
    if (count_others(wanted, avoided, hosts) >= wanted.hosts) {
        end.crash_key = store::key_of_avoided(avoided);
        end.repeats_max = 0;
        end.retry_after = {};
        more = "; the job is tried on another host";
    } else if (end.fails_everywhere || (avoided.size() > 1 && !end.crash_key.empty())) {
        end.job_state = JobState::failed;
        more = avoided.size() == 1
                   ? "; no other host can run the job"
                   : fmt::format("; every host that can run the job has refused it: {}",
                                 fmt::join(avoided, ", "));
    }
    end.message += more;
    if (end.reason) end.reason->message += more;
    return end;
}

void HostFaults::add(const std::string& job_id, const std::string& reason, bool of_job) {
    const std::scoped_lock lock(mutex_);
    if (of_job) std::erase_if(faults_, [&](const Fault& one) { return one.job_id == job_id; });
    faults_.push_back({job_id, reason, of_job});
    if (faults_.size() > faults_kept) faults_.pop_front();
}

void HostFaults::clear() {
    const std::scoped_lock lock(mutex_);
    faults_.clear();
}

std::optional<std::string> HostFaults::reason_to_drain(
    const std::function<bool(const std::string&)>& has_begun) const {
    std::deque<Fault> faults;
    {
        const std::scoped_lock lock(mutex_);
        if (faults_.size() < faults_min) return std::nullopt;
        faults = faults_;
    }
    std::erase_if(faults,
                  [&](const Fault& fault) { return fault.of_job && !has_begun(fault.job_id); });
    if (faults.size() < faults_min) return std::nullopt;
    return fmt::format("{} jobs in a row could not start here; the last one: {}", faults.size(),
                       faults.back().reason);
}

}    // namespace slipway
