#include "scheduler/store/deleted_datasets.h"

#include <gtest/gtest.h>

#include "scheduler/store/attempts.h"
#include "scheduler/store/splits.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

class DeletedDatasets : public StoreTest {
protected:
    /// A dataset on which jobs have ended, and that was split as often.
    std::string used_dataset(const std::string& name, int jobs) {
        const std::string id = ready_dataset(name);
        insert_jobs(jobs, id, "cores", "1");
        database.sql(fmt::format(
            "update job set state = 'cancelled', reason_code = 'user', reason_message = '' "
            "where dataset_id = '{0}'; "
            "insert into split (id, dataset_id, request, created_by, make_host) "
            "select 'spl_' || lpad((random() * 1e15)::bigint::text || n, 26, '0'), '{0}', '{{}}', "
            "'tok_test', 'host-a' from generate_series(1, {1}) as n",
            id, jobs));
        return id;
    }

    /// What still names it.
    std::int64_t references(const std::string& id) const {
        return count("job where dataset_id = '" + id + "'") +
               count("split where dataset_id = '" + id + "'");
    }
};

// Goal: however many jobs and splits there are, no statement changes more than a batch.
TEST_F(DeletedDatasets, are_gone_at_once_and_are_taken_from_jobs_in_batches) {
    const std::string gone = used_dataset("gone", 1000);
    const std::string kept = used_dataset("kept", 10);
    ASSERT_TRUE(delete_dataset(store, gone));
    EXPECT_FALSE(find_dataset(store, gone));
    EXPECT_EQ(list_datasets(store, {}, {}).items.size(), 1U);
    EXPECT_EQ(references(gone), 2000) << "neither jobs nor splits were part of the request";
    EXPECT_EQ(count("garbage"), 1) << "its folder";
    EXPECT_NE(ready_dataset("gone"), gone) << "its name is free";

    DatasetClearing clearing;
    std::int64_t before = references(gone);
    while (clear_deleted_dataset(store, clearing, 150)) {
        const std::int64_t now = references(gone);
        EXPECT_LE(before - now, 150);
        EXPECT_TRUE(now < before || now == 0);
        before = now;
        // As after a restart: what was done is not done again, and what is left is found.
        if (now == 1100) clearing = {};
    }
    EXPECT_EQ(references(gone), 0);
    EXPECT_EQ(count("deleted_dataset"), 0);
    EXPECT_EQ(count("garbage where path like 'splits/spl_%.json' and host = 'host-a'"), 1000);
    EXPECT_EQ(references(kept), 20);
    EXPECT_EQ(count("job where state = 'cancelled'"), 1010);
    EXPECT_TRUE(clearing.dataset_id.empty());
}

TEST_F(DeletedDatasets, one_that_another_process_clears_is_passed_over) {
    const std::string first = used_dataset("first", 100);
    const std::string second = used_dataset("second", 100);
    delete_dataset(store, first);
    delete_dataset(store, second);
    DatasetClearing here;
    DatasetClearing there;
    ASSERT_TRUE(clear_deleted_dataset(store, here, 50));
    EXPECT_EQ(here.dataset_id, first);
    // Another one ends the first meanwhile; who had begun it goes on with what is left.
    while (clear_deleted_dataset(store, there, 1000)) {
    }
    EXPECT_EQ(count("deleted_dataset"), 0);
    EXPECT_TRUE(clear_deleted_dataset(store, here, 50)) << "there may be others";
    EXPECT_FALSE(clear_deleted_dataset(store, here, 50));
}

TEST_F(DeletedDatasets, rows_of_a_dataset_that_is_not_there_are_refused) {
    const std::string id = used_dataset("gone", 1);
    const std::string other = used_dataset("kept", 1);
    delete_dataset(store, id);
    EXPECT_THROW(insert_jobs(1, id, "cores", "1"), Error);
    EXPECT_THROW(database.sql(fmt::format(
                     "update job set dataset_id = '{}' where dataset_id = '{}'", id, other)),
                 Error);
    EXPECT_EQ(code_of([&] {
                  create_split(store, {.id = new_id("spl"), .dataset_id = id, .request = "{}"});
              }),
              ErrorCode::not_found);
    EXPECT_EQ(code_of([&] { submit_on(id); }), ErrorCode::not_found);
}

TEST_F(DeletedDatasets, their_splits_are_made_and_deleted_by_nobody) {
    const std::string gone = used_dataset("gone", 1);
    const std::string split = list_splits(store, gone, {}).items.at(0).id;
    delete_dataset(store, gone);
    EXPECT_FALSE(claim_split(store, host, std::chrono::seconds{60}));
    EXPECT_FALSE(delete_split(store, split));
}

}    // namespace

}    // namespace slipway::store
