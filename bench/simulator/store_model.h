#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/base/clock.h"
#include "api/protocol/frames.h"
#include "api/spec/intent.h"
#include "bench/simulator/checker.h"
#include "scheduler/placement/placement.h"
#include "scheduler/store/settlement.h"

namespace slipway::simulator {

using Millis = std::chrono::milliseconds;

/// What a caller of the store hears instead of an answer.
struct Unavailable {};    ///< done or not, nobody knows
struct Fenced {};
struct LeaderReplaced {};
struct IllegalTransition {};

/// What one numbered frame of an executor says.
struct Frame {
    std::int64_t number = 0;
    std::optional<JobState> state = {};
    std::optional<int> step = {};          ///< a metric of it
    std::optional<int> checkpoint = {};    ///< saved at this step
    std::optional<DoneFrame> done = {};
};

/// What has happened in a run, or in many.
struct Tally {
    std::int64_t jobs = 0, attempts = 0, preempted = 0, rescued = 0;
    std::int64_t fenced = 0;        ///< writes of replaced attempts that were not taken
    std::int64_t lost_races = 0;    ///< placements that came too late
    std::int64_t leaders = 0;       ///< terms
    std::int64_t faults = 0;

    void add(const Tally& other);
};

/// The store in memory: the contract of scheduler/store (attempts.h, relay.h, queue.h, jobs.h,
/// pg/leader.h), one function for each of its functions that the scheduler and the agents use. Each
/// call is one transaction. What is decided by pure functions of the service (settle, the planner's
/// input, intents) is decided by those. Tells the checker whatever it takes.
class StoreModel {
public:
    StoreModel(Checker& checker, BrokenRule broken) : checker_(checker), broken_(broken) {}

    struct Job {
        std::string id;
        JobShape shape;
        JobState state = JobState::queued;
        std::optional<Intent> intent = {};
        Instant queued_at{};
        std::optional<Instant> not_before = {};
        std::optional<Instant> valid_until = {};
        bool is_in_queue = true;
        int attempts = 0;
        int restarts = 0;
        std::string reason = {};
        std::string crash_key = {};
        int crashes = 0;
        std::vector<int> checkpoints = {};    // their steps
        std::chrono::duration<double> ran{0};
    };
    struct Attempt {
        Key key;
        std::string host;
        std::vector<int> cores;
        Instant created_at{};
        std::optional<Instant> started_at = {};
        std::int64_t frames_relayed = 0;
        bool ended = false;
    };
    struct Lease {
        Key key;
        Instant expires_at{};
        Tick runs_out{};    // whatever the clock has been set to since
    };
    struct Host {
        int cores = 8;
        int instance = 0;
        std::set<int> drained = {};
        Instant heartbeat_at{};
    };

    // ---- users ----
    void submit(const std::string& key, const JobShape& shape);
    /// False: the job cannot go there, or is there already.
    bool request_intent(int job, Intent intent);
    bool resume(int job);
    void drain(const std::string& host, int core, bool drained);

    // ---- the leader ----
    /// Its term, when this holder leads.
    std::optional<int> lead(int holder, Millis lease);
    /// The session of a holder that has ended is gone, and with it its lock.
    void session_gone(int holder);
    Snapshot snapshot(Millis host_silence_max) const;
    bool can_place(const PlacedJob& placed) const;
    bool place(const PlacedJob& placed, std::uint64_t fence, Millis lease, int term);
    bool preempt(const std::string& id, int term);
    std::vector<store::HeldLease> leases() const;
    bool rescue(const store::HeldLease& lease, int term);
    void expire_queued(int term);
    void release_due(int term);

    // ---- agents ----
    void register_host(const std::string& host, int cores, int instance);
    bool record_heartbeat(const std::string& host, int instance);
    std::vector<Key> renew(const std::string& host, const std::vector<Key>& held, Millis lease);
    std::vector<Attempt> live_attempts(const std::string& host) const;
    void record_process(const Key& key);
    struct Relayed {
        std::int64_t frames_relayed = 0;
        JobState job_state{};
        std::optional<Intent> intent = {};
    };
    Relayed relay(const Key& key, const std::vector<Frame>& frames);
    JobState finish(const Key& key, const store::AttemptEnd& end);

    // ---- what may be read of it ----
    const Job& job(int number) const { return jobs_.at(std::size_t(number)); }
    const std::vector<Job>& jobs() const { return jobs_; }
    int number_of(const std::string& id) const { return std::stoi(id.substr(4)); }
    std::vector<int> checkpoints_for(const Key& key) const { return job(key.job).checkpoints; }
    std::int64_t version() const { return version_; }
    /// Compares everything with what the checker has seen.
    void check() const;

    Instant now{};    ///< its clock; set before each call, and
    Tick tick{};      ///< the simulated time, which is never set
    Tally tally{};

private:
    Attempt* find_live(const Key& key);
    Attempt& live_or_fenced(const Key& key);
    void move(int job, JobState to, const std::string& reason);
    void end(Attempt& attempt, const store::AttemptEnd& end, bool by_rescue);
    void enter(Job& job, int number, JobState state);
    void store_frame(Attempt& attempt, const Frame& frame);
    void free_by_core(const Key& key);
    void check_term(int term) const;
    std::vector<WaitingJob> ready_jobs() const;
    std::vector<RunningJob> running_jobs() const;
    std::vector<ProjectShare> shares() const;

    Checker& checker_;
    const BrokenRule broken_;
    std::vector<Job> jobs_;
    std::vector<std::vector<Attempt>> attempts_;    // by job
    std::map<std::string, int> keys_;
    std::multimap<std::pair<std::string, int>, Lease>
        leases_;    // one each, unless a rule is broken
    std::map<std::string, Host> hosts_;
    std::array<double, 3> usage_core_s_{};    // by project
    struct {
        int term = 0;
        int holder = -1;
        bool has_session = false;
        Instant expires_at{};
    } leader_;
    std::int64_t version_ = 0;    // grows with each write that the planner could see
};

}    // namespace slipway::simulator
