#pragma once

#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/connection.h"

// Steps that several flows over the table `job` share, inside of their transactions.
namespace slipway::store {

/// A row of find_job or of a list of jobs.
Job read_job(const Row& row);

/// The state in a row. The database's words are ours: a test compares them.
JobState read_state(const Row& row);

/// The kind in a row, likewise.
JobKind read_kind(const Row& row);

/// What is asked of the job's live attempt.
std::optional<Intent> intent_of(const Row& row);

/// Where a job stands, with its row locked until the transaction ends.
struct LockedJob {
    JobState state{};
    std::optional<Intent> intent;
    std::int64_t version = 0;
};
std::optional<LockedJob> lock_job(Transaction& transaction, std::string_view id);

/// The statement that moves a job, with the intent that `to` has by default; the triggers write its
/// event or refuse.
Statement move_statement(std::string_view id, JobState to, const std::optional<Reason>& reason);

/// The statement that takes a job, which is locked until the transaction ends, where the intent
/// leads; none when there is no such job, or it has ended, or is on its way there.
std::optional<Statement> lock_and_ask(Transaction& transaction, std::string_view id, Intent intent,
                                      const Reason& reason);

}    // namespace slipway::store
