#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "scheduler/store/idempotency_steps.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

// How jobs are stored. One transaction holds everything: the key of the request, locks on what the
// jobs need (a dataset that has not failed, checkpoints and uploads that are kept), the jobs with
// their events and queue rows (by triggers), the entry of the audit log, and the answer under the
// key. Locks are shared: many
// jobs of one dataset are submitted at a time, and only its end of check or deletion waits for
// them.
//
// The common request, one job without a key, is one round trip: the insert takes the dataset's lock
// and does nothing when it cannot be used, and the commit rides along. With a key there are three,
// since the answer that is kept under it is made of the stored job; several jobs take one more,
// because whether all were stored is known only before the commit.
namespace slipway::store {

namespace {

Statement insert_statement(const NewJob& job) {
    const JobOrigin origin = job.origin.value_or(JobOrigin{});
    return {
        &queries::insert_job,
        {job.id, job.name, job.project, labels_to_json(job.labels), job.spec,
         Param::or_null(job.effective), Param::or_null(job.dataset_id), job.queue_class, job.cores,
         job.core_id, job.restarts_max, job.start_after, job.valid_until, job.created_by,
         to_string(job.kind), Param::or_null(job.payload), Param::or_null(origin.action),
         Param::or_null(origin.job_id), Param::or_null(origin.continues_from)}};
}

Statement audit_statement(const AuditEntry& entry, const std::string& job_id) {
    return {&queries::append_audit_of_job,
            {entry.token_id, entry.action, job_id, entry.request_id,
             entry.detail.empty() ? "{}" : entry.detail}};
}

/// Why insert_job has stored nothing.
Error dataset_error(Transaction& transaction, const std::string& id) {
    const Rows rows = transaction.run(queries::find_state_of_dataset, {id});
    if (rows.empty()) return {ErrorCode::not_found, fmt::format("there is no dataset {}", id)};
    return {ErrorCode::conflict, fmt::format("the dataset {} failed its check", id)};
}

/// Throws unless the checkpoint and the uploads that the job needs are kept; they are as long as
/// the transaction lasts.
void lock_artifacts(Transaction& transaction, const NewJob& job) {
    if (!job.checkpoint_id.empty()) {
        const Rows rows = transaction.run(queries::lock_checkpoint_of_job, {job.checkpoint_id});
        if (rows.empty() || rows[0].flag("deleted")) {
            throw Error{ErrorCode::not_found,
                        fmt::format("the checkpoint {} is no longer kept", job.checkpoint_id)};
        }
    }
    if (!job.upload_id.empty() &&
        transaction.run(queries::lock_upload_of_job, {job.upload_id}).empty()) {
        throw Error{ErrorCode::not_found, fmt::format("there is no upload {}", job.upload_id)};
    }
}

void add_statements(const NewJob& job, std::vector<Statement>& statements) {
    statements.push_back(insert_statement(job));
    if (!job.checkpoint_id.empty())
        statements.push_back({&queries::use_checkpoint, {job.checkpoint_id, job.id}});
    statements.push_back({&queries::find_job, {job.id}});
}

/// The jobs of the answers to `add_statements` of each.
std::vector<Job> read_jobs(Transaction& transaction, std::span<const NewJob> jobs,
                           const std::vector<Rows>& answers) {
    std::vector<Job> stored;
    std::size_t next = 0;
    for (const NewJob& job : jobs) {
        next += job.checkpoint_id.empty() ? 2 : 3;
        const Rows& found = answers.at(next - 1);
        if (found.empty()) throw dataset_error(transaction, job.dataset_id);
        stored.push_back(read_job(found[0]));
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
    std::vector<Statement> statements;
    for (const NewJob& job : jobs) {
        lock_artifacts(transaction, job);
        add_statements(job, statements);
    }
    std::vector<Statement> last;
    if (parts.audit) last.push_back(audit_statement(*parts.audit, jobs.front().id));
    // One job without a key: nothing to look at before the commit.
    const bool at_once = jobs.size() == 1 && !parts.request;
    if (at_once) std::ranges::move(last, std::back_inserter(statements));
    const std::vector<Rows> answers = at_once ? transaction.commit(std::move(statements))
                                              : transaction.run(std::move(statements));
    Submitted submitted{
        .jobs = read_jobs(transaction, jobs, answers), .response = {}, .replayed = false};
    submitted.response = render(submitted.jobs);
    if (at_once) return submitted;
    if (parts.request) last.push_back(keep_answer(*parts.request, submitted.response));
    transaction.commit(std::move(last));
    return submitted;
}

}    // namespace

Submitted submit_jobs(Store& store, std::span<const NewJob> jobs, const SubmissionParts& parts,
                      const Render& render) {
    SubmissionParts once = parts;
    // A transaction may run again; the jobs are the same.
    once.admit = [&, admitted = !parts.admit]() mutable {
        if (!std::exchange(admitted, true)) parts.admit();
    };
    Submitted submitted = transact(store.pool(), [&](Transaction& transaction) {
        return submit_in(transaction, jobs, once, render);
    });
    for (const Job& job : submitted.jobs)
        store.announce(job.id);
    if (!submitted.replayed) store.announce(topics::queue);
    return submitted;
}

}    // namespace slipway::store
