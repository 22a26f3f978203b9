#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/placement/placement.h"

// Simulated hosts of eight cores in front of the real planner: what bench_planner_cost and
// bench_mixed_jobs run. Nobody's clock is read.
namespace slipway {

struct ClusterJob {
    double comes_at_s = 0;
    double runs_s = 600;
    double limit_s = 1200;    ///< at least runs_s
    int cores = 1;            ///< 1, 8, or a slice
    std::string project = {};
    // What became of it.
    double starts_at_s = -1;    ///< none yet
    double ends_at_s = -1;
};

class SimulatedCluster {
public:
    /// `has_limits`: the planner knows each job's limit, so it can backfill.
    SimulatedCluster(int hosts, bool has_limits);

    /// A job that comes now or later; later than all before.
    void add(ClusterJob job);
    /// Goes to the next second in which a job comes or ends. False: there is none.
    bool advance();
    /// What the store hands to a pass: the first jobs of each shape of each project.
    Snapshot snapshot() const;
    void apply(const Plan& plan);

    double now_s() const { return now_s_; }
    int cores() const { return int(slots_.size()); }
    std::size_t queued() const { return queue_.size(); }
    std::size_t running() const { return running_.size(); }
    const std::vector<ClusterJob>& jobs() const { return jobs_; }
    /// Of the cores so far, in core-seconds.
    double busy_core_s() const { return busy_core_s_; }

private:
    WaitingJob waiting(std::size_t number) const;
    RunningJob running_row(std::size_t number) const;
    void pass_time(double until_s);

    bool has_limits_;
    std::vector<ClusterJob> jobs_;
    std::size_t next_ = 0;                                       // the first that has not come
    std::map<std::size_t, bool> queue_;                          // by number, which is their age
    std::map<std::size_t, std::vector<std::size_t>> running_;    // and its slots
    std::vector<CoreSlot> slots_;                                // of host h core c: h * 8 + c - 1
    std::map<std::string, std::size_t> host_numbers_;
    std::map<std::string, ProjectShare> projects_;
    double now_s_ = 0, busy_core_s_ = 0;
};

}    // namespace slipway
