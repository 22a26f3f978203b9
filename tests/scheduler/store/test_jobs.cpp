#include "scheduler/store/jobs.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "scheduler/store/datasets.h"
#include "scheduler/store/deleted_jobs.h"
#include "scheduler/store/events.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum JobState;

class Jobs : public StoreTest {
protected:
    std::vector<std::string> names(const JobFilter& filter, JobOrder order, bool descending,
                                   int limit = 2) {
        std::vector<std::string> all;
        PageRequest page{.limit = limit, .cursor = {}};
        do {
            const Page<Job> part = list_jobs(store, filter, page, order, descending);
            for (const Job& job : part.items)
                all.push_back(job.name);
            page.cursor = part.next_cursor;
        } while (!page.cursor.empty());
        return all;
    }
};

TEST_F(Jobs, a_submitted_job_is_queued_with_its_first_event) {
    NewJob wanted = new_job("größe \"x\"");
    wanted.project = "letters";
    wanted.labels = {{"team", "ct"}, {"quote", "\"'\\"}};
    wanted.effective = R"({"world_size": 1})";
    wanted.start_after = parse_rfc3339("2030-01-02T03:04:05.678Z").value();
    submit(wanted);

    const Job job = find_job(store, wanted.id).value();
    EXPECT_EQ(job.name, wanted.name);
    EXPECT_EQ(job.project, "letters");
    EXPECT_EQ(job.labels, wanted.labels);
    EXPECT_EQ(job.state, queued);
    EXPECT_EQ(job.spec, R"({"model": {"arch": "mlp"}})");
    EXPECT_EQ(job.effective, R"({"world_size": 1})");
    EXPECT_EQ(job.progress, "");
    EXPECT_EQ(job.event_seq, 1);
    EXPECT_FALSE(job.started_at || job.finished_at || job.reason);

    const std::vector<Event> events = list_events(store, wanted.id, {});
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].type, "state");
    EXPECT_THAT(events[0].body, HasSubstr(R"("state" : "queued")"));
    const std::vector<QueuedJob> waiting = queue();
    ASSERT_EQ(waiting.size(), 1U);
    EXPECT_FALSE(waiting[0].due);
    EXPECT_EQ(waiting[0].not_before, wanted.start_after);
}

TEST_F(Jobs, what_is_not_there_is_not_found) {
    EXPECT_FALSE(find_job(store, new_id("job")));
    EXPECT_FALSE(request_intent(store, new_id("job"), Intent::cancel, {"user", "x"}));
    EXPECT_FALSE(delete_job(store, new_id("job")));
    EXPECT_FALSE(patch_job(store, new_id("job"), {}, std::nullopt));
    EXPECT_EQ(code_of([&] { move_job(store, new_id("job"), paused, std::nullopt); }),
              ErrorCode::not_found);
}

TEST_F(Jobs, a_job_on_a_missing_or_failed_dataset_is_refused) {
    NewJob job = new_job();
    job.dataset_id = new_id("ds");
    EXPECT_EQ(code_of([&] { submit(job); }), ErrorCode::not_found);

    create_dataset(store, {.id = job.dataset_id,
                           .name = "d",
                           .format = "csv",
                           .source = R"({"path": "d"})",
                           .options = {},
                           .created_by = {}});
    const DatasetCheck check = claim_dataset_check(store, host, std::chrono::seconds{10}).value();
    ASSERT_TRUE(finish_dataset_check(store, job.dataset_id, check.fence, {.problems = "[]"}));
    EXPECT_EQ(code_of([&] { submit(job); }), ErrorCode::conflict);
    EXPECT_EQ(count("job"), 0);
    EXPECT_EQ(count("queue"), 0);
    EXPECT_EQ(count("job_event"), 0);
}

