#include <fmt/core.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "scheduler/store/idempotency_steps.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/columns.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/submission_group.h"
#include "scheduler/store/text.h"

// How jobs are stored. One statement stores jobs, by triggers with their events and queue rows, and
// the entries of the audit log; it locks their datasets (shared: many jobs of one dataset are
// submitted at a time, and only its end of check or deletion waits for them) and passes over jobs
// whose dataset cannot be used.
//
// The common request is one job without a key: one statement that commits by itself. Such requests
// that come while others are being stored go together (pg/group_commit.h): half of what a
// submission costs the database is the statement and the commit, not the row.
//
// What needs more is a transaction: the key of the request, locks on the checkpoints or uploads
// that a job begins with, several jobs of which all or none are stored, and the answer that is kept
// under the key, which is made of the stored jobs.
namespace slipway::store {

namespace {

/// The parameters of insert_jobs that one job fills.
std::vector<Param> params_of(const NewJob& job, const AuditEntry* audit) {
    const JobOrigin origin = job.origin.value_or(JobOrigin{});
    const JobParent parent = job.parent.value_or(JobParent{});
    std::vector<Param> params{job.id,
                              job.name,
                              job.project,
                              labels_to_json(job.labels),
                              job.spec,
                              Param::or_null(job.effective),
                              Param::or_null(job.dataset_id),
                              job.queue_class,
                              job.cores,
                              job.core_id,
                              job.restarts_max,
                              job.start_after,
                              job.valid_until,
                              job.created_by,
                              to_string(job.kind),
                              Param::or_null(job.payload),
                              Param::or_null(origin.action),
                              Param::or_null(origin.job_id),
                              Param::or_null(origin.continues_from),
                              Param::or_null(job.traceparent),
                              Param::or_null(parent.id),
                              Param::or_null(parent.key)};
    if (audit != nullptr) {
        const JsonText detail = audit->detail.empty() ? "{}" : audit->detail;
        params.insert(params.end(), {audit->action, audit->token_id, audit->request_id, detail});
    } else {
        params.resize(params.size() + 4, std::nullopt);
    }
    return params;
}

std::map<std::string, Job, std::less<>> by_id(const Rows& rows) {
    std::map<std::string, Job, std::less<>> jobs;
    for (const Row row : rows) {
        Job job = read_job(row);
        std::string id = job.id;
        jobs.emplace(std::move(id), std::move(job));
    }
    return jobs;
}

void store_together(Pool& pool, std::span<SubmittedOne* const> ones) {
    Columns wanted(queries::insert_jobs);
    for (const SubmittedOne* one : ones)
        wanted.add(params_of(*one->job, one->audit));
    auto stored = by_id(write(pool, wanted.statement()));
    for (SubmittedOne* one : ones) {
        if (auto found = stored.extract(one->job->id)) one->stored = std::move(found.mapped());
    }
}

/// Why insert_jobs has not stored a job of this dataset.
Error dataset_error(const Rows& state, const std::string& id) {
    if (state.empty()) return {ErrorCode::not_found, fmt::format("there is no dataset {}", id)};
    return {ErrorCode::conflict, fmt::format("the dataset {} failed its check", id)};
}

/// Throws unless the checkpoints and the uploads that the job needs are kept; they are as long as
/// the transaction lasts.
void lock_artifacts(Transaction& transaction, const NewJob& job) {
    if (!job.checkpoint_ids.empty()) {
        std::set<std::string> kept;
        for (const Row& row :
             transaction.run(queries::lock_checkpoints_of_job, {job.checkpoint_ids}))
            if (!row.flag("deleted")) kept.insert(row.text("id"));
        for (const std::string& id : job.checkpoint_ids)
            if (!kept.contains(id))
                throw Error{ErrorCode::not_found,
                            fmt::format("the checkpoint {} is no longer kept", id)};
    }
    for (const std::string& id : job.upload_ids)
        if (transaction.run(queries::lock_upload_of_job, {id}).empty())
            throw Error{ErrorCode::not_found, fmt::format("there is no upload {}", id)};
}

std::vector<Job> insert_in(Transaction& transaction, std::span<const NewJob> jobs,
                           const std::optional<AuditEntry>& audit) {
    Columns wanted(queries::insert_jobs);
    for (const NewJob& job : jobs)
        wanted.add(params_of(job, audit && wanted.empty() ? &*audit : nullptr));
    std::vector<Statement> statements{wanted.statement()};
    for (const NewJob& job : jobs) {
        if (!job.checkpoint_ids.empty())
            statements.push_back({&queries::use_checkpoints, {job.checkpoint_ids, job.id}});
    }
    auto found = by_id(transaction.run(std::move(statements)).front());
    std::vector<Job> stored;
    for (const NewJob& job : jobs) {
        auto one = found.extract(job.id);
        if (!one) {
            throw dataset_error(transaction.run(queries::find_state_of_dataset, {job.dataset_id}),
                                job.dataset_id);
        }
        stored.push_back(std::move(one.mapped()));
    }
    return stored;
}

Submitted submit_in(Transaction& transaction, std::span<const NewJob> jobs,
                    const SubmissionParts& parts, const Render& render) {
    if (parts.request) {
        if (std::optional<StoredResponse> first =
                claim_key(transaction, *parts.request, Repeat::harmless)) {
            return {.jobs = {}, .response = std::move(*first), .replayed = true};
        }
    }
    if (parts.admit) parts.admit();
    if (parts.also) parts.also(transaction);
    for (const NewJob& job : jobs)
        lock_artifacts(transaction, job);
    Submitted submitted{
        .jobs = insert_in(transaction, jobs, parts.audit), .response = {}, .replayed = false};
    submitted.response = render(submitted.jobs);
    if (parts.request) transaction.commit({keep_answer(*parts.request, submitted.response)});
    return submitted;
}

/// Throws why the job of this dataset was passed over.
[[noreturn]] void throw_unusable(Store& store, const std::string& dataset_id) {
    throw dataset_error(read(store.pool(), queries::find_state_of_dataset, {dataset_id}),
                        dataset_id);
}

void finish_gathered(Store& store, GatheredJob& job, std::optional<Job> stored,
                     const std::exception_ptr& error) {
    job.stored = std::move(stored);
    job.error = error;
    if (job.error) return;
    if (job.stored) return store.announce(job.stored->id);
    try {
        throw_unusable(store, job.job.dataset_id);
    } catch (const Error&) {
        job.error = std::current_exception();
    }
}

Submitted submit_one(Store& store, const NewJob& job, const SubmissionParts& parts,
                     const Render& render) {
    if (parts.admit) parts.admit();
    SubmittedOne one{.job = &job, .audit = parts.audit ? &*parts.audit : nullptr};
    store.submissions().add(one);
    if (!one.stored) throw_unusable(store, job.dataset_id);
    Submitted submitted{.jobs = {std::move(*one.stored)}, .response = {}, .replayed = false};
    submitted.response = render(submitted.jobs);
    return submitted;
}

Submitted submit_all(Store& store, std::span<const NewJob> jobs, const SubmissionParts& parts,
                     const Render& render) {
    SubmissionParts once = parts;
    // A transaction may run again; the jobs are the same.
    once.admit = [&, admitted = !parts.admit]() mutable {
        if (!std::exchange(admitted, true)) parts.admit();
    };
    return transact(store.pool(), [&](Transaction& transaction) {
        return submit_in(transaction, jobs, once, render);
    });
}

}    // namespace

std::unique_ptr<GroupCommit<SubmittedOne>> make_submission_group(Pool& pool) {
    return std::make_unique<GroupCommit<SubmittedOne>>(
        [&pool](std::span<SubmittedOne* const> ones) { store_together(pool, ones); });
}

bool can_be_gathered(const NewJob& job) {
    return job.checkpoint_ids.empty() && job.upload_ids.empty();
}

void submit_gathered(Store& store, std::span<GatheredJob* const> jobs) noexcept {
    std::vector<SubmittedOne> ones;
    for (const GatheredJob* job : jobs)
        ones.push_back({.job = &job->job, .audit = job->audit ? &*job->audit : nullptr});
    std::vector<SubmittedOne*> group;
    for (SubmittedOne& one : ones)
        group.push_back(&one);
    std::vector<std::exception_ptr> errors(jobs.size());
    store.submissions().add_group(group, errors);
    for (std::size_t i = 0; i < jobs.size(); ++i)
        finish_gathered(store, *jobs[i], std::move(ones[i].stored), errors[i]);
    store.announce(topics::queue);
}

Submitted submit_jobs(Store& store, std::span<const NewJob> jobs, const SubmissionParts& parts,
                      const Render& render) {
    const NewJob& first = jobs.front();
    const bool is_alone =
        jobs.size() == 1 && !parts.request && !parts.also && can_be_gathered(first);
    Submitted submitted =
        is_alone ? submit_one(store, first, parts, render) : submit_all(store, jobs, parts, render);
    for (const Job& job : submitted.jobs)
        store.announce(job.id);
    if (!submitted.replayed) store.announce(topics::queue);
    return submitted;
}

}    // namespace slipway::store
