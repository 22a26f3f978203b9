#include "scheduler/store/attempts.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/settlement.h"
#include "scheduler/store/text.h"

// How an attempt ends, asked for by its agent or by the rescue of a silent host.
namespace slipway::store {

namespace {

constexpr std::size_t message_bytes_max = 4000;

/// The job of a live attempt, with the rows of both locked.
struct LockedAttempt {
    EndingJob job;
    std::string host;
};

LockedAttempt read_locked(const Row& row) {
    return {.job = {.state = read_state(row),
                    .restarts = row.small("restarts"),
                    .restarts_max = row.small("restarts_max"),
                    .reason = reason_of(row),
                    .crash_key = row.text("crash_key"),
                    .crashes = row.small("crashes")},
            .host = row.text("host")};
}

std::vector<Statement> end_statements(const AttemptKey& key, const EndingJob& job,
                                      const Settlement& settlement, const AttemptEnd& end) {
    std::vector<Statement> statements;
    for (const JobState state : states_between(job.state, settlement.state))
        statements.push_back(move_statement(key.job_id, state, std::nullopt));
    std::optional<Reason> reason = settlement.reason;
    if (reason) reason->message = repaired_text(reason->message, message_bytes_max);
    const JsonText result = end.result.empty() ? end.result : repaired_json(end.result);
    statements.push_back({&queries::end_attempt,
                          {key.job_id, key.attempt, end.exit_kind, end.exit_status,
                           repaired_text(end.message, message_bytes_max)}});
    statements.push_back({&queries::free_cores, {key.job_id, key.attempt}});
    statements.push_back(
        {&queries::settle_job,
         {key.job_id, to_string(settlement.state), reason_code(reason), reason_message(reason),
          settlement.restarts_added, settlement.retry_after, Param::or_null(result),
          Param::or_null(end.crash_key), settlement.crashes}});
    return statements;
}

/// Ends the attempt that `lock` finds live; nothing when it finds none.
std::optional<Rescued> end_locked(Store& store, const AttemptKey& key, const Statement& lock,
                                  const AttemptEnd& end, const LeaderTerm& term = {}) {
    auto ended = transact(store.pool(), [&](Transaction& transaction) -> std::optional<Rescued> {
        const std::vector<Rows> answers = transaction.run(std::vector<Statement>{lock});
        if (answers[0].empty()) return std::nullopt;
        const LockedAttempt locked = read_locked(answers[0][0]);
        const Settlement settlement = settle(locked.job, end);
        std::vector<Statement> statements = end_statements(key, locked.job, settlement, end);
        if (term.number > 0) statements.push_back(check_statement(term));
        transaction.commit(std::move(statements));
        return Rescued{key, locked.host, settlement.state};
    });
    if (ended) {
        store.announce(key.job_id);
        store.announce(topics::queue);
    }
    return ended;
}

}    // namespace

JobState finish_attempt(Store& store, const AttemptKey& key, const AttemptEnd& end) {
    const std::optional<Rescued> ended =
        end_locked(store, key, {&queries::lock_attempt, {key.job_id, key.attempt, key.fence}}, end);
    if (!ended) throw Fenced(key);
    return ended->job_state;
}

std::vector<Rescued> rescue_expired(Store& store, const RescueRule& rule, const LeaderTerm& term) {
    const AttemptEnd lost{
        .exit_kind = "lost",
        .exit_status = std::nullopt,
        .message = "its host sent no heartbeat for longer than its lease",
        .job_state = JobState::queued,
        .counts_as_restart = false,    // the host's fault is not the job's
        .reason =
            Reason{"host_lost", "the host sent no heartbeat; the job runs again on another host"},
        .result = {}};
    std::vector<Rescued> rescued;
    for (const Row row : read(store.pool(), queries::list_expired_attempts,
                              {rule.own_host, rule.grace, rule.own_grace})) {
        const AttemptKey key{row.text("job_id"), row.small("attempt"), row.text("fence")};
        const Statement lock{
            &queries::lock_expired_attempt,
            {key.job_id, key.attempt, key.fence, rule.own_host, rule.grace, rule.own_grace}};
        if (std::optional<Rescued> one = end_locked(store, key, lock, lost, term)) {
            rescued.push_back(std::move(*one));
        }
    }
    return rescued;
}

}    // namespace slipway::store
