#pragma once

#include <functional>
#include <map>
#include <span>

#include "api/spec/intent.h"
#include "api/spec/job_kind.h"
#include "api/spec/job_state.h"
#include "scheduler/store/access.h"
#include "scheduler/store/idempotency.h"
#include "scheduler/store/store.h"

namespace slipway::store {

/// What a job was made from, when it was made from another one.
struct JobOrigin {
    std::string action{};            ///< retry or fork
    std::string job_id{};            ///< that may have been deleted since
    std::string continues_from{};    ///< the checkpoint that training goes on from; empty: none
};

/// What a job is a part of.
struct JobParent {
    std::string id{};     ///< swp_… or cv_…
    std::string key{};    ///< which part of it: a trial or a fold
};

/// A job as stored. Empty JsonText = not known yet.
struct Job {
    std::string id{};    ///< job_…
    std::string name{};
    std::string project{};
    std::map<std::string, std::string> labels{};
    JobState state{};
    std::optional<Reason> reason{};
    JobKind kind{};
    JsonText spec{};         ///< normalised job spec: what runs
    JsonText payload{};      ///< what its kind asks for beside it; empty when has_payload is false
    JsonText effective{};    ///< {"world_size", "global_batch", "lr", "precision"}
    JsonText progress{};     ///< {"epoch", "step", "steps_total", "samples", …}
    JsonText best{};         ///< {"metric", "value", "step", "checkpoint"}
    JsonText result{};       ///< the executor's last words, when succeeded
    std::string dataset_id{};
    std::string queue_class{};
    std::int64_t event_seq = 0;    ///< sequence number of the newest event
    int attempts = 0;
    int restarts = 0;
    /// For ETag and If-Match: grows when state, name, labels or class change, not with progress.
    std::int64_t version = 1;
    std::string created_by{};    ///< tok_…
    Instant created_at{};
    std::optional<Instant> started_at{};
    std::optional<Instant> finished_at{};
    std::optional<JobOrigin> origin{};
    std::optional<JobParent> parent{};
    std::string traceparent{};              ///< of the request that submitted it; empty: none
    std::optional<double> order_value{};    ///< of a list by a metric: what it is ordered by
    std::vector<std::string> pruned{};      ///< kinds of what it left that are gone (retention.h)
};

/// What a route hands over once the spec has been checked.
struct NewJob {
    std::string id{};    ///< new_id("job")
    std::string name{};
    std::string project = "default";
    std::map<std::string, std::string> labels{};
    JobKind kind = JobKind::train;
    JsonText spec{};
    JsonText payload{};    ///< of a kind that has one: its request, normalised, artifacts by id
    JsonText effective{};
    std::string dataset_id{};    ///< resolved; must exist and not be `failed`
    std::string queue_class = "normal";
    int cores = 1;
    std::optional<int> core_id{};    ///< only this core, 1 to 8
    int restarts_max = 3;
    std::optional<Instant> start_after{};
    std::optional<Instant> valid_until{};
    std::string created_by{};
    /// What it begins with or reads, each once: kept until the job has ended.
    std::vector<std::string> checkpoint_ids{};
    std::vector<std::string> upload_ids{};    ///< that it begins with, likewise
    std::optional<JobOrigin> origin{};
    std::optional<JobParent> parent{};
    std::string traceparent{};    ///< a valid one of W3C Trace Context, or empty
};

struct Submitted {
    std::vector<Job> jobs{};    ///< in the order of the request; empty when replayed
    /// The answer to send: just rendered, or that of the first request with the same key.
    StoredResponse response{};
    bool replayed = false;
};

/// Makes the answer of the stored jobs; pure, and in particular without the store.
using Render = std::function<StoredResponse(std::span<const Job>)>;

/// What belongs to a submission beside its jobs.
struct SubmissionParts {
    /// Seen before with the same body: it gives the first answer, and nothing is stored. None:
    /// nothing is remembered.
    std::optional<IdempotentRequest> request{};
    /// Written with the jobs, not of a replay; its object is the first job.
    std::optional<AuditEntry> audit{};
    /// Called once, within the transaction, when the jobs are new; must not use the store. What it
    /// throws ends the submission.
    std::function<void()> admit{};
    /// What else is written in the transaction, before the jobs, not of a replay: their parent, or
    /// the decisions that made them. May be called again when the transaction runs again.
    std::function<void(Transaction&)> also{};
};

/// Stores the jobs, their queue rows, their first events, the entry of the audit log and the answer
/// under the idempotency key in one transaction: all of them or none. Throws IdempotencyMismatch,
/// IdempotencyInFlight, or Error{not_found} / Error{conflict} when a dataset is gone / failed,
/// Error{not_found} when a checkpoint or an upload is no longer kept.
Submitted submit_jobs(Store& store, std::span<const NewJob> jobs, const SubmissionParts& parts,
                      const Render& render);

/// A job of a request that may be stored together with those of others.
struct GatheredJob {
    NewJob job{};
    std::optional<AuditEntry> audit{};
    std::optional<Job> stored{};    ///< by submit_gathered
    std::exception_ptr error{};     ///< else: what submit_jobs would have thrown
};

/// Whether submit_jobs would store this job without a transaction that it has for itself. A job
/// that needs one cannot be gathered.
bool can_be_gathered(const NewJob& job);

/// Stores jobs that have nothing to do with each other: each of them or not, as if submit_jobs were
/// called for each without a key. Does not throw.
void submit_gathered(Store& store, std::span<GatheredJob* const> jobs) noexcept;

std::optional<Job> find_job(Store& store, std::string_view id);

enum class JobOrder { created_at, name, finished_at };

/// From `from` on and before `until`, where these are given.
struct TimeRange {
    std::optional<Instant> from{};
    std::optional<Instant> until{};
};

/// As JobFilter::parent_id: jobs that are no trial and no fold.
inline constexpr std::string_view no_parent = "none";

/// Every field narrows; an empty one does not.
struct JobFilter {
    std::vector<JobState> states{};
    std::vector<std::string> projects{};
    std::string name_contains{};    ///< letter case is ignored; % and _ mean themselves
    std::map<std::string, std::string> labels{};    ///< all of them
    std::string dataset_id{};
    std::optional<JobKind> kind{};
    std::string parent_id{};    ///< or no_parent
    TimeRange created{};
    TimeRange finished{};    ///< with a bound, only jobs that have ended
};

/// Newest first by default.
Page<Job> list_jobs(Store& store, const JobFilter& filter, const PageRequest& page,
                    JobOrder order = JobOrder::created_at, bool descending = true);

/// What of a metric's finite values jobs are ordered by.
enum class MetricValue { last, lowest, highest };

struct MetricOrder {
    std::string metric{};
    MetricValue value = MetricValue::last;
    bool descending = false;
};

/// The jobs that have such a value, by it; jobs have their `order_value`.
Page<Job> list_jobs_by_metric(Store& store, const JobFilter& filter, const PageRequest& page,
                              const MetricOrder& order);

struct JobPatch {
    std::optional<std::string> name{};
    std::optional<std::map<std::string, std::string>> labels{};
    // Only while queued, else Error{conflict}.
    std::optional<std::string> queue_class{};
    std::optional<std::string> pool{};    ///< in its spec and in the queue; any_pool: all hosts
};

/// The changed job; nothing when there is none. Another `version` than `expected` (If-Match):
/// VersionMismatch.
std::optional<Job> patch_job(Store& store, std::string_view id, const JobPatch& patch,
                             std::optional<std::int64_t> expected);

/// The object has changed since it was read (412 on the wire).
class VersionMismatch : public Error {
public:
    explicit VersionMismatch(std::int64_t present);
    std::int64_t present() const { return present_; }

private:
    std::int64_t present_;
};

/// Asks the job's live attempt to end as `intent` says (its agent does the rest), or moves a job
/// that has none where the intent leads: cancel and kill to cancelled, pause to paused. Asked again
/// or there already: nothing happens. A sharper intent takes the place of a milder one (a kill that
/// of a cancel). A job that cannot go there: IllegalTransition. Returns the job after it; nothing
/// when there is none. `timeout` is the agent's alone.
std::optional<Job> request_intent(Store& store, std::string_view id, Intent intent,
                                  const Reason& reason);

/// Where request_intent would take a job in this state; nothing when it stays. Pure. errors  throws
/// IllegalTransition
std::optional<JobState> state_after(Intent intent, JobState present);

/// Whether resume_job moves a job in this state, or leaves it as it is. Pure. errors  throws
/// IllegalTransition
bool is_resumed(JobState present);

/// Asks a job that starts, compiles or runs to save and give its cores up (Intent::preempt), as the
/// leader. False when it does something else by now. errors  throws LeaderReplaced
bool preempt_job(Store& store, std::string_view id, const Reason& reason, const LeaderTerm& term);

/// Puts a paused job back into the queue, at the place of its age. One that is queued or runs stays
/// as it is; one that cannot go on: IllegalTransition. Returns the job after it; nothing when there
/// is none.
std::optional<Job> resume_job(Store& store, std::string_view id);

/// Asks the live attempt of a training job for a checkpoint; it goes on after it. A job that has no
/// live attempt, or one that is ending: Error{conflict}. Returns the job; nothing when there is
/// none.
std::optional<Job> request_save(Store& store, std::string_view id);

/// Moves a job to another state with its `state` event: pause, resume, preempt; stop while queued.
/// Already there: nothing happens. A job with a live attempt reaches an end state or the queue only
/// through finish_attempt. Throws IllegalTransition, Error{not_found}.
Job move_job(Store& store, std::string_view id, JobState to, const std::optional<Reason>& reason);

/// Removes a finished job and everything stored about it; its folders become garbage (see hosts.h).
/// Its events and points are out of reach at once and go later (see deleted_jobs.h). False when
/// there is none; a job that has not ended is Error{conflict}, and so is one that made a checkpoint
/// which a job that has not ended uses.
bool delete_job(Store& store, std::string_view id);

/// Asks every job of the parent that has not ended to end as `intent` says (cancel or kill), each
/// as by request_intent. Returns the ids of those that it has asked, at most `jobs_max`; call it
/// again until there are none.
std::vector<std::string> end_jobs_of_parent(Store& store, std::string_view parent_id, Intent intent,
                                            const Reason& reason, int jobs_max = 1000);

/// Removes the jobs of the parent as delete_job does, at most `jobs_max`; how many. Call it again
/// until there are none. errors  throws conflict when a job has not ended, and as delete_job
int delete_jobs_of_parent(Store& store, std::string_view parent_id, int jobs_max = 1000);

/// Queued jobs that never started and are past `valid_until` become `expired`, at most a thousand
/// at once. Returns their ids.
std::vector<std::string> expire_queued_jobs(Store& store, const LeaderTerm& term = {});

/// How many jobs are in each state; states without jobs are absent. For /metrics. Reads changes
/// since fold_job_counts, not jobs.
std::map<JobState, std::int64_t> count_jobs(Store& store);

/// How many jobs are in the queue: those of a project, and those that a token has submitted.
struct QueuedCounts {
    std::int64_t of_project = 0;
    std::int64_t of_token = 0;
};

QueuedCounts count_queued_jobs(Store& store, std::string_view project, std::string_view token_id);

/// Adds changes of the counts up. Of those of held jobs 10,000 at once, which take some 10 ms: a
/// start that comes meanwhile waits for no more than that. True: there are more.
bool fold_job_counts(Store& store, const LeaderTerm& term = {});

}    // namespace slipway::store
