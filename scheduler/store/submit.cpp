#include <fmt/core.h>

#include <utility>

#include "scheduler/store/idempotency_steps.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Statement insert_statement(const NewJob& job) {
    return {&queries::insert_job,
            {job.id, job.name, job.project, labels_to_json(job.labels), job.spec,
             Param::or_null(job.effective), Param::or_null(job.dataset_id), job.queue_class,
             job.cores, job.core_id, job.restarts_max, job.start_after, job.valid_until,
             job.created_by, to_string(job.kind), Param::or_null(job.payload)}};
}

/// Throws unless the dataset can be waited for; it cannot change before the transaction ends.
void check_dataset(const Rows& rows, const std::string& id) {
    if (rows.empty()) {
        throw Error{ErrorCode::not_found, fmt::format("there is no dataset {}", id)};
    }
    if (rows[0].text("state") == "failed") {
        throw Error{ErrorCode::conflict, fmt::format("the dataset {} failed its check", id)};
    }
}

/// Throws unless it is kept; it is as long as the transaction lasts.
void check_checkpoint(const Rows& rows, const std::string& id) {
    if (rows.empty() || rows[0].flag("deleted")) {
        throw Error{ErrorCode::not_found, fmt::format("the checkpoint {} is no longer kept", id)};
    }
}

Submitted submit_in(Transaction& transaction, const NewJob& job,
                    const std::optional<IdempotentRequest>& request,
                    const std::function<StoredResponse(const Job&)>& render,
                    const std::function<void()>& admit) {
    if (request) {
        if (std::optional<StoredResponse> first =
                claim_key(transaction, *request, Repeat::harmless)) {
            return {.job = {}, .response = std::move(*first), .replayed = true};
        }
    }
    admit();
    if (!job.dataset_id.empty()) {
        check_dataset(transaction.run(queries::lock_dataset_of_job, {job.dataset_id}),
                      job.dataset_id);
    }
    std::vector<Statement> statements{insert_statement(job)};
    if (!job.checkpoint_id.empty()) {
        check_checkpoint(transaction.run(queries::lock_checkpoint_of_job, {job.checkpoint_id}),
                         job.checkpoint_id);
        statements.push_back({&queries::use_checkpoint, {job.checkpoint_id, job.id}});
    }
    if (!job.upload_id.empty() &&
        transaction.run(queries::lock_upload_of_job, {job.upload_id}).empty()) {
        throw Error{ErrorCode::not_found, fmt::format("there is no upload {}", job.upload_id)};
    }
    statements.push_back({&queries::find_job, {job.id}});
    const std::vector<Rows> answers = transaction.run(std::move(statements));
    Submitted submitted{.job = read_job(answers.back()[0]), .response = {}, .replayed = false};
    submitted.response = render(submitted.job);
    std::vector<Statement> last;
    if (request) last.push_back(keep_answer(*request, submitted.response));
    transaction.commit(std::move(last));
    return submitted;
}

}    // namespace

Submitted submit_job(Store& store, const NewJob& job,
                     const std::optional<IdempotentRequest>& request,
                     const std::function<StoredResponse(const Job&)>& render,
                     const std::function<void()>& admit) {
    bool admitted = !admit;
    const auto admit_once = [&] {
        // A transaction may run again; the job is one all the same.
        if (!std::exchange(admitted, true)) admit();
    };
    Submitted submitted = transact(store.pool(), [&](Transaction& transaction) {
        return submit_in(transaction, job, request, render, admit_once);
    });
    if (!submitted.replayed) {
        store.announce(job.id);
        store.announce(topics::queue);
    }
    return submitted;
}

}    // namespace slipway::store
