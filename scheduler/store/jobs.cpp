#include "scheduler/store/jobs.h"

#include <fmt/core.h>

#include <algorithm>

#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

/// Runs `last`, reads the job after it and commits.
Job commit_and_read(Transaction& transaction, std::string_view id, std::vector<Statement> last) {
    last.push_back({&queries::find_job, {id}});
    const std::vector<Rows> answers = transaction.commit(std::move(last));
    return read_job(answers.back()[0]);
}

/// Where a job goes by an intent; nothing when it is there already.
std::optional<JobState> target_of(const LockedJob& job, Intent intent) {
    const IntentMeaning& meaning = meaning_of(intent);
    const std::optional<JobState> target = is_active(job.state) ? meaning.asked : meaning.rest;
    if (target && job.state == *target) {
        const bool sharper = job.intent && is_sharper(intent, *job.intent);
        return sharper ? target : std::nullopt;
    }
    if (target && allowed(job.state, *target)) return target;
    throw IllegalTransition(
        std::string(to_string(job.state)),
        std::string(to_string(meaning.rest.value_or(meaning.asked.value_or(job.state)))));
}

Statement intent_statement(std::string_view id, JobState to, const std::optional<Reason>& reason,
                           const Param& intent) {
    return {&queries::move_job,
            {id, to_string(to), reason_code(reason), reason_message(reason), intent}};
}

std::optional<JobOrigin> origin_of(const Row& row) {
    if (row.text("origin_action").empty()) return std::nullopt;
    return JobOrigin{.action = row.text("origin_action"),
                     .job_id = row.text("origin_job_id"),
                     .continues_from = row.text("continues_from")};
}

std::optional<JobParent> parent_of(const Row& row) {
    if (row.text("parent_id").empty()) return std::nullopt;
    return JobParent{.id = row.text("parent_id"), .key = row.text("parent_key")};
}

/// Its executor is on its way to the next step, and nobody has asked for an end.
bool is_training(JobState state) {
    using enum JobState;
    return state == starting || state == compiling || state == running;
}

}    // namespace

VersionMismatch::VersionMismatch(std::int64_t present)
    : Error(ErrorCode::conflict,
            fmt::format("it has changed since it was read: its version is {} now", present)),
      present_(present) {}

JobState read_state(const Row& row) {
    const std::optional<JobState> state = parse_word<JobState>(row.text("state"));
    check(state.has_value(), "the database's states are those of api/spec/job_state");
    return *state;
}

JobKind read_kind(const Row& row) {
    const std::optional<JobKind> kind = parse_word<JobKind>(row.text("kind"));
    check(kind.has_value(), "the database's kinds are those of api/spec/job_kinds.def");
    return *kind;
}

Job read_job(const Row& row) {
    return {.id = row.text("id"),
            .name = row.text("name"),
            .project = row.text("project"),
            .labels = labels_from_json(row.text("labels")),
            .state = read_state(row),
            .reason = reason_of(row),
            .kind = read_kind(row),
            .spec = row.text("spec"),
            .payload = row.text("payload"),
            .effective = row.text("effective"),
            .progress = row.text("progress"),
            .best = row.text("best"),
            .result = row.text("result"),
            .dataset_id = row.text("dataset_id"),
            .queue_class = row.text("queue_class"),
            .event_seq = row.integer("event_seq"),
            .attempts = row.small("attempts"),
            .restarts = row.small("restarts"),
            .version = row.integer("version"),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .started_at = row.maybe_time("started_at"),
            .finished_at = row.maybe_time("finished_at"),
            .origin = origin_of(row),
            .parent = parent_of(row),
            .traceparent = row.text("traceparent"),
            .pruned = row.texts("pruned")};
}

std::optional<Intent> intent_of(const Row& row) {
    return parse_word<Intent>(row.text("intent"));
}

std::optional<LockedJob> lock_job(Transaction& transaction, std::string_view id) {
    const Rows rows = transaction.run(queries::lock_job, {id});
    if (rows.empty()) return std::nullopt;
    return LockedJob{.state = read_state(rows[0]),
                     .intent = intent_of(rows[0]),
                     .version = rows[0].integer("version")};
}

Statement move_statement(std::string_view id, JobState to, const std::optional<Reason>& reason) {
    const std::optional<Intent> intent = default_intent(to);
    return intent_statement(id, to, reason,
                            intent ? Param(to_string(*intent)) : Param(std::nullopt));
}

std::optional<Job> find_job(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_job, {id});
    if (rows.empty()) return std::nullopt;
    return read_job(rows[0]);
}

