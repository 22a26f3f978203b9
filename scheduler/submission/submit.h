#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "scheduler/store/jobs.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/queued_jobs.h"

namespace slipway::submission {

/// How many jobs a project and a token may have in the queue; 0: no limit.
struct QueueLimit {
    QueuedJobs& queued;
    std::int64_t jobs_max = 0;
};

/// Jobs of one project, and who submits them.
struct Submission {
    std::vector<CheckedJob> jobs;
    std::string token_id;
    std::string traceparent = {};                            ///< of the request; empty: none
    std::optional<store::IdempotentRequest> request = {};    ///< none: nothing is remembered
    std::optional<store::AuditEntry> audit = {};             ///< its object is the first job
    std::function<void(store::Transaction&)> also = {};      ///< as of store::SubmissionParts
};

/// Requests that are handled together: their jobs wait here and are stored at once. Used by one
/// thread.
class GatheredSubmissions {
public:
    explicit GatheredSubmissions(store::Store& store) : store_(store) {}

    /// Takes the submission, which run() will store; the answer is owned by whom run() is called
    /// for. Null, and the submission is dropped: it needs submit(), for it has several jobs, a key,
    /// an artifact or something to be stored with it.
    /// errors  as submit() for a queue without a place
    store::GatheredJob* add(const QueueLimit& limit, Submission submission);

    /// Takes over the jobs of another one.
    void join(GatheredSubmissions& other);

    /// Stores what was added. What fails is told by the jobs.
    void run() noexcept;

    bool empty() const { return jobs_.empty(); }

private:
    store::Store& store_;
    std::list<store::GatheredJob> jobs_;    // each keeps its place in memory
};

/// Names the jobs that have no name and stores them, all or none, as store::submit_jobs says.
/// `render` makes the answer that a repeated request gets again.
/// errors  as store::submit_jobs; throws exhausted (429) when a queue has no place for all of them
store::Submitted submit(store::Store& store, const QueueLimit& limit, Submission submission,
                        const store::Render& render);

}    // namespace slipway::submission
