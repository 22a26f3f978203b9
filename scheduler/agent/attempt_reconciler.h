#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/protocol/attempt_order.h"
#include "scheduler/agent/agent_parts.h"
#include "scheduler/agent/attempt_end.h"
#include "scheduler/agent/frame_tail.h"
#include "scheduler/agent/host_faults.h"
#include "scheduler/agent/spare_run_folders.h"
#include "scheduler/agent/step_threads.h"
#include "scheduler/store/relay.h"

namespace slipway {

/// The attempts of this host as the database and the processes have them, and the steps that bring
/// the two together. Everything here may be cut short by Error{unavailable} and is simply done
/// again: what was not stored is still in the run folders. One thread calls; what an attempt
/// reports is stored by others, so that a start waits for no commit.
class AttemptReconciler {
public:
    /// All outlive the reconciler.
    /// on_step_ended  called from any thread when collect() has something to do
    AttemptReconciler(const AgentParts& parts, const Clock& clock, AgentCounts& counts,
                      std::function<void()> on_step_ended);

    /// Takes in what has been stored since the last call.
    /// errors  throws what a step threw that ended because the database did not answer
    void collect();
    /// As collect(), when nothing is being stored any longer; such ends are known already.
    void collect_all();
    /// Compares the live attempts with the processes: starts new ones, adopts running ones, ends
    /// unwanted ones.
    /// after_start  called after each start, which takes milliseconds; it may call drain_events()
    ///              and relay()
    void reconcile(const std::function<void()>& after_start);
    /// Whether a process of this name runs an attempt.
    static bool is_name(const std::string& name) { return name.find('/') != std::string::npos; }
    /// Extends the leases and the host's heartbeat.
    void renew();
    /// Takes in what the supervisor saw; what does not belong to an attempt is left in `events`.
    void drain_events(SupervisorEvents& events);
    /// Begins to store what the executors reported, at most one batch of each that runs: a request
    /// to stop does not wait for an executor that reports more than the database takes; and how
    /// those ended that have said all. Returns when there is more to store, if there is.
    std::optional<Tick> relay();
    /// Whether checkpoints have become garbage since the last call.
    bool take_garbage() { return std::exchange(made_garbage_, false); }
    /// Begins to end the other attempts whose processes are gone, and forgets those that have
    /// ended.
    void finish();

private:
    /// What the supervisor saw while a step of the attempt ran.
    struct Heard {
        std::optional<Tick> spoke = {};
        bool stepped = false;
        std::optional<Ended> ended = {};
    };

    /// While `busy` it is the step's, but for what is said to be the caller's.
    struct Live {
        store::AttemptKey key;
        int rank = 0;    // of this host's member
        std::filesystem::path folder;
        FrameTail tail;
        std::int64_t frames_stored = 0;    // number of the last frame in the database
        std::optional<store::MetricSeries> metrics = {};    // as the last batch left them
        JobState job_state{};
        int restarts = 0;
        ProcessId process;
        std::string resumed_from_id;
        bool recorded = false;    // the database knows the process
        Tick record_by{};         // also when it says nothing
        bool end_stored = false;
        Tick spoke_first{};        // when its first frames were seen
        bool stepped = false;      // its first step was among them
        Tick relay_next{};         // what it says is not stored before
        Tick not_before{};         // its last step failed
        bool speaking = true;      // frames may be waiting
        bool is_steady = false;    // its batches are few frames, now and then
        bool is_watched = true;    // somebody follows what it says
        Tick awaited_until{};      // somebody has asked it for a checkpoint
        bool failed = false;       // what it reported cannot be stored: no more is read
        bool fenced = false;       // the attempt is no longer ours: nothing is written for it
        std::optional<DoneFrame> done = {};
        std::optional<Ended> ended = {};
        std::string problem = {};      // why it could not be started
        bool is_host_fault = false;    // this host lacks what it needs
        WantedHosts wanted = {};
        AgentCounts counts = {};    // of its steps since they were last collected
        bool made_garbage = false;
        // The caller's.
        bool busy = false;                      // a step of it runs
        Heard heard = {};                       // and is not taken in yet
        std::optional<Tick> time_is_up = {};    // limits.max_wall_s, max_core_s
        int saves_requested = 0;                // of which the executor was told
        // Of an attempt on several hosts.
        int hosts = 1;
        std::set<int> met = {};                  // ranks whose offers were brought
        std::optional<Tick> alone_since = {};    // another member has ended
        bool member_stored = false;              // its end is: it waits for the others
        std::vector<store::AttemptMember> ended_members = {};    // empty: not all have ended

        std::string name() const;    // among those watched
    };

    /// What a job needs from elsewhere, as the database names it; or why it cannot be had.
    struct Inputs {
        std::filesystem::path weights;
        std::filesystem::path network;
        std::vector<std::filesystem::path> checkpoints;    // that the payload names
        std::filesystem::path resume;    // from which training goes on; empty: from the beginning
        std::filesystem::path split;
        std::string split_hash;
        int project_number = 0;
        std::string missing;
    };