std::optional<Job> patch_job(Store& store, std::string_view id, const JobPatch& patch,
                             std::optional<std::int64_t> expected) {
    const Param labels = patch.labels ? Param(labels_to_json(*patch.labels)) : Param(std::nullopt);
    std::vector<Statement> changes{
        {&queries::patch_job, {id, patch.name, labels, patch.queue_class, patch.pool}}};
    if (patch.pool) changes.push_back({&queries::requeue_in_pool, {id}});
    const bool in_queue = patch.queue_class || patch.pool;
    auto changed = transact(store.pool(), [&](Transaction& transaction) -> std::optional<Job> {
        const std::optional<LockedJob> locked = lock_job(transaction, id);
        if (!locked) return std::nullopt;
        if (expected && *expected != locked->version) throw VersionMismatch(locked->version);
        if (in_queue && locked->state != JobState::queued) {
            throw Error{
                ErrorCode::conflict,
                fmt::format("queue.{} can be changed while a job is queued; it is {} now",
                            patch.queue_class ? "class" : "pool", to_string(locked->state))};
        }
        return commit_and_read(transaction, id, changes);
    });
    if (changed) store.announce(id);
    if (changed && in_queue) store.announce(topics::queue);
    return changed;
}

std::optional<Job> request_intent(Store& store, std::string_view id, Intent intent,
                                  const Reason& reason) {
    auto job = transact(store.pool(), [&](Transaction& transaction) -> std::optional<Job> {
        const std::optional<LockedJob> locked = lock_job(transaction, id);
        if (!locked) return std::nullopt;
        const std::optional<JobState> target = target_of(*locked, intent);
        if (!target) return commit_and_read(transaction, id, {});
        const Param word = is_active(*target) ? Param(to_string(intent)) : Param(std::nullopt);
        return commit_and_read(transaction, id, {intent_statement(id, *target, reason, word)});
    });
    if (job) store.announce(id);
    return job;
}

std::optional<Statement> lock_and_ask(Transaction& transaction, std::string_view id, Intent intent,
                                      const Reason& reason) {
    const std::optional<LockedJob> locked = lock_job(transaction, id);
    if (!locked || is_final(locked->state)) return std::nullopt;
    const std::optional<JobState> target = target_of(*locked, intent);
    if (!target) return std::nullopt;
    const Param word = is_active(*target) ? Param(to_string(intent)) : Param(std::nullopt);
    return intent_statement(id, *target, reason, word);
}

std::optional<JobState> state_after(Intent intent, JobState present) {
    return target_of({.state = present, .intent = default_intent(present)}, intent);
}

bool is_resumed(JobState present) {
    using enum JobState;
    if (present == paused) return true;
    // A preempted job goes on by itself.
    if (is_training(present) || present == queued || present == finishing || present == preempting)
        return false;
    throw IllegalTransition(std::string(to_string(present)), std::string(to_string(queued)));
}

std::optional<Job> resume_job(Store& store, std::string_view id) {
    bool moved = false;
    auto job = transact(store.pool(), [&](Transaction& transaction) -> std::optional<Job> {
        const std::optional<LockedJob> locked = lock_job(transaction, id);
        if (!locked) return std::nullopt;
        moved = is_resumed(locked->state);
        if (!moved) return commit_and_read(transaction, id, {});
        return commit_and_read(transaction, id,
                               {move_statement(id, JobState::queued, std::nullopt)});
    });
    if (!moved) return job;
    store.announce(id);
    store.announce(topics::queue);
    return job;
}

std::optional<Job> request_save(Store& store, std::string_view id) {
    auto job = transact(store.pool(), [&](Transaction& transaction) -> std::optional<Job> {
        const std::optional<LockedJob> locked = lock_job(transaction, id);
        if (!locked) return std::nullopt;
        if (!is_training(locked->state))
            throw Error{
                ErrorCode::conflict,
                fmt::format("a checkpoint can be saved while a job is starting, compiling or "
                            "running; it is {}",
                            to_string(locked->state))};
        return commit_and_read(transaction, id, {{&queries::request_save, {id}}});
    });
    if (job) store.announce(id);
    return job;
}