TEST_F(Jobs, cancelling_follows_the_state) {
    add_host();
    const std::string waiting = submit();
    const std::string active = submit();
    const AttemptKey key = place(active);

    EXPECT_EQ(request_intent(store, waiting, Intent::cancel, {"user", "not needed"})->state,
              cancelled);
    EXPECT_EQ(count("queue"), 0);
    EXPECT_EQ(find_job(store, waiting)->reason->message, "not needed");
    EXPECT_EQ(request_intent(store, active, Intent::cancel, {"user", "too slow"})->state,
              cancelling);

    // Again: nothing happens, and no event is added.
    const std::int64_t seq = find_job(store, active)->event_seq;
    EXPECT_EQ(request_intent(store, active, Intent::cancel, {"user", "again"})->state, cancelling);
    EXPECT_EQ(request_intent(store, waiting, Intent::cancel, {"user", "again"})->state, cancelled);
    EXPECT_EQ(find_job(store, active)->event_seq, seq);

    EXPECT_EQ(finish_attempt(store, key, {.exit_kind = "cancelled", .job_state = cancelled}),
              cancelled);
    EXPECT_EQ(find_job(store, active)->reason->message, "too slow");
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(Jobs, an_intent_becomes_sharper_and_ends_with_the_attempt) {
    const AttemptKey key = running_job();
    const auto asked = [&] { return list_live_attempts(store, host).at(0).intent; };
    EXPECT_EQ(asked(), std::nullopt);
    for (const auto& [intent, kept, state] : std::vector<std::tuple<Intent, Intent, JobState>>{
             {Intent::pause, Intent::pause, pausing},
             {Intent::cancel, Intent::cancel, cancelling},
             {Intent::kill, Intent::kill, cancelling},
             {Intent::cancel, Intent::kill, cancelling}}) {
        const Reason reason{std::string(to_string(intent)), ""};
        EXPECT_EQ(request_intent(store, key.job_id, intent, reason)->state, state);
        EXPECT_EQ(asked(), kept) << to_string(intent);
        EXPECT_EQ(find_job(store, key.job_id)->reason->code, to_string(kept));
        EXPECT_EQ(relay_frames(store, key, {}).intent, kept);
    }
    EXPECT_THROW(request_intent(store, key.job_id, Intent::pause, {"user", ""}), IllegalTransition);
    finish_attempt(store, key, {.exit_kind = "cancelled", .job_state = cancelled});
    EXPECT_EQ(count("job where intent is not null"), 0);
}

TEST_F(Jobs, an_intent_moves_a_waiting_job_where_it_leads) {
    const std::string id = submit();
    EXPECT_THROW(request_intent(store, id, Intent::preempt, {"user", ""}), IllegalTransition);
    EXPECT_EQ(request_intent(store, id, Intent::pause, {"user", ""})->state, paused);
    EXPECT_EQ(request_intent(store, id, Intent::kill, {"user", ""})->state, cancelled);
    EXPECT_EQ(count("job where intent is not null"), 0);
}

TEST_F(Jobs, a_finished_job_cannot_be_cancelled) {
    const AttemptKey key = running_job();
    finish_attempt(store, key, {.exit_kind = "succeeded", .job_state = succeeded});
    try {
        request_intent(store, key.job_id, Intent::cancel, {"user", ""});
        FAIL() << "a finished job was cancelled";
    } catch (const IllegalTransition& refusal) {
        EXPECT_EQ(refusal.from(), "succeeded");
        EXPECT_EQ(refusal.to(), "cancelled");
    }
}

TEST_F(Jobs, deleting_takes_everything_and_leaves_garbage) {
    const AttemptKey key = running_job();
    EXPECT_EQ(code_of([&] { delete_job(store, key.job_id); }), ErrorCode::conflict);
    RelayedFrame frame;
    frame.number = 3;
    frame.metrics = {{"loss", 1, 1, 0.5}};
    frame.checkpoint = RelayedCheckpoint{.id = new_id("ckp"), .name = "step_1", .files = "[]"};
    relay_frames(store, key, {frame});
    finish_attempt(store, key, {.exit_kind = "failed", .job_state = failed});

    EXPECT_TRUE(delete_job(store, key.job_id));
    Clearing clearing;
    EXPECT_TRUE(clear_deleted_job(store, clearing, 1000));
    for (const char* table : {"job", "job_event", "attempt", "lease", "metric_chunk", "checkpoint"})
        EXPECT_EQ(count(table), 0) << table;
    std::vector<std::string> paths;
    std::vector<std::int64_t> ids;
    for (const Garbage& garbage : list_garbage(store, host)) {
        paths.push_back(garbage.path);
        ids.push_back(garbage.id);
    }
    EXPECT_THAT(paths, ElementsAre("checkpoints/" + key.job_id, "reports/" + key.job_id,
                                   "runs/" + key.job_id));
    forget_garbage(store, ids);
    EXPECT_TRUE(list_garbage(store, host).empty());
}

TEST_F(Jobs, patching_changes_what_is_named_and_honours_the_version) {
    const std::string id = submit();
    const Job before = find_job(store, id).value();
    const Job after =
        patch_job(store, id, {.name = "new", .labels = {}, .queue_class = "urgent"}, before.version)
            .value();
    EXPECT_EQ(after.name, "new");
    EXPECT_EQ(after.labels, before.labels);
    EXPECT_GT(after.version, before.version);
    EXPECT_EQ(queue().at(0).class_rank, 0);
    EXPECT_THROW(patch_job(store, id, {.name = "late"}, before.version), VersionMismatch);
    EXPECT_EQ(find_job(store, id)->name, "new");

    add_host();
    place(id);
    EXPECT_EQ(code_of([&] { patch_job(store, id, {.queue_class = "low"}, std::nullopt); }),
              ErrorCode::conflict);
    EXPECT_EQ(code_of([&] { patch_job(store, id, {.pool = "slurm"}, std::nullopt); }),
              ErrorCode::conflict);
}

TEST_F(Jobs, jobs_past_their_time_in_the_queue_expire) {
    NewJob old = new_job();
    old.valid_until = parse_rfc3339("2020-01-01T00:00:00Z").value();
    submit(old);
    const std::string fresh = submit();
    EXPECT_THAT(expire_queued_jobs(store), ElementsAre(old.id));
    EXPECT_EQ(state_of(old.id), expired);
    EXPECT_EQ(find_job(store, old.id)->reason->code, "expired");
    EXPECT_EQ(state_of(fresh), queued);
    EXPECT_EQ(count_jobs(store), (std::map<JobState, std::int64_t>{{queued, 1}, {expired, 1}}));
}

TEST_F(Jobs, every_order_gives_every_job_once_across_pages) {
    for (const char* name : {"b", "d", "a", "c", "e"})
        submit(new_job(name));
    const std::vector<std::string> submitted{"b", "d", "a", "c", "e"};
    const std::vector<std::string> newest(submitted.rbegin(), submitted.rend());
    EXPECT_EQ(names({}, JobOrder::created_at, true), newest);
    EXPECT_EQ(names({}, JobOrder::created_at, false), submitted);
    EXPECT_THAT(names({}, JobOrder::name, false), ElementsAre("a", "b", "c", "d", "e"));
    EXPECT_THAT(names({}, JobOrder::name, true), ElementsAre("e", "d", "c", "b", "a"));
    EXPECT_THAT(names({}, JobOrder::name, false, 200), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(Jobs, jobs_with_equal_keys_and_unfinished_ones_are_listed_once) {
    for (int i = 0; i < 5; ++i)
        submit(new_job("same"));
    request_intent(store, queue().at(2).job_id, Intent::cancel, {"user", ""});
    EXPECT_EQ(names({}, JobOrder::name, false).size(), 5U);
    EXPECT_EQ(names({}, JobOrder::finished_at, true).size(), 5U);
    EXPECT_EQ(names({}, JobOrder::finished_at, false).size(), 5U);
}

// Goal: the kinds of the database are those of api/spec/job_kinds.def, and have payloads alike.
TEST_F(Jobs, a_kind_is_a_word_of_the_list_and_has_a_payload_as_its_row_says) {
    std::string words;
    for (const std::string_view word : all_words<JobKind>())
        words += fmt::format("{} ", word);
    EXPECT_EQ(database.sql("select string_agg(word[1] || ' ', '') from pg_constraint, "
                           "regexp_matches(pg_get_constraintdef(oid), '''(\\w+)''', 'g') as word "
                           "where conname = 'job_kind_check'"),
              words);
    for (const JobKind kind : all_job_kinds) {
        for (const bool given : {false, true}) {
            NewJob job = new_job();
            job.kind = kind;
            if (given) job.payload = R"({"from": {"checkpoint": "ckp_1"}})";
            if (given == has_payload(kind)) {
                const Job found = find_job(store, submit(job)).value();
                EXPECT_EQ(found.kind, kind);
                EXPECT_EQ(found.payload.empty(), !given);
            } else {
                EXPECT_THROW(submit(job), Error) << to_string(kind) << given;
            }
        }
    }
}

TEST_F(Jobs, filters_narrow_and_combine) {
    NewJob job = new_job("Lenet on digits");
    job.labels = {{"team", "ct"}, {"kind", "a"}};
    submit(job);
    job = new_job("100%_mlp");
    job.project = "other";
    job.labels = {{"team", "ct"}};
    submit(job);
    submit(new_job("mlp 100x"));

    const auto found = [&](const JobFilter& filter) {
        return names(filter, JobOrder::name, false);
    };
    EXPECT_THAT(found({.name_contains = "LENET"}), ElementsAre("Lenet on digits"));
    EXPECT_THAT(found({.name_contains = "100%_"}), ElementsAre("100%_mlp"));
    EXPECT_THAT(found({.labels = {{"team", "ct"}}}), ElementsAre("100%_mlp", "Lenet on digits"));
    EXPECT_THAT(found({.labels = {{"team", "ct"}, {"kind", "a"}}}), ElementsAre("Lenet on digits"));
    EXPECT_THAT(found({.projects = {"other"}}), ElementsAre("100%_mlp"));
    EXPECT_THAT(found({.kind = JobKind::train}).size(), 3U);
    EXPECT_THAT(found({.kind = JobKind::predict}), ElementsAre());
    EXPECT_THAT(found({.states = {running, cancelled}}), ElementsAre());
    EXPECT_THAT(found({.states = {queued}, .projects = {"other", "default"}}).size(), 3U);
}

TEST_F(Jobs, those_that_hold_cores_are_listed_by_their_attempts) {
    add_host();
    const std::string dataset = ready_dataset();
    std::vector<AttemptKey> keys;
    for (int i = 1; i <= 5; ++i) {
        NewJob job = new_job(std::to_string(i));
        job.project = i % 2 == 0 ? "even" : "odd";
        job.dataset_id = dataset;
        keys.push_back(place(submit(job), {i}));
    }
    submit(new_job("waiting"));
    relay_state(keys[1], 1, compiling);
    request_intent(store, keys[2].job_id, Intent::cancel, {"user", ""});
    finish_attempt(store, keys[3], {.exit_kind = "test", .job_state = failed});
    const auto listed = [&](const JobFilter& filter) {
        return names(filter, JobOrder::created_at, true);
    };
    EXPECT_THAT(listed({.states = {starting}}), ElementsAre("5", "1"));
    EXPECT_THAT(listed({.states = {starting, compiling, cancelling}}),
                ElementsAre("5", "3", "2", "1"));
    EXPECT_THAT(listed({.states = {starting, compiling}, .projects = {"odd"}}),
                ElementsAre("5", "1"));
    EXPECT_THAT(listed({.states = {starting}, .name_contains = "1", .dataset_id = dataset}),
                ElementsAre("1"));
    EXPECT_THAT(listed({.states = {running}}), ElementsAre());
    EXPECT_THAT(listed({.states = {starting, queued, failed}}),
                ElementsAre("waiting", "5", "4", "1"));
}

TEST_F(Jobs, a_page_of_wide_jobs_ends_early_and_goes_on) {
    std::vector<std::string> submitted;
    for (int i = 0; i < 8; ++i) {
        NewJob job = new_job(fmt::format("wide {}", i));
        job.spec = fmt::format(R"({{"note": "{}"}})", std::string(900'000, 'x'));
        submit(job);
        submitted.push_back(job.name);
    }
    const Page<Job> first = list_jobs(store, {}, {.limit = 200});
    EXPECT_EQ(first.items.size(), 3U) << "2 MiB are reached with the third";
    EXPECT_FALSE(first.next_cursor.empty());
    EXPECT_EQ(names({}, JobOrder::name, false, 200), submitted);
    std::ranges::reverse(submitted);
    EXPECT_EQ(names({}, JobOrder::created_at, true, 200), submitted);
    EXPECT_EQ(names({}, JobOrder::created_at, true, 2), submitted);
}

TEST_F(Jobs, a_cursor_is_good_for_its_list_only) {
    for (int i = 0; i < 3; ++i)
        submit();
    const std::string cursor = list_jobs(store, {}, {.limit = 1, .cursor = {}}).next_cursor;
    ASSERT_FALSE(cursor.empty());
    const auto refused = [&](const JobFilter& filter, const std::string& text, JobOrder order) {
        return code_of([&] { list_jobs(store, filter, {.limit = 1, .cursor = text}, order); }) ==
               ErrorCode::invalid_argument;
    };
    EXPECT_TRUE(refused({.projects = {"x"}}, cursor, JobOrder::created_at));
    EXPECT_TRUE(refused({}, cursor, JobOrder::name));
    EXPECT_TRUE(refused({}, "zz", JobOrder::created_at));
    EXPECT_TRUE(refused({}, cursor.substr(1), JobOrder::created_at));
    EXPECT_TRUE(refused({}, "'; drop table job; --", JobOrder::created_at));
    EXPECT_EQ(code_of([&] { list_jobs(store, {}, {.limit = 0, .cursor = {}}); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { list_jobs(store, {}, {.limit = 201, .cursor = {}}); }),
              ErrorCode::invalid_argument);
}

// Goal: text from users is data, wherever it goes.
TEST_F(Jobs, sql_in_user_text_stays_text) {
    const std::string evil = "'); drop table job; -- \\' $1 {a,\"b\"} \xf0\x9f\x92\xa5";
    NewJob job = new_job(evil);
    job.project = evil;
    job.labels = {{evil, evil}};
    submit(job);
    EXPECT_EQ(find_job(store, job.id)->name, evil);
    EXPECT_EQ(find_job(store, job.id)->labels.at(evil), evil);
    EXPECT_EQ(names({.projects = {evil}, .name_contains = evil, .labels = {{evil, evil}}},
                    JobOrder::name, true),
              std::vector<std::string>{evil});
    EXPECT_FALSE(find_job(store, evil));
    EXPECT_FALSE(find_dataset(store, evil, evil));
    EXPECT_TRUE(list_events(store, evil, {.types = {evil}}).empty());
}

TEST_F(Jobs, text_that_cannot_be_stored_is_the_callers_mistake) {
    using namespace std::string_literals;
    EXPECT_EQ(code_of([&] { submit(new_job("nul\0here"s)); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { submit(new_job("broken \xff")); }), ErrorCode::invalid_argument);
    NewJob job = new_job();
    job.spec = R"({"name": "\u0000"})";
    EXPECT_EQ(code_of([&] { submit(job); }), ErrorCode::invalid_argument);
    EXPECT_EQ(count("job"), 0);
}

}    // namespace

}    // namespace slipway::store
