#include "scheduler/store/idempotency.h"

#include <barrier>
#include <set>
#include <thread>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

class Idempotency : public StoreTest {
protected:
    const IdempotentRequest request{.token_id = "tok_a", .key = "key-1", .body_hash = "h1"};

    Submitted submit_once(Store& mine, const IdempotentRequest& asked) {
        return submit_jobs(
            mine, std::vector{new_job()}, {.request = asked}, [](std::span<const Job> jobs) {
                return StoredResponse{
                    .status = 201, .body = jobs[0].id, .location = "/v1/jobs/" + jobs[0].id};
            });
    }
};

TEST_F(Idempotency, the_same_request_gives_the_first_answer) {
    const Submitted first = submit_once(store, request);
    EXPECT_FALSE(first.replayed);
    const Submitted again = submit_once(store, request);
    EXPECT_TRUE(again.replayed);
    EXPECT_EQ(again.response.status, 201);
    EXPECT_EQ(again.response.body, first.jobs.at(0).id);
    EXPECT_EQ(again.response.location, first.response.location);
    EXPECT_EQ(count("job"), 1);
}

TEST_F(Idempotency, another_body_is_refused_and_another_user_is_somebody_else) {
    submit_once(store, request);
    IdempotentRequest other = request;
    other.body_hash = "h2";
    EXPECT_THROW(submit_once(store, other), IdempotencyMismatch);
    other.token_id = "tok_b";
    EXPECT_FALSE(submit_once(store, other).replayed);
    EXPECT_EQ(count("job"), 2);
}

TEST_F(Idempotency, a_refused_submit_leaves_the_key_free) {
    NewJob bad = new_job();
    bad.dataset_id = new_id("ds");
    const auto render = [](std::span<const Job>) { return StoredResponse{}; };
    EXPECT_EQ(
        code_of([&] { submit_jobs(store, std::span(&bad, 1), {.request = request}, render); }),
        ErrorCode::not_found);
    EXPECT_FALSE(submit_once(store, request).replayed);
}

// Goal: many clients, one key, one job. Method: all at the same moment, on connections of their
// own.
TEST_F(Idempotency, a_race_makes_one_job) {
    constexpr int clients = 6;
    for (int round = 0; round < 5; ++round) {
        IdempotentRequest asked = request;
        asked.key = fmt::format("round {}", round);
        std::barrier start(clients);
        std::vector<std::string> answers(clients);
        {
            std::vector<std::jthread> threads;
            for (int client = 0; client < clients; ++client) {
                threads.emplace_back([&, client] {
                    start.arrive_and_wait();
                    answers[std::size_t(client)] = submit_once(store, asked).response.body;
                });
            }
        }
        EXPECT_EQ(std::set<std::string>(answers.begin(), answers.end()).size(), 1U);
        EXPECT_EQ(count("job"), round + 1);
        EXPECT_EQ(count("queue"), round + 1);
    }
}

TEST_F(Idempotency, other_posts_mark_the_key_while_they_run) {
    EXPECT_FALSE(begin_idempotent(store, request, Repeat::harmless));
    EXPECT_THROW(begin_idempotent(store, request, Repeat::harmless), IdempotencyInFlight);
    finish_idempotent(store, request, {.status = 200, .body = "{}", .location = "/x"});
    EXPECT_EQ(begin_idempotent(store, request, Repeat::harmless)->location, "/x");
    IdempotentRequest other = request;
    other.body_hash = "h2";
    EXPECT_THROW(begin_idempotent(store, other, Repeat::harmless), IdempotencyMismatch);
    abandon_idempotent(store, request);    // too late: there is an answer
    EXPECT_TRUE(begin_idempotent(store, request, Repeat::harmless));
}

TEST_F(Idempotency, an_abandoned_or_orphaned_key_is_free_again) {
    begin_idempotent(store, request, Repeat::harmless);
    abandon_idempotent(store, request);
    EXPECT_FALSE(begin_idempotent(store, request, Repeat::harmless));
    database.sql("update idempotency set started_at = clock_timestamp() - interval '2 minutes'");
    IdempotentRequest other = request;
    other.body_hash = "h2";
    EXPECT_THROW(begin_idempotent(store, other, Repeat::harmless), IdempotencyMismatch);
    EXPECT_FALSE(begin_idempotent(store, request, Repeat::harmless));    // its process has died
    EXPECT_THROW(begin_idempotent(store, request, Repeat::harmless), IdempotencyInFlight);
}

// Goal: nobody knows whether the work of an orphaned key was done, so it is not done again.
TEST_F(Idempotency, an_orphaned_key_of_what_makes_something_stays_taken) {
    EXPECT_FALSE(begin_idempotent(store, request, Repeat::forbidden));
    EXPECT_THROW(begin_idempotent(store, request, Repeat::forbidden), IdempotencyInFlight);
    database.sql("update idempotency set started_at = clock_timestamp() - interval '2 minutes'");
    EXPECT_THROW(begin_idempotent(store, request, Repeat::forbidden), IdempotencyUnknown);
    finish_idempotent(store, request, {.status = 201, .body = "{}", .location = "/x"});
    EXPECT_EQ(begin_idempotent(store, request, Repeat::forbidden)->location, "/x");
}

}    // namespace

}    // namespace slipway::store
