#include "scheduler/store/deleted_jobs.h"

#include <gtest/gtest.h>

#include "scheduler/store/attempts.h"
#include "scheduler/store/events.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

class DeletedJobs : public StoreTest {
protected:
    DeletedJobs() { add_host(); }

    /// A job that has ended, with so many chunks of each of two metrics, and as many events and
    /// checkpoints.
    std::string ended_job(int rows) {
        const AttemptKey key = running_job();
        finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
        database.sql(
            fmt::format("insert into metric_chunk (job_id, name, first_point, points, step_first, "
                        "step_last, attempt, data) "
                        "select '{0}', name, step, 1, step, step, 1, '\\x00' "
                        "from generate_series(1, {1}) as step, "
                        "(values ('train_loss'), ('val_loss')) as names (name); "
                        "insert into job_event (job_id, seq, type, body) "
                        "select '{0}', 100 + n, 'log', '{{}}' from generate_series(1, {1}) as n; "
                        "insert into checkpoint (id, job_id, attempt, name, step, epoch, kinds, "
                        "files, bytes, deleted_at) "
                        "select 'ckp_' || lpad((10000 * {2} + n)::text, 26, '0'), '{0}', 1, "
                        "'step_' || n, n, 1, '{{}}', '[]', 1, clock_timestamp() "
                        "from generate_series(1, {1}) as n",
                        key.job_id, rows, ++jobs_));
        return key.job_id;
    }

    std::int64_t rows_of(const std::string& job_id) const {
        return count("metric_chunk where job_id = '" + job_id + "'") +
               count("job_event where job_id = '" + job_id + "'") +
               count("checkpoint where job_id = '" + job_id + "'");
    }

private:
    int jobs_ = 0;
};

// Goal: however many rows there are, no statement removes more than a batch.
TEST_F(DeletedJobs, are_gone_at_once_and_their_rows_go_in_batches) {
    const std::string gone = ended_job(1000);
    const std::string kept = ended_job(10);
    const std::int64_t kept_rows = rows_of(kept);
    ASSERT_TRUE(delete_job(store, gone));
    EXPECT_FALSE(find_job(store, gone));
    EXPECT_TRUE(find_event_heads(store, {gone}).empty());
    EXPECT_EQ(count("deleted_job"), 1);
    Clearing clearing;
    std::int64_t before = rows_of(gone);
    EXPECT_GT(before, 4000) << "the rows were not part of the request";
    while (clear_deleted_job(store, clearing, 150)) {
        const std::int64_t now = rows_of(gone);
        EXPECT_LE(before - now, 150);
        EXPECT_TRUE(now < before || now == 0);
        before = now;
    }
    EXPECT_EQ(rows_of(gone), 0);
    EXPECT_EQ(count("deleted_job"), 0);
    EXPECT_EQ(rows_of(kept), kept_rows);
    EXPECT_TRUE(clearing.job_id.empty());
}

TEST_F(DeletedJobs, one_that_another_process_clears_is_passed_over) {
    const std::string first = ended_job(100);
    const std::string second = ended_job(100);
    delete_job(store, first);
    delete_job(store, second);
    Clearing here;
    Clearing there;
    ASSERT_TRUE(clear_deleted_job(store, here, 50));
    EXPECT_EQ(here.job_id, first);
    // Another one ends the first meanwhile; who had begun it goes on with what is left.
    while (clear_deleted_job(store, there, 1000)) {
    }
    EXPECT_EQ(count("deleted_job"), 0);
    EXPECT_TRUE(clear_deleted_job(store, here, 50)) << "there may be others";
    EXPECT_FALSE(clear_deleted_job(store, here, 50));
}

TEST_F(DeletedJobs, rows_of_a_job_that_is_not_there_are_refused) {
    const std::string id = ended_job(1);
    for (const char* script :
         {"insert into job_event (job_id, seq, type, body) select 'job_none', 1, 'log', '{}'",
          "insert into metric_chunk (job_id, name, first_point, points, step_first, step_last, "
          "attempt, data) select 'job_none', 'loss', 0, 1, 1, 1, 1, ''",
          "insert into checkpoint (id, job_id, attempt, name, step, epoch, kinds, files, bytes) "
          "values ('ckp_00000000000000000000000000', 'job_none', 1, 'step_1', 1, 1, '{}', '[]', "
          "1)"})
        EXPECT_THROW(database.sql(script), Error) << script;
    EXPECT_THROW(database.sql("delete from job_event"), Error) << "the job is there";
    delete_job(store, id);
    EXPECT_THROW(append_event(store, id, "log", "{").value(), Error);
    EXPECT_FALSE(append_event(store, id, "log", "{}"));
}

}    // namespace

}    // namespace slipway::store