bool preempt_job(Store& store, std::string_view id, const Reason& reason, const LeaderTerm& term) {
    const bool asked = transact(store.pool(), [&](Transaction& transaction) {
        const std::optional<LockedJob> locked = lock_job(transaction, id);
        if (!locked || !is_training(locked->state)) return false;
        std::vector<Statement> last{
            intent_statement(id, JobState::preempting, reason, Param(to_string(Intent::preempt)))};
        if (term.number > 0) last.push_back(check_statement(term));
        transaction.commit(std::move(last));
        return true;
    });
    if (asked) store.announce(id);
    return asked;
}

Job move_job(Store& store, std::string_view id, JobState to, const std::optional<Reason>& reason) {
    Job job = transact(store.pool(), [&](Transaction& transaction) {
        const std::optional<LockedJob> locked = lock_job(transaction, id);
        if (!locked) throw Error{ErrorCode::not_found, fmt::format("there is no job {}", id)};
        if (locked->state == to) return commit_and_read(transaction, id, {});
        return commit_and_read(transaction, id, {move_statement(id, to, reason)});
    });
    store.announce(id);
    if (to == JobState::queued) store.announce(topics::queue);
    return job;
}

bool delete_job(Store& store, std::string_view id) {
    std::string project;
    const bool deleted = transact(store.pool(), [&](Transaction& transaction) {
        const Rows locked = transaction.run(queries::lock_job_to_delete, {id});
        if (locked.empty()) return false;
        project = locked[0].text("project");
        if (const JobState state = read_state(locked[0]); !is_final(state)) {
            throw Error{ErrorCode::conflict,
                        fmt::format("a job that is {} cannot be deleted; cancel it first",
                                    to_string(state))};
        }
        const Rows users = transaction.run(queries::find_user_of_checkpoints, {id});
        if (!users.empty()) {
            throw Error{ErrorCode::conflict,
                        fmt::format("job {} uses checkpoint {} of this job; wait until that job "
                                    "has ended, or cancel it",
                                    users[0].text("job_id"), users[0].text("checkpoint_id"))};
        }
        transaction.commit({{&queries::add_garbage_of_job, {id}}, {&queries::delete_job, {id}}});
        return true;
    });
    if (!deleted) return false;
    store.announce(id);
    store.announce(ObjectChange{.id = std::string(id), .project = project, .state = "deleted"});
    return true;
}

std::vector<std::string> end_jobs_of_parent(Store& store, std::string_view parent_id, Intent intent,
                                            const Reason& reason, int jobs_max) {
    std::vector<std::string> asked;
    for (const Row row : read(store.pool(), queries::list_unfinished_of_parent,
                              {parent_id, to_string(intent), jobs_max})) {
        const std::string id = row.text("id");
        try {
            if (request_intent(store, id, intent, reason)) asked.push_back(id);
        } catch (const IllegalTransition&) {    // it has ended meanwhile
        }
    }
    return asked;
}

int delete_jobs_of_parent(Store& store, std::string_view parent_id, int jobs_max) {
    int deleted = 0;
    for (const Row row : read(store.pool(), queries::list_jobs_to_delete, {parent_id, jobs_max})) {
        if (delete_job(store, row.text("id"))) ++deleted;
    }
    return deleted;
}

std::vector<std::string> expire_queued_jobs(Store& store, const LeaderTerm& term) {
    constexpr int at_once = 1000;
    std::vector<std::string> ids;
    const std::vector<Rows> answers =
        write_as_leader(store.pool(), term, {{&queries::expire_jobs, {at_once}}});
    for (const Row row : answers[0]) {
        ids.push_back(row.text("id"));
        store.announce(ids.back());
    }
    return ids;
}

QueuedCounts count_queued_jobs(Store& store, std::string_view project, std::string_view token_id) {
    const Rows rows = read(store.pool(), queries::count_queued_jobs, {project, token_id});
    return {.of_project = rows[0].integer("of_project"), .of_token = rows[0].integer("of_token")};
}

std::map<JobState, std::int64_t> count_jobs(Store& store) {
    std::map<JobState, std::int64_t> counts;
    for (const Row row : read(store.pool(), queries::count_jobs))
        counts[read_state(row)] = row.integer("jobs");
    return counts;
}

bool fold_job_counts(Store& store, const LeaderTerm& term) {
    constexpr int held_rows_max = 10'000;
    const std::vector<Rows> answers = write_as_leader(
        store.pool(), term,
        {{&queries::fold_job_counts, {}}, {&queries::fold_held_counts, {held_rows_max}}});
    const Row held = answers[1][0];
    // A batch of sums alone, one for each project and class, would not become fewer.
    return held.integer("folded") == held_rows_max && held.integer("sums") < held_rows_max / 2;
}

}    // namespace slipway::store
