#include "scheduler/store/prune.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/sha256.h"
#include "scheduler/store/access.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;

class Prune : public StoreTest {
protected:
    std::string token() {
        return create_token(store, {.id = new_id("tok"),
                                    .name = "t",
                                    .lookup = "t",
                                    .sha256 = sha256_hex("t"),
                                    .role = "editor"})
            .id;
    }

    void add_keys(int many, const std::string& age) const {
        database.sql(
            fmt::format("insert into idempotency (token_id, key, body_hash, started_at) "
                        "select 't', '{0} ' || n, 'h', clock_timestamp() - interval '{0}' "
                        "from generate_series(1, {1}) as n",
                        age, many));
    }

    std::string add_upload(const std::string& age) const {
        const std::string id = new_id("upl");
        database.sql(
            fmt::format("insert into upload (id, filename, size, sha256, created_by, "
                        "expires_at) values ('{}', 'f', 1, '', '', "
                        "clock_timestamp() - interval '{}')",
                        id, age));
        return id;
    }
};

TEST_F(Prune, removes_what_is_past_its_time_and_nothing_else) {
    const std::string made = token();
    create_login_ticket(store, sha256_hex("link"), made, -1s);
    create_login_ticket(store, sha256_hex("good"), made, 1h);
    create_session(store, sha256_hex("stale"), made, -1s);
    create_session(store, sha256_hex("cookie"), made, 1h);
    add_keys(1, "25 hours");
    add_keys(1, "23 hours");
    add_upload("1 second");
    add_upload("-1 hour");
    EXPECT_EQ(prune_login_tickets(store), 1);
    EXPECT_EQ(prune_sessions(store), 1);
    EXPECT_EQ(prune_idempotency_keys(store), 1);
    EXPECT_EQ(prune_uploads(store), 1);
    EXPECT_EQ(list_garbage(store, host).size(), 1U);
    EXPECT_EQ(prune_login_tickets(store) + prune_sessions(store) + prune_idempotency_keys(store) +
                  prune_uploads(store),
              0);
    EXPECT_TRUE(use_login_ticket(store, sha256_hex("good")));
    EXPECT_TRUE(find_session(store, sha256_hex("cookie")));
    EXPECT_EQ(count("idempotency"), 1);
    EXPECT_EQ(count("upload"), 1);
}

// Whatever has piled up: no statement has more to do than it has time for.
TEST_F(Prune, takes_a_batch_at_once_the_oldest_first) {
    add_keys(1200, "2 days");
    add_keys(200, "3 days");
    EXPECT_EQ(prune_idempotency_keys(store), pruned_at_once);
    EXPECT_EQ(count("idempotency"), 400);
    EXPECT_EQ(count("idempotency where key like '3 days%'"), 0);
    EXPECT_EQ(prune_idempotency_keys(store), 400);
    EXPECT_EQ(prune_idempotency_keys(store), 0);
}

TEST_F(Prune, a_token_keeps_its_newest_answers) {
    add_keys(30, "1 hour");
    add_keys(5, "2 hours");
    database.sql("update idempotency set status = 201, body = ''");
    add_keys(3, "3 hours");    // without an answer: still running, or not known how it ended
    database.sql(
        "insert into idempotency (token_id, key, body_hash, status, body) "
        "values ('other', 'k', 'h', 201, '')");
    EXPECT_EQ(prune_surplus_keys(store, 100), 0);
    EXPECT_EQ(prune_surplus_keys(store, 28), 10);
    EXPECT_EQ(count("idempotency where key like '2 hours%'"), 0);
    EXPECT_EQ(count("idempotency where key like '1 hour%'"), 25);
    EXPECT_EQ(count("idempotency where token_id = 'other' or key like '3 hours%'"), 4);
    EXPECT_EQ(prune_surplus_keys(store, 28), 0);
}

TEST_F(Prune, the_audit_log_is_kept_for_its_time) {
    for (const char* object : {"old", "older", "new"})
        append_audit(store, {.token_id = "t", .action = "a", .object = object, .request_id = "r"});
    database.sql("update audit set at = at - interval '2 days' where object <> 'new'");
    EXPECT_EQ(prune_audit(store, 72h), 0);
    EXPECT_EQ(prune_audit(store, 24h), 2);
    EXPECT_EQ(list_audit(store, {}).items.at(0).object, "new");
    EXPECT_EQ(count("audit"), 1);
}

// Uploads that cannot go are not in the way of those behind them.
TEST_F(Prune, passes_over_uploads_that_jobs_use_or_that_are_held) {
    const std::string used = add_upload("3 hours");
    const std::string held = add_upload("2 hours");
    const std::string free = add_upload("1 hour");
    NewJob job = new_job();
    job.spec = fmt::format(R"({{"model": {{"arch": "mlp", "init": {{"from": "{}"}}}}}})", used);
    job.upload_ids = {used};
    submit(job);
    {
        const Pool::Lease lease = store.pool().acquire();
        Transaction submission(*lease);    // of a job that begins with `held`
        submission.run(queries::lock_upload_of_job, {held});
        EXPECT_EQ(prune_uploads(store), 1);
        EXPECT_EQ(count("upload where id = '" + free + "'"), 0);
    }
    EXPECT_EQ(prune_uploads(store), 1);
    EXPECT_TRUE(find_upload(store, used));
    EXPECT_FALSE(find_upload(store, held));
}

// Between two of their jobs nothing else names it.
TEST_F(Prune, passes_over_uploads_that_sweeps_and_cross_validations_name) {
    const std::string of_sweep = add_upload("3 hours");
    const std::string of_folds = add_upload("2 hours");
    const std::string of_another_token = add_upload("1 hour");
    database.sql("update upload set created_by = 'tok_test' where id in ('" + of_sweep + "', '" +
                 of_folds + "')");
    const auto add = [&](const std::string& columns, const std::string& values) {
        database.sql(fmt::format("insert into {} values ({})", columns, values));
    };
    add("sweep (id, name, project, spec, max_trials, max_concurrent, external, created_by)",
        fmt::format("'{}', 's', 'p', '{}', 1, 1, false, 'tok_test'", new_id("swp"),
                    nlohmann::json{{"job", {{"model", {{"from", of_sweep}}}}},
                                   {"labels", {{"a", of_another_token}}}}
                        .dump()));
    add("cross_validation (id, name, project, spec, dataset_id, split_id, created_by)",
        fmt::format("'{}', 'c', 'p', '{}', 'ds_1', 'spl_1', 'tok_test'", new_id("cv"),
                    nlohmann::json{{"job", {{"model", {{"init", {{"from", of_folds}}}}}}}}.dump()));
    EXPECT_EQ(prune_uploads(store), 1);
    EXPECT_FALSE(find_upload(store, of_another_token));
    database.sql("update sweep set state = 'finished', finished_at = clock_timestamp()");
    EXPECT_EQ(prune_uploads(store), 1);
    EXPECT_FALSE(find_upload(store, of_sweep));
    database.sql(
        "update cross_validation set state = 'succeeded', finished_at = clock_timestamp()");
    EXPECT_EQ(prune_uploads(store), 1);
}

}    // namespace

}    // namespace slipway::store
