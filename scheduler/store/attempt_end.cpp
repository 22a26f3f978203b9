#include <fmt/core.h>

#include <array>

#include "scheduler/store/attempts.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

// How an attempt ends, asked for by its agent or by the rescue of a silent host.
namespace slipway::store {

namespace {

using enum JobState;

constexpr std::size_t message_bytes_max = 4000;
constexpr int same_crashes_max = 3;

/// The job of a live attempt, with the rows of both locked.
struct LockedAttempt {
    JobState state{};
    int restarts = 0;
    int restarts_max = 0;
    std::optional<Reason> reason;
    std::string host;
    std::string crash_key;    // of the last crash
    int crashes = 0;          // in a row with this key
};

LockedAttempt read_locked(const Row& row) {
    return {.state = read_state(row),
            .restarts = row.small("restarts"),
            .restarts_max = row.small("restarts_max"),
            .reason = reason_of(row),
            .host = row.text("host"),
            .crash_key = row.text("crash_key"),
            .crashes = row.small("crashes")};
}

/// Where the job goes, and what is written with it.
struct Settlement {
    JobState state{};
    int restarts_added = 0;
    std::chrono::milliseconds retry_after{0};
    std::optional<Reason> reason;
    int crashes = 0;    // in a row with the key of the end
};

Settlement settle_again(const LockedAttempt& job, const AttemptEnd& end) {
    if (job.state == cancelling) return {.state = cancelled, .reason = job.reason};
    if (job.state == pausing) return {.state = paused, .reason = job.reason};
    if (job.state == preempting) return {.state = queued, .reason = end.reason};
    if (!end.counts_as_restart) {
        return {.state = queued, .retry_after = end.retry_after, .reason = end.reason};
    }
    const bool again = !end.crash_key.empty() && end.crash_key == job.crash_key;
    const int crashes = end.crash_key.empty() ? 0 : again ? job.crashes + 1 : 1;
    if (crashes >= same_crashes_max) {
        return {.state = failed,
                .reason = Reason{"repeated_crash",
                                 fmt::format("the executor ended in the same way at the same step "
                                             "{} times in a row; the last time: {}",
                                             crashes, end.message)},
                .crashes = crashes};
    }
    if (job.restarts >= job.restarts_max) {
        const std::string last = end.reason ? end.reason->message : end.message;
        return {.state = failed,
                .reason = Reason{"executor_lost",
                                 fmt::format("the executor was lost {} times, more than "
                                             "limits.max_restarts = {}; the last time: {}",
                                             job.restarts + 1, job.restarts_max, last)}};
    }
    return {.state = queued,
            .restarts_added = 1,
            .retry_after = end.retry_after,
            .reason = end.reason,
            .crashes = crashes};
}

Settlement settle(const LockedAttempt& job, const AttemptEnd& end) {
    if (end.job_state == queued) return settle_again(job, end);
    Settlement settlement{.state = end.job_state, .reason = end.reason};
    // The user's reason for cancelling or pausing outlives the agent's silence about it.
    if (!settlement.reason && (end.job_state == cancelled || end.job_state == paused)) {
        settlement.reason = job.reason;
    }
    return settlement;
}

/// States that an executor may have passed without a frame before it ended: they are written too,
/// so that the history stays a path of the state machine.
struct Passage {
    JobState from;
    JobState to;
    JobState via;
};
constexpr auto passages = std::to_array<Passage>({
    {starting, succeeded, compiling},
    {compiling, succeeded, finishing},
    {running, succeeded, finishing},
    {starting, cancelled, cancelling},
    {compiling, cancelled, cancelling},
    {running, cancelled, cancelling},
    {finishing, cancelled, cancelling},
    {preempting, cancelled, cancelling},
    {pausing, cancelled, cancelling},
    {starting, paused, pausing},
    {compiling, paused, pausing},
    {running, paused, pausing},
});

std::vector<JobState> states_between(JobState from, JobState to) {
    std::vector<JobState> between;
    for (const Passage& passage : passages) {
        const JobState here = between.empty() ? from : between.back();
        if (passage.from == here && passage.to == to) between.push_back(passage.via);
    }
    return between;
}

std::vector<Statement> end_statements(const AttemptKey& key, const LockedAttempt& job,
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
        const LockedAttempt job = read_locked(answers[0][0]);
        const Settlement settlement = settle(job, end);
        std::vector<Statement> statements = end_statements(key, job, settlement, end);
        if (term.number > 0) statements.push_back(check_statement(term));
        transaction.commit(std::move(statements));
        return Rescued{key, job.host, settlement.state};
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
        .job_state = queued,
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
