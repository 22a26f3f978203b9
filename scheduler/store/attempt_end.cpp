#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "scheduler/store/attempts.h"
#include "scheduler/store/end_group.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/columns.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/settlement.h"
#include "scheduler/store/text.h"

// How attempts end, asked for by their agent or by the rescue of a silent host. Those that end at
// the same time go together (pg/group_commit.h): one transaction of two round trips locks them,
// decides for each where its job goes, and writes one statement for each kind of change.
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

/// One end of the group that is being written.
struct Settled {
    EndedOne* one = nullptr;
    LockedAttempt locked;
    Settlement settlement;
    std::vector<JobState> passed;    ///< on the way to its state
};

/// The states passed on the way, as an array of PostgreSQL; none: null.
Param passed_param(std::span<const JobState> passed) {
    if (passed.empty()) return std::nullopt;
    std::vector<std::string_view> words;
    for (const JobState state : passed)
        words.push_back(to_string(state));
    return fmt::format("{{{}}}", fmt::join(words, ","));
}

std::vector<Statement> end_statements(std::span<const Settled> ends) {
    Columns attempts(queries::end_attempts);
    Columns cores(queries::note_core_ends);
    for (const Settled& settled : ends) {
        const AttemptKey& key = *settled.one->key;
        const AttemptEnd& end = *settled.one->end;
        const Settlement& to = settled.settlement;
        std::optional<Reason> reason = to.reason;
        if (reason) reason->message = repaired_text(reason->message, message_bytes_max);
        const JsonText result = end.result.empty() ? end.result : repaired_json(end.result);
        attempts.add({key.job_id, key.attempt, end.exit_kind, end.exit_status,
                      repaired_text(end.message, message_bytes_max), to_string(to.state),
                      reason_code(reason), reason_message(reason), to.restarts_added,
                      to.retry_after, Param::or_null(result), Param::or_null(end.crash_key),
                      to.crashes, passed_param(settled.passed)});
        cores.add({key.job_id, key.attempt, end.exit_kind});
    }
    return {attempts.statement(), cores.statement()};
}

Statement lock_statement(std::span<EndedOne* const> ones) {
    Columns asked(queries::lock_attempts);
    for (const EndedOne* one : ones)
        asked.add({one->key->job_id, one->key->attempt, one->key->fence});
    return asked.statement();
}

/// The ends of those that are locked; of two ends of one attempt the first counts.
std::vector<Settled> settle_all(const Rows& locked, std::span<EndedOne* const> ones) {
    std::map<std::string, LockedAttempt, std::less<>> jobs;
    for (const Row row : locked)
        jobs.emplace(row.text("job_id"), read_locked(row));
    std::vector<Settled> ends;
    for (EndedOne* one : ones) {
        auto job = jobs.extract(one->key->job_id);
        if (!job) continue;
        Settled end{.one = one, .locked = std::move(job.mapped()), .settlement = {}, .passed = {}};
        end.settlement = settle(end.locked.job, *one->end);
        end.passed = states_between(end.locked.job.state, end.settlement.state);
        ends.push_back(std::move(end));
    }
    return ends;
}

/// Ends the attempts that `lock` finds live.
void end_locked(Pool& pool, std::span<EndedOne* const> ones, const Statement& lock,
                const LeaderTerm& term = {}) {
    const std::vector<Settled> ends = transact(pool, [&](Transaction& transaction) {
        const std::vector<Rows> answers =
            transaction.run(std::vector<Statement>{{&queries::keep_plans, {}}, lock});
        std::vector<Settled> found = settle_all(answers[1], ones);
        if (found.empty()) return found;
        std::vector<Statement> statements = end_statements(found);
        if (term.number > 0) statements.push_back(check_statement(term));
        transaction.commit(std::move(statements));
        return found;
    });
    for (const Settled& end : ends)
        end.one->ended = Rescued{*end.one->key, end.locked.host, end.settlement.state};
}

void announce_end(Store& store, const AttemptKey& key) {
    store.announce(key.job_id);
    store.announce(topics::queue);
}

}    // namespace

std::unique_ptr<GroupCommit<EndedOne>> make_end_group(Pool& pool) {
    return std::make_unique<GroupCommit<EndedOne>>(
        [&pool](std::span<EndedOne* const> ones) { end_locked(pool, ones, lock_statement(ones)); });
}

JobState finish_attempt(Store& store, const AttemptKey& key, const AttemptEnd& end) {
    EndedOne one{.key = &key, .end = &end};
    store.ends().add(one);
    if (!one.ended) throw Fenced(key);
    announce_end(store, key);
    return one.ended->job_state;
}

std::vector<HeldLease> list_leases(Store& store) {
    std::vector<HeldLease> leases;
    for (const Row row : read_with_kept_plan(store.pool(), {&queries::list_leases, {}}))
        leases.push_back({.key = {row.text("job_id"), row.small("attempt"), row.text("fence")},
                          .host = row.text("host"),
                          .expires_at = row.time("expires_at")});
    return leases;
}

std::vector<Rescued> rescue_lost(Store& store, const std::vector<HeldLease>& silent,
                                 const LeaderTerm& term) {
    AttemptEnd lost{
        .exit_kind = "lost",
        .exit_status = std::nullopt,
        .message = {},
        .job_state = JobState::queued,
        .counts_as_restart = false,    // the host's fault is not the job's
        .reason =
            Reason{"host_lost", "the host sent no heartbeat; the job runs again on another host"},
        .result = {}};
    std::vector<Rescued> rescued;
    for (const HeldLease& lease : silent) {
        lost.message =
            fmt::format("host {} sent no heartbeat for longer than its lease", lease.host);
        const AttemptKey& key = lease.key;
        const Statement lock{&queries::lock_silent_attempt,
                             {key.job_id, key.attempt, key.fence, lease.host, lease.expires_at}};
        EndedOne one{.key = &key, .end = &lost};
        EndedOne* const alone = &one;
        end_locked(store.pool(), std::span(&alone, 1), lock, term);
        if (!one.ended) continue;
        announce_end(store, key);
        rescued.push_back(std::move(*one.ended));
    }
    return rescued;
}

}    // namespace slipway::store
