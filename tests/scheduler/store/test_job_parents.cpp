// Jobs that are parts of a sweep or of a cross-validation.
#include <gmock/gmock.h>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum JobState;

constexpr auto no_answer = [](std::span<const Job>) { return StoredResponse{}; };

class JobParents : public StoreTest {
protected:
    static NewJob part(const std::string& parent_id, const std::string& key) {
        NewJob job = new_job("part-" + key);
        job.parent = JobParent{.id = parent_id, .key = key};
        return job;
    }

    std::vector<std::string> keys(const JobFilter& filter, int limit = 50) {
        std::vector<std::string> keys;
        PageRequest request{.limit = limit};
        do {
            const Page<Job> page = list_jobs(store, filter, request);
            for (const Job& job : page.items)
                keys.push_back(job.parent.value_or(JobParent{}).key);
            request.cursor = page.next_cursor;
        } while (!request.cursor.empty());
        return keys;
    }

    void store_parts(const std::string& parent_id, int parts) {
        std::vector<NewJob> jobs;
        for (int number = 0; number < parts; ++number)
            jobs.push_back(part(parent_id, std::to_string(number)));
        submit_jobs(store, jobs, {}, no_answer);
    }

    const std::string sweep = new_id("swp");
    const std::string folds = new_id("cv");
};

TEST_F(JobParents, a_job_has_a_parent_and_is_listed_by_it) {
    submit();
    store_parts(sweep, 3);
    store_parts(folds, 2);
    const std::string id = submit(part(sweep, "3"));
    const std::optional<JobParent> parent = find_job(store, id).value().parent;
    ASSERT_TRUE(parent.has_value());
    EXPECT_EQ(parent->id, sweep);
    EXPECT_EQ(parent->key, "3");
    for (const int limit : {1, 50}) {
        EXPECT_THAT(keys({.parent_id = sweep}, limit), ElementsAre("3", "2", "1", "0"));
        EXPECT_THAT(keys({.parent_id = folds}, limit), ElementsAre("1", "0"));
        EXPECT_THAT(keys({.states = {queued}, .parent_id = folds}, limit), ElementsAre("1", "0"));
    }
    EXPECT_THAT(keys({.states = {running}, .parent_id = folds}), IsEmpty());
    EXPECT_THAT(keys({.parent_id = new_id("swp")}), IsEmpty());
    EXPECT_THAT(list_jobs(store, {.parent_id = folds}, {}, JobOrder::name, false).items, SizeIs(2));
    EXPECT_FALSE(find_job(store, submit()).value().parent.has_value());
}

// Goal: jobs that are no trial and no fold are listed in every order and in every state.
TEST_F(JobParents, jobs_without_a_parent_are_listed_alone) {
    const std::string queued_one = submit();
    store_parts(sweep, 3);
    const std::string ended = submit();
    request_intent(store, ended, Intent::cancel, {"cancelled", "not needed"});
    for (const JobOrder order : {JobOrder::created_at, JobOrder::name, JobOrder::finished_at}) {
        for (const bool descending : {false, true}) {
            const auto listed =
                list_jobs(store, {.parent_id = std::string(no_parent)}, {}, order, descending);
            EXPECT_THAT(listed.items, SizeIs(2)) << int(order) << descending;
            const auto of_state =
                list_jobs(store, {.states = {cancelled}, .parent_id = std::string(no_parent)}, {},
                          order, descending);
            ASSERT_THAT(of_state.items, SizeIs(1)) << int(order) << descending;
            EXPECT_EQ(of_state.items[0].id, ended);
        }
    }
    EXPECT_THAT(keys({.states = {queued}, .parent_id = std::string(no_parent)}, 1),
                ElementsAre(""));
    EXPECT_EQ(list_jobs(store, {.parent_id = std::string(no_parent)}, {}).items[1].id, queued_one);
}

// Goal: what a submission writes besides its jobs is written with all of them or not at all.
TEST_F(JobParents, the_parent_is_stored_with_its_jobs_or_not_at_all) {
    const std::vector<NewJob> jobs{part(sweep, "0"), part(sweep, "1")};
    const auto also = [&](Transaction& transaction) {
        transaction.run(queries::set_group_limit, {"default", "with-its-jobs", 3});
    };
    submit_jobs(store, jobs, {.also = also}, no_answer);
    EXPECT_EQ(count("job_group where name = 'with-its-jobs'"), 1);

    NewJob lost = part(sweep, "2");
    lost.dataset_id = new_id("ds");
    const auto again = [&](Transaction& transaction) {
        transaction.run(queries::set_group_limit, {"default", "without", 3});
    };
    EXPECT_THROW(
        submit_jobs(store, std::vector{part(sweep, "3"), lost}, {.also = again}, no_answer), Error);
    EXPECT_EQ(count("job_group where name = 'without'"), 0);
    EXPECT_THAT(keys({.parent_id = sweep}), ElementsAre("1", "0"));
}

TEST_F(JobParents, all_parts_are_ended_and_deleted_by_their_parent) {
    add_host();
    store_parts(folds, 1);
    store_parts(sweep, 2);
    NewJob fits = part(sweep, "runs");
    fits.dataset_id = ready_dataset();
    const AttemptKey runs = place(submit(fits), {1});
    relay_state(runs, 1, compiling);
    relay_state(runs, 2, running);
    const Reason reason{"cancelled", "the sweep was stopped"};
    EXPECT_THROW(delete_jobs_of_parent(store, sweep), Error);
    EXPECT_THAT(end_jobs_of_parent(store, sweep, Intent::cancel, reason), SizeIs(3));
    EXPECT_THAT(end_jobs_of_parent(store, sweep, Intent::cancel, reason), IsEmpty());
    EXPECT_EQ(find_job(store, runs.job_id).value().state, cancelling);
    EXPECT_THAT(end_jobs_of_parent(store, sweep, Intent::kill, reason), ElementsAre(runs.job_id));
    EXPECT_THAT(end_jobs_of_parent(store, sweep, Intent::kill, reason), IsEmpty());
    finish_attempt(store, runs, {.exit_kind = "test", .job_state = cancelled});
    EXPECT_EQ(delete_jobs_of_parent(store, sweep, 2), 2);
    EXPECT_EQ(delete_jobs_of_parent(store, sweep), 1);
    EXPECT_EQ(delete_jobs_of_parent(store, sweep), 0);
    EXPECT_THAT(keys({.states = {queued}}), ElementsAre("0"));
}

TEST_F(JobParents, the_database_refuses_what_is_no_parent) {
    const auto refused = [&](const JobParent& parent) {
        NewJob job = new_job();
        job.parent = parent;
        EXPECT_ANY_THROW(submit(job)) << parent.id << " " << parent.key;
    };
    refused({.id = new_id("job"), .key = "0"});
    refused({.id = sweep, .key = ""});
    refused({.id = "", .key = "0"});
}

}    // namespace

}    // namespace slipway::store
