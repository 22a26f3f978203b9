#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/spec/job_state.h"
#include "bench/simulator/job_shape.h"
#include "bench/simulator/rules.h"

namespace slipway::simulator {

/// One attempt as everybody names it.
struct Key {
    int job = 0;    ///< place in the list of jobs
    int attempt = 0;
    std::uint64_t fence = 0;
    auto operator<=>(const Key&) const = default;
};

/// Sees everything that is written and keeps its own record of it, so that a rule which the model
/// of the store forgets is missed here. Every function throws Violation when what it is told breaks
/// a promise: those of the design, I1 to I7 (docs/decisions/0042).
class Checker {
public:
    void job_accepted(int job, const std::string& idempotency_key, const JobShape& shape);
    void job_moved(int job, JobState from, JobState to, const std::string& reason);
    void end_asked(int job) { jobs_.at(std::size_t(job)).end_asked = true; }
    void attempt_began(const Key& key, const std::string& host, const std::vector<int>& cores);
    void attempt_written(const Key& key, const std::string& what);
    void attempt_ended(const Key& key);
    /// `lease_is_valid`: its host has renewed a lease that has not run out, by the simulated time
    /// and not by the clock; the loss must leave the restarts.
    void attempt_rescued(const Key& key, bool lease_is_valid, int restarts_added, JobState to);
    void frame_stored(const Key& key, std::int64_t number);
    void step_stored(const Key& key, int step);
    void checkpoint_stored(const Key& key, int step);
    void leader_wrote(int term, int newest_term);
    /// The processes of a host: one at a time on a core, but those that are known to be replaced.
    void process_started(const Key& key, const std::string& host, const std::vector<int>& cores);
    /// `vanished`: without a last frame.
    void process_gone(const Key& key, bool vanished);
    /// The leases as they are now, of all cores: host, core, attempt.
    void leases_are(const std::vector<std::tuple<std::string, int, Key>>& leases) const;
    /// Nothing more comes: each job has ended, as its life says.
    void all_ended() const;
    void job_state_is(int job, JobState state, bool is_in_queue, int live_attempts) const;

    int live_attempt(int job) const { return jobs_.at(std::size_t(job)).live; }

private:
    struct SeenAttempt {
        Key key;
        std::string host;
        std::vector<int> cores;
        std::int64_t frames = 0;
        int resumed_from = 0;    // the newest checkpoint when it began
        int step = 0;            // the last one stored
        bool ended = false;
    };
    struct SeenJob {
        JobShape shape;
        JobState state = JobState::queued;
        int ends = 0;
        int live = 0;    // number of the live attempt; 0: none
        int checkpoint = 0;
        int vanished = 0;          // processes of it
        bool end_asked = false;    // by a user: cancel or kill
        std::string reason;
        std::vector<SeenAttempt> attempts;
    };
    struct Process {
        std::string host;
        std::vector<int> cores;
    };

    SeenAttempt& attempt_of(const Key& key);

    std::vector<SeenJob> jobs_;
    std::map<std::string, int> by_key_;
    std::map<Key, Process> processes_;
};

}    // namespace slipway::simulator
