#pragma once

#include "scheduler/store/decisions.h"
#include "scheduler/store/jobs.h"

namespace slipway::store {

/// A waiting job, as the scheduler sees it.
struct QueuedJob {
    std::string job_id;
    std::string name;    ///< only of list_queue
    std::string project;
    std::string queue_class;
    int class_rank = 2;    ///< 0 urgent, 1 high, 2 normal, 3 low, 4 idle
    Instant queued_at;     ///< when it was submitted: a job that comes back keeps its place
    int cores = 1;
    std::optional<int> core_id;
    std::optional<std::int64_t>
        memory_bytes;    ///< that counts for it, rounded up; none: the share of its cores
    std::optional<Instant> not_before;    ///< start_after, or back-off after a lost attempt
    bool due = true;                      ///< not_before has passed (database time)
    std::optional<Instant> valid_until;
    std::string dataset_id;
    std::string dataset_state;      ///< "ready", "checking", "failed", or empty when it is gone
    std::optional<int> position;    ///< 1 = next; none: held, or behind queue_position_max jobs
    /// What its limits of time leave to it; none: no limit.
    std::optional<std::chrono::seconds> runs_at_most;
    /// By the progress of its last attempt, which it goes on with.
    std::optional<double> eta_s;
    std::string group;                 ///< of its project; empty: none
    std::optional<int> group_limit;    ///< so many of the group may run at a time
    bool preemptible = false;          ///< by its spec; only of list_forecast_jobs
    std::string pool;                  ///< of the hosts that it may run on; empty: any
    std::string crash_key;             ///< of its last end (avoided_hosts.h)
};

/// A job that holds cores, as the scheduler sees it.
struct RunningJobRow {
    std::string job_id;
    std::string project;
    int class_rank = 2;
    int cores = 1;
    Instant started_at;          ///< its attempt
    bool preemptible = false;    ///< by its spec and its state
    bool ending = false;
    std::optional<std::chrono::seconds> runs_at_most;    ///< from started_at on
    std::optional<double> eta_s;                         ///< by its own progress
    std::string group;
    std::string pool;    ///< that it would wait for, if it were queued again; empty: any
};

/// What a project with jobs in the queue is entitled to and has used.
struct ProjectStanding {
    std::string name;
    double weight = 1;
    double usage_core_s = 0;    ///< decayed to half in a day, running jobs included
    std::optional<int> cores_max;
};

struct ProjectStandings {
    std::vector<ProjectStanding> projects;
    std::optional<Instant> now;    ///< the database's; none without projects
};

/// Positions are counted so far: what a count costs does not depend on the length of the queue.
constexpr int queue_position_max = 1000;

/// A page of the queue by class and age, held jobs too. Positions are those of the fair order.
/// `projects` empty: of all.
Page<QueuedJob> list_queue(Store& store, const std::vector<std::string>& projects = {},
                           const PageRequest& page = {.limit = 200});

/// The attempts that hold cores, of one who has read them already (list_cores): what is asked of
/// them is then found by their keys.
struct HeldAttempts {
    std::vector<std::string> job_ids{};
    std::vector<int> attempts{};
};

/// The jobs that may start now, by class and age: of each project the first `of_each_shape` that
/// want the same cores. What more would wait for the same cores as they, so placement needs no
/// others, and the cost does not depend on how many jobs wait; of a group no more than its limit
/// leaves, and each group is a shape of its own. Only of these: id, project, class, age, cores,
/// core_id, memory, runs_at_most, group and its limit. Jobs of one shape may ask for different
/// memory: behind as many of them as there are cores, all of which wait for memory, others of the
/// shape wait, too. `held` none: looks for them.
std::vector<QueuedJob> list_ready_jobs(Store& store, int of_each_shape,
                                       const std::optional<HeldAttempts>& held = {});

/// Where the ready jobs of each shape begin: what one reading of the queue found. Jobs that have
/// left the queue lie in front of them in the index, and are read over again and again while some
/// transaction is held open.
struct ReadyStarts {
    struct Shape {
        std::string project;
        std::string group;
        std::string pool;
        std::int64_t shape = 0;
        int class_rank = 0;
        Instant queued_at{};
    };
    std::vector<Shape> shapes{};
    Instant fresh_since{};    ///< two seconds before that reading, by the database's clock
};

struct ReadyJobs {
    std::vector<QueuedJob> jobs{};    ///< as of list_ready_jobs
    ReadyStarts starts{};
};

/// As list_ready_jobs. With `starts` the reading begins where an earlier one, of all, has found the
/// first job of each shape: it finds what that one would have found and what was submitted since,
/// of whatever shape, but not a job that has come back to a place in front of these. Of 10,000 new
/// jobs of a class, a shape that only later ones have is found by the next reading of all.
ReadyJobs read_ready_jobs(Store& store, int of_each_shape,
                          const std::optional<HeldAttempts>& held = {},
                          const std::optional<ReadyStarts>& starts = {});

/// Who holds cores; `held` none: looks for them.
std::vector<RunningJobRow> list_running_jobs(Store& store,
                                             const std::optional<HeldAttempts>& held = {});

/// Of these projects, or, without any, of those that have jobs which may start; and of `also`,
/// unless it is empty. `held` as above.
ProjectStandings list_standings(Store& store, std::string_view also = {},
                                const std::optional<HeldAttempts>& held = {},
                                const std::optional<std::vector<std::string>>& projects = {});

/// The first `count` ready jobs in fair order, with all that list_ready_jobs reads of a job.
std::vector<QueuedJob> list_forecast_jobs(Store& store, int count);

/// How long jobs that succeeded held their cores: the median of the last 1,000 of all projects.
struct TypicalRun {
    std::optional<std::string> project;    ///< none: of all
    std::optional<int> cores;              ///< none: of any number
    std::int64_t jobs = 0;
    double median_s = 0;
};

struct TypicalRuns {
    std::vector<TypicalRun> runs;
    Instant now;    ///< the database's
};

TypicalRuns list_typical_runs(Store& store);

/// Adds up what ended attempts have used, so that few rows are read.
void fold_project_usage(Store& store, const LeaderTerm& term = {});

/// One waiting job and what holds it back; nothing when it is not queued.
std::optional<QueuedJob> find_queued_job(Store& store, std::string_view job_id);

/// Lets jobs start whose start_after or back-off has passed, at most `count_max` at once, the most
/// urgent first. Returns how many: as many as `count_max` means that there may be more.
int release_due_jobs(Store& store, int count_max, const LeaderTerm& term = {});

/// The cores that one job gets on one host.
struct PlacedMember {
    std::string host{};
    std::vector<int> cores{};    ///< each once
};

/// Cores for one job, decided by placement.
struct Placement {
    std::string job_id{};
    std::vector<PlacedMember> members{};    ///< by rank, each on a host of its own
    std::string fence{};                    ///< random_hex(16), of the new attempt
    std::optional<DecisionReason> why{};    ///< stored as a decision, with the attempt
    std::chrono::milliseconds lease{10000};
};

struct PlacementOutcome {
    std::string job_id;
    /// The new attempt's number; nothing when the race was lost (the job is gone from the queue, a
    /// core was taken or drained, the host is unknown): then nothing of this placement is stored.
    std::optional<int> attempt;
};

/// Commits attempts, leases and the state `starting`: each placement wholly or not at all, all in
/// one transaction when none collides. Rows locked by another scheduler are skipped, never waited
/// for. Two leases of one core cannot be committed, whoever asks.
std::vector<PlacementOutcome> commit_placements(Store& store,
                                                const std::vector<Placement>& placements,
                                                const LeaderTerm& term = {});

/// A row of the queue whose job is not queued. A service that works has none; a leader that met one
/// would offer the same cores to it for ever.
struct StaleQueueRow {
    std::string job_id{};
    std::string job_state{};    ///< empty: there is no such job
};
/// Removes the stale ones among the rows of these jobs.
std::vector<StaleQueueRow> drop_stale_queue_rows(Store& store, const std::vector<std::string>& ids,
                                                 const LeaderTerm& term = {});

/// Where a queued job stands among those that may start on the same hosts, or would stand if it
/// could: 1 = next;
/// queue_position_max + 1 = behind at least so many. Nothing when it is not queued.
std::optional<int> find_queue_position(Store& store, std::string_view job_id);

/// Where a job of this project, class and pool would stand if it were submitted now; likewise.
int next_queue_position(Store& store, std::string_view project, int class_rank,
                        std::string_view pool = {});

}    // namespace slipway::store
