// Goal: a job that was checked is stored once, named, with its queue row and its first event,
// unless a queue is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/store/events.h"
#include "tests/scheduler/submission/samples.h"

namespace slipway::submission {

namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

struct Submit : SubmissionTest {
    store::Submitted send(std::vector<CheckedJob> jobs, std::int64_t jobs_max,
                          const std::optional<store::IdempotentRequest>& request = {}) {
        return submission::submit(
            store, {.queued = queued, .jobs_max = jobs_max},
            {.jobs = std::move(jobs),
             .token_id = "tok_test",
             .request = request,
             .audit = store::AuditEntry{.token_id = "tok_test", .action = "create_job"}},
            [](std::span<const store::Job> made) {
                return store::StoredResponse{.status = 201, .body = made.back().id, .location = {}};
            });
    }
};

TEST_F(Submit, a_job_without_a_name_gets_one_in_every_document) {
    trained_job();
    const store::Job trains = store::find_job(store, store_job(training())).value();
    EXPECT_THAT(trains.name, MatchesRegex("mlp-[0-9a-z]{6}"));
    EXPECT_EQ(Json::parse(trains.spec)["name"], trains.name);
    EXPECT_EQ(trains.payload, "");
    const Json body{{"from", {{"checkpoint", checkpoint}}}, {"data", {{"dataset", "points"}}}};
    const store::Job predicts = store::find_job(store, store_job(body, JobKind::predict)).value();
    EXPECT_THAT(predicts.name, MatchesRegex("predict-mlp-[0-9a-z]{6}"));
    EXPECT_EQ(Json::parse(predicts.spec)["name"], predicts.name);
    EXPECT_EQ(Json::parse(predicts.payload)["name"], predicts.name);
    EXPECT_EQ(predicts.kind, JobKind::predict);
}

TEST_F(Submit, a_name_that_was_given_stays) {
    const std::string id = store_job(training({{"name", "digits"}}));
    EXPECT_EQ(store::find_job(store, id).value().name, "digits");
    EXPECT_EQ(queue().size(), 1U);
    EXPECT_EQ(count("job_event where job_id = '" + id + "' and type = 'state'"), 1);
}

TEST_F(Submit, a_full_queue_stores_nothing) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    send({job}, 1);
    try {
        send({job}, 1);
        ADD_FAILURE() << "it was stored";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::exhausted);
        EXPECT_THAT(error.what(), HasSubstr("--queued-jobs-max"));
    }
    EXPECT_EQ(queue().size(), 1U);
}

TEST_F(Submit, a_request_that_is_repeated_gets_the_first_answer_even_when_the_queue_is_full) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    const store::IdempotentRequest request{
        .token_id = "tok_test", .key = "one", .body_hash = "abc"};
    const store::Submitted first = send({job}, 1, request);
    const store::Submitted second = send({job}, 1, request);
    EXPECT_FALSE(first.replayed);
    EXPECT_TRUE(second.replayed);
    EXPECT_EQ(second.response.body, first.jobs.at(0).id);
    EXPECT_EQ(queue().size(), 1U);
}

TEST_F(Submit, a_dataset_that_failed_after_the_checks_is_a_conflict) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    database.sql("update dataset set state = 'failed', problems = '[]'");
    EXPECT_EQ(store::code_of([&] { send({job}, 0); }), ErrorCode::conflict);
    EXPECT_EQ(queue().size(), 0U);
}

TEST_F(Submit, the_audit_log_has_an_entry_of_what_was_stored_alone) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    const store::IdempotentRequest request{
        .token_id = "tok_test", .key = "one", .body_hash = "abc"};
    const std::string first = send({job}, 0).jobs.at(0).id;
    const std::string second = send({job, job}, 0, request).jobs.at(0).id;
    send({job, job}, 0, request);
    database.sql("update dataset set state = 'failed', problems = '[]'");
    EXPECT_THROW(send({job}, 0), Error);
    const auto entries = store::list_audit(store, {}).items;
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].object, second);
    EXPECT_EQ(entries[1].object, first);
    EXPECT_EQ(entries[1].action, "create_job");
}

// What a sweep asks for: its trials, all or none.
TEST_F(Submit, several_jobs_are_stored_in_their_order) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    const store::Submitted submitted = send({job, job, job}, 3);
    ASSERT_EQ(submitted.jobs.size(), 3U);
    EXPECT_EQ(submitted.response.body, submitted.jobs[2].id);
    const auto waiting = queue();
    ASSERT_EQ(waiting.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(waiting[i].job_id, submitted.jobs[i].id);
    EXPECT_NE(submitted.jobs[0].name, submitted.jobs[1].name);
}

TEST_F(Submit, of_several_jobs_none_is_stored_when_one_cannot_be) {
    ready_dataset("cubes");
    trained_job();
    const CheckedJob good = checked(JobKind::train, training()).value;
    const CheckedJob bad =
        checked(JobKind::train, training({{"data", {{"dataset", "cubes"}}}})).value;
    database.sql("update dataset set state = 'failed', problems = '[]' where name = 'cubes'");
    const std::int64_t jobs = count("job");
    EXPECT_EQ(store::code_of([&] { send({good, bad, good}, 0); }), ErrorCode::conflict);
    CheckedJob lost = good;
    lost.checkpoint_ids = {checkpoint};
    database.sql("update checkpoint set deleted_at = clock_timestamp()");
    EXPECT_EQ(store::code_of([&] { send({good, lost}, 0); }), ErrorCode::not_found);
    EXPECT_EQ(count("job"), jobs);
    EXPECT_EQ(count("queue"), 0);
}

TEST_F(Submit, several_jobs_for_which_a_queue_has_no_place_are_refused_together) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    try {
        send({job, job, job}, 2);
        ADD_FAILURE() << "they were stored";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("has 0 queued jobs and submits 3, and the maximum is 2"));
    }
    EXPECT_EQ(send({job, job}, 2).jobs.size(), 2U) << "those refused do not count";
}

TEST_F(Submit, several_jobs_of_one_request_are_stored_once) {
    const CheckedJob job = checked(JobKind::train, training()).value;
    const store::IdempotentRequest request{
        .token_id = "tok_test", .key = "many", .body_hash = "abc"};
    const std::string first = send({job, job}, 0, request).response.body;
    const store::Submitted again = send({job, job}, 0, request);
    EXPECT_TRUE(again.replayed);
    EXPECT_THAT(again.jobs, testing::IsEmpty());
    EXPECT_EQ(again.response.body, first);
    EXPECT_EQ(queue().size(), 2U);
}

}    // namespace

}    // namespace slipway::submission
