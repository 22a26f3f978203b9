#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scheduler/agent/agent.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/hosts.h"

namespace slipway {

/// What every attempt needs of this machine and is not there, with its path; empty: nothing.
std::string find_missing_parts(const AgentOptions& options);

/// What a job needs of its hosts.
struct WantedHosts {
    int hosts = 1;
    int cores = 1;                         ///< of each
    std::string pool = {};                 ///< empty: any
    std::set<std::string> avoided = {};    ///< that could not start it before
};

/// Where a job goes that a host could not start (AttemptEnd::fault_host): it is queued at once for
/// the others, as long as enough of them take jobs. When none are left, an end that
/// fails_everywhere is the job's end, and so is one with a crash key that all of several hosts had;
/// another one stays as it is: the job waits for a repair.
/// `hosts` as of store::list_hosts. Pure.
store::AttemptEnd try_elsewhere(store::AttemptEnd end, const WantedHosts& wanted,
                                const std::vector<store::Host>& hosts);

/// The starts in a row that this host could not do, although nothing else was wrong with their
/// jobs. Safe from every thread.
class HostFaults {
public:
    /// `of_job`: the job itself may be to blame, unless another host can start it.
    void add(const std::string& job_id, const std::string& reason, bool of_job);
    /// A job has run well here.
    void clear();
    /// Why the host should take no more jobs: three starts in a row failed, those of jobs that may
    /// be to blame themselves only counted where has_begun(job) says that it runs elsewhere.
    std::optional<std::string> reason_to_drain(
        const std::function<bool(const std::string& job_id)>& has_begun) const;

private:
    struct Fault {
        std::string job_id;
        std::string reason;
        bool of_job;
    };

    mutable std::mutex mutex_;
    std::deque<Fault> faults_;    // guarded by mutex_: the newest last
};

}    // namespace slipway
