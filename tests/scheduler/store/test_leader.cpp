#include "scheduler/store/pg/leader.h"

#include <gtest/gtest.h>

#include "scheduler/store/jobs.h"
#include "scheduler/store/prune.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;

class Leading : public StoreTest {
protected:
    ~Leading() override {
        if (TempPostgres::instance().pid() == 0) TempPostgres::instance().start();
    }

    /// What its lease would become when the leader hangs for long enough.
    void let_leases_run_out() const {
        database.sql("update leader set expires_at = clock_timestamp() - interval '1 second'");
    }
};

TEST_F(Leading, only_one_process_leads_and_the_next_one_follows_at_once) {
    const auto long_lease = 60s;
    Leader first(store.options(), "maintenance", long_lease);
    Leader second(store.options(), "maintenance", long_lease);
    Leader other(store.options(), "something else");
    ASSERT_TRUE(first.lead());
    EXPECT_EQ(first.lead()->number, 1);
    EXPECT_FALSE(second.lead());
    EXPECT_TRUE(other.lead());
    first.resign();    // as when its process ends: nobody waits for the lease
    EXPECT_TRUE(eventually([&] { return second.lead().has_value(); }, long_lease / 2));
    EXPECT_EQ(second.lead()->number, 2);
    EXPECT_FALSE(first.lead());
    TempPostgres::instance().stop();
    EXPECT_FALSE(second.lead());
    TempPostgres::instance().start();
    EXPECT_TRUE(first.lead());
    EXPECT_FALSE(second.lead());
}

// Goal: a leader that hangs keeps its connection and its lock, and is replaced all the same; when
// it goes on, it writes nothing.
TEST_F(Leading, one_that_hangs_is_replaced_and_fenced) {
    Leader frozen(store.options(), "maintenance");
    Leader next(store.options(), "maintenance");
    const LeaderTerm old = frozen.lead().value();
    EXPECT_FALSE(next.lead());
    let_leases_run_out();
    const LeaderTerm present = next.lead().value();
    EXPECT_EQ(present.number, old.number + 1);

    add_host();
    NewJob stale = new_job("stale");
    stale.valid_until = system_clock().now() - 1h;
    const std::string expiring = submit(stale);
    const std::string job = submit();
    const std::string lost = submit();
    place(lost, {2});
    database.sql(
        "update lease set expires_at = clock_timestamp() - interval '1 hour'; "
        "update queue set not_before = clock_timestamp() - interval '1 hour'; "
        "insert into session (sha256, token_id, expires_at) select repeat('a', 64), id, "
        "clock_timestamp() - interval '1 hour' from token limit 1");
    const std::int64_t counts = count("job_count");
    const std::vector<HeldLease> silent = list_leases(store);
    EXPECT_THROW(commit_placements(store, {placement(job)}, old), LeaderReplaced);
    EXPECT_THROW(expire_queued_jobs(store, old), LeaderReplaced);
    EXPECT_THROW(rescue_lost(store, silent, old), LeaderReplaced);
    EXPECT_THROW(release_due_jobs(store, 10, old), LeaderReplaced);
    EXPECT_THROW(fold_job_counts(store, old), LeaderReplaced);
    EXPECT_THROW(prune_sessions(store, old), LeaderReplaced);
    EXPECT_THROW(prune_uploads(store, old), LeaderReplaced);
    EXPECT_EQ(state_of(job), JobState::queued);
    EXPECT_EQ(state_of(expiring), JobState::queued);
    EXPECT_EQ(state_of(lost), JobState::starting);
    EXPECT_EQ(count("job_count"), counts);
    EXPECT_FALSE(frozen.lead());

    EXPECT_TRUE(commit_placements(store, {placement(job)}, present).at(0).attempt);
    EXPECT_EQ(expire_queued_jobs(store, present).size(), 1U);
    EXPECT_EQ(rescue_lost(store, silent, present).size(), 1U);
    EXPECT_NO_THROW(prune_sessions(store, present));
    EXPECT_NO_THROW(prune_uploads(store, present));
}

TEST_F(Leading, one_that_was_away_but_not_replaced_goes_on_in_its_term) {
    Leader leader(store.options(), "maintenance");
    const std::int64_t term = leader.lead()->number;
    let_leases_run_out();
    EXPECT_EQ(leader.lead()->number, term);
    TempPostgres::instance().kill();
    // A process of the database may answer once more before it sees that the first one is gone.
    EXPECT_TRUE(eventually([&] { return !leader.lead(); }));
    TempPostgres::instance().start();
    EXPECT_EQ(leader.lead()->number, term);
    Leader other(store.options(), "maintenance");
    EXPECT_FALSE(other.lead()) << "the lock of the term is held again";
}

}    // namespace

}    // namespace slipway::store