    struct StepEnd {
        Live* live;
        std::string problem;               // of this attempt alone; empty: none
        std::exception_ptr unavailable;    // the database did not answer
    };
    /// What an attempt said, on its way to the database. It stays where it is: the batch points at
    /// it.
    struct Words {
        Live* live;
        std::vector<store::RelayedFrame> frames = {};
        std::int64_t points_skipped_before = 0;
        store::RelayedOne batch = {};
    };
    using Step = void (AttemptReconciler::*)(Live&);

    void reconcile_one(const std::string& name, const store::HostAttempt& found,
                       const std::function<void()>& after_start);
    static std::string problem_of(const std::function<void()>& step);
    void alone(const std::string& name, const std::function<void()>& step);
    void note_problem(const std::string& name, const std::string& reason);
    void expect_words(Live& live, Tick since) const;
    Tick common_time(const Live& live, Tick from) const;
    void set_watched(Live& live, bool is_watched) const;
    void begin_step(Live& live, Step step);
    void begin_relay(std::vector<Live*> lives);
    static void try_for(StepEnd& end, const std::function<void()>& act);
    void end_steps(std::span<StepEnd> ends);
    std::exception_ptr collect_ended();
    void take_in(Live& live);
    std::filesystem::path run_folder_of(const store::AttemptKey& key, int rank) const;
    void begin(const store::HostAttempt& found);
    bool find_or_start(const store::HostAttempt& found, const Inputs& inputs, bool was_started,
                       Live& live);
    Inputs find_inputs(const store::HostAttempt& found);
    void start(const store::HostAttempt& found, const Inputs& inputs, Live& live,
               const UniqueFd& lock);
    void fail_unstarted(Live& live, const std::string& why);
    std::optional<ProcessRecord> record_of(const store::HostAttempt& found) const;
    bool adopt(const store::HostAttempt& found, const ProcessRecord& record, Live& live);
    bool is_unknown_for_long(Live& live);
    void end_forgotten(const std::set<std::string>& names);
    int threads_of(int cores) const;
    std::int64_t process_memory_bytes(const store::HostAttempt& found) const;
    void watch(const Live& live, std::unique_ptr<LaunchedProcess> process,
               const store::HostAttempt& found);
    void update(const store::HostAttempt& found, Live& live);
    void update_stored(const store::HostAttempt& found, Live& live);
    void set_time_limit(const store::HostAttempt& found, Live& live);
    void record(Live& live);
    void relay_and_finish(Live& live);
    void relay_one(Live& live);
    std::vector<StepEnd> relay_together(std::span<Live* const> lives);
    bool read_words(Live& live, std::deque<Words>& words);
    void take_answer(Words& words, const std::exception_ptr& problem);
    void keep_relayed(const Words& words);
    Tick next_relay(Live& live, std::size_t frames) const;
    static bool is_unrecorded(const Live& live);
    static Tick next_step_of(const Live& live, Tick now);
    void limit_output(Live& live);
    void fail(Live& live, const std::string& code, const std::string& why);
    void keep_done(Live& live, const DoneFrame& done);
    static bool is_complete(const Live& live);
    static bool lacks_end(const Live& live);
    void forget_ended();
    void finish_one(Live& live);
    void finish_with(Live& live, const store::AttemptEnd& end);
    store::AttemptEnd own_end(const Live& live) const;
    void let_go(Live& live);
    MemberOrder member_order(const store::HostAttempt& found, const Live& live) const;
    static bool is_asked(const Live& live, Intent intent);
    static bool is_left_alone(const store::HostAttempt& found);
    void update_member(const store::HostAttempt& found, Live& live);
    static void keep_member_frames(const Live& live, std::vector<store::RelayedFrame>& frames);
    void finish_member(Live& live);
    void store_end(const Live& live, const store::AttemptEnd& end);
    void give_up(Live& live);
    void note_start(const Live& live, const store::AttemptEnd& own);
    void drain_when_faulty();

    store::Store& store_;
    const AgentOptions& options_;
    const ArtifactStore artifacts_;
    const Launcher& launcher_;
    ProjectNumbers& projects_;
    const Clock& clock_;
    Supervisor& supervisor_;
    ProcessRecords& records_;
    AgentCounts& counts_;
    const std::function<void()> on_step_ended_;
    bool made_garbage_ = false;
    std::set<std::string> stuck_;    // of which it was logged that something is wrong
    std::map<std::string, Live> live_;
    SpareRunFolders spares_;
    HostFaults faults_;
    Tick faults_next_{};                           // no check of faults before it
    std::map<std::string, Tick> unknown_since_;    // somebody lives there and has not said who
    std::mutex mutex_;
    std::vector<StepEnd> ended_steps_;    // guarded by mutex_
    // End before what their steps use; the last steps of attempts add preparations.
    StepThreads preparations_;    // of later starts: nobody waits for them
    StepThreads steps_;
};

}    // namespace slipway
