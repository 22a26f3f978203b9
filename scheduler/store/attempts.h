#pragma once

#include "scheduler/store/jobs.h"

namespace slipway::store {

/// How an attempt ended and where its job goes.
struct AttemptEnd {
    std::string exit_kind{};
    std::optional<int> exit_status{};
    std::string message{};
    /// An end state; or `queued` to run again (restarts + 1, after `retry_after`); or `paused`.
    JobState job_state{};
    bool counts_as_restart = true;    ///< false for preemption and drain: only with `queued`
    std::chrono::milliseconds retry_after{0};
    /// More than retry_after: each end in a row with the same crash_key doubles that, up to this.
    std::chrono::milliseconds retry_after_max{0};
    std::optional<Reason> reason{};
    JsonText result{};    ///< kept when not empty
    /// Of a process that vanished: how and where, in one word; or of a cause that passes, as a full
    /// disk. The repeats_max-th time in a row that a job's attempt ends so is its end, with the
    /// code of the reason, else repeated_crash. Empty: nobody knows.
    std::string crash_key{};
    int repeats_max = 3;    ///< 0: as often as that takes
    /// The host that could not start it, for a reason of its own: the job may start on another one.
    /// Empty: none is to blame.
    std::string fault_host{};
    /// It fails once every host that could run it has refused it; else it waits for a repair.
    bool fails_everywhere = false;
};

/// What one host does of an attempt: one executor on some of its cores.
struct AttemptMember {
    int rank = 0;    ///< 0, 1, 2 … within the attempt; rank 0 reports for all
    std::string host{};
    std::vector<int> cores{};
    std::optional<std::int64_t> pid{};            ///< of the executor
    std::optional<std::int64_t> start_ticks{};    ///< field 22 of /proc/<pid>/stat
    std::int64_t frames_relayed = 0;              ///< number of the last frame stored
    std::string rendezvous{};    ///< what it offers to the other members; empty: nothing yet
    std::optional<Instant> ended_at{};    ///< of a slice: its process is gone
    std::optional<AttemptEnd> end{};      ///< what its host would make of that alone
};

/// One try to run a job. Live until `ended_at`; at most one live attempt per job.
struct Attempt {
    std::string job_id{};
    int attempt = 0;
    std::string fence{};
    std::vector<AttemptMember> members{};    ///< all of them, by rank
    std::string resumed_from{};              ///< ckp_… or empty
    std::string exit_kind{};    ///< succeeded failed cancelled timed_out orphaned crashed lost …
    std::optional<int> exit_status{};    ///< as the executor's exit code, or 128 + signal
    std::string message{};
    Instant created_at{};
    std::optional<Instant> started_at{};    ///< when a process of it was first recorded
    std::optional<Instant> ended_at{};

    AttemptKey key() const { return {job_id, attempt, fence}; }
};

/// Everything the agent of a host needs to start, adopt or stop its member of one attempt.
struct HostAttempt {
    Attempt attempt;
    int rank = 0;    ///< of the host's member
    std::string project;
    JobState job_state{};
    std::optional<Intent> intent;    ///< what is asked of it
    JsonText spec;
    JobKind kind{};
    JsonText payload;    ///< as Job has it
    int restarts = 0;
    int restarts_max = 3;
    std::string crash_key;    ///< of the job's last end
    std::string dataset_id;
    std::string dataset_name;
    std::string dataset_format;
    JsonText dataset_source;
    JsonText dataset_options;
    std::string dataset_content_hash;
    /// The newest checkpoint of the job, or the one that it continues another job's training from:
    /// its name, its id and the job that made it; empty: none.
    std::string resume_checkpoint;
    std::string resume_checkpoint_id;
    std::string resume_job_id;
    int saves_requested = 0;       ///< checkpoints that were asked for, ever
    std::string traceparent;       ///< as Job has it
    bool lease_expired = false;    ///< that of the host, by database time
    bool is_watched = false;       ///< somebody follows what it reports (watched.h)

    const AttemptMember& member() const { return attempt.members.at(std::size_t(rank)); }
};

/// The live attempts with a member on this host, oldest first: to start (no pid yet), to adopt, to
/// stop.
std::vector<HostAttempt> list_live_attempts(Store& store, std::string_view host);

/// The newest attempts of a job, first to last; the next page holds those before them.
Page<Attempt> list_attempts(Store& store, std::string_view job_id, const PageRequest& page = {});

/// How long the attempts of a job have run together until now, by the database's clock alone: what
/// limits of time count. A host whose clock is wrong counts as others do.
std::chrono::duration<double> find_run_time(Store& store, std::string_view job_id);

/// The executor of one member, and the checkpoint it was told to start from. Throws Fenced, also
/// for a rank that the attempt has not.
void record_process(Store& store, const AttemptKey& key, int rank, std::int64_t pid,
                    std::int64_t start_ticks, std::string_view resumed_from_id);

/// What the other members of a slice need to connect to this one, any bytes; the first offer
/// counts. Throws Fenced.
void offer_rendezvous(Store& store, const AttemptKey& key, int rank, std::string_view bytes);

/// The process of a member of a slice is gone. The attempt goes on until finish_attempt; the first
/// end counts. Throws Fenced.
void end_member(Store& store, const AttemptKey& key, int rank, const AttemptEnd& end);

/// A live attempt on several hosts, and its job.
struct Slice {
    Attempt attempt{};
    std::string project{};
    std::string job_name{};
    JobState job_state{};
};

/// The slices that run, oldest first. `projects` empty: of all.
std::vector<Slice> list_slices(Store& store, const std::vector<std::string>& projects = {});

/// One heartbeat of a host: its row, and its leases of the attempts it holds, extended to now +
/// `lease`. Returns those it no longer holds (ended or fenced): stop their executors. A lease that
/// ran out but was not rescued is simply renewed.
std::vector<AttemptKey> renew_leases(Store& store, std::string_view host,
                                     const std::vector<AttemptKey>& held,
                                     std::chrono::milliseconds lease);

/// Ends a live attempt after its process group is gone: leases go, the job moves (`state` event),
/// an end state also writes the event `end`. When the job is cancelling and `job_state` is
/// `queued`, it becomes cancelled instead; when restarts are used up, failed with code
/// executor_lost. Returns the state the job went to. Throws Fenced, IllegalTransition.
JobState finish_attempt(Store& store, const AttemptKey& key, const AttemptEnd& end);

struct Rescued {
    AttemptKey key;
    std::string host;        ///< of rank 0
    JobState job_state{};    ///< where the job went: queued, failed, cancelled, paused
};

/// Which attempts are lost: those one of whose leases ran out at least so long ago.
/// The leases of a live attempt on one host, as they were seen.
struct HeldLease {
    AttemptKey key{};
    std::string host{};
    Instant expires_at{};    ///< another one after each heartbeat of the host
};

std::vector<HeldLease> list_leases(Store& store);

/// Ends attempts that have lost a host: exit kind `lost`, then as finish_attempt with `queued`. Of
/// each only while its lease is as it was seen, so a heartbeat that arrives in between wins.
std::vector<Rescued> rescue_lost(Store& store, const std::vector<HeldLease>& silent,
                                 const LeaderTerm& term = {});

}    // namespace slipway::store
