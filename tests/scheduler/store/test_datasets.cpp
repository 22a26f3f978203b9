#include "scheduler/store/datasets.h"

#include <gmock/gmock.h>

#include <barrier>
#include <future>
#include <thread>

#include "scheduler/store/deleted_datasets.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/splits.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class Datasets : public StoreTest {
protected:
    static NewDataset new_dataset(const std::string& name) {
        return {.id = new_id("ds"),
                .name = name,
                .format = "csv",
                .source = R"({"path": "digits"})",
                .options = R"({"label_column": "y"})"};
    }

    std::string upload(std::int64_t size = 10) {
        return create_upload(store, {.id = new_id("upl"), .filename = "d.zip", .size = size}, 1h)
            .id;
    }
};

Statement insert_one(const std::string& id, const std::string& spec, const std::string& dataset) {
    std::vector<Param> values{id,           "late",     "default", "{}",         spec, std::nullopt,
                              dataset,      "normal",   1,         std::nullopt, 3,    std::nullopt,
                              std::nullopt, "tok_test", "train"};
    values.resize(26, std::nullopt);
    Statement statement{&queries::insert_jobs, {}};
    for (const Param& value : values)
        statement.params.push_back(Param::array({value}));
    return statement;
}

TEST_F(Datasets, are_found_by_id_and_by_name_in_their_project) {
    NewDataset wanted = new_dataset("digits");
    wanted.project = "letters";
    const Dataset dataset = create_dataset(store, wanted);
    EXPECT_EQ(dataset.state, DatasetState::checking);
    EXPECT_EQ(dataset.options, R"({"label_column": "y"})");
    EXPECT_EQ(find_dataset(store, wanted.id)->name, "digits");
    EXPECT_EQ(find_dataset(store, "letters", "digits")->id, wanted.id);
    EXPECT_EQ(find_dataset(store, "default", wanted.id)->id, wanted.id);
    EXPECT_FALSE(find_dataset(store, "default", "digits"));
    EXPECT_FALSE(find_dataset(store, new_id("ds")));
    NewDataset twin = new_dataset("digits");
    twin.project = "letters";
    EXPECT_EQ(code_of([&] { create_dataset(store, twin); }), ErrorCode::conflict);
    create_dataset(store, new_dataset("digits"));    // another project
}

// A hundred datasets of one project do not keep the only one of another waiting.
TEST_F(Datasets, checks_are_shared_between_projects) {
    for (const char* name : {"a", "b", "c"})
        create_dataset(store, new_dataset(name));
    NewDataset late = new_dataset("late");
    late.project = "letters";
    create_dataset(store, late);
    std::vector<std::string> order;
    while (const auto check = claim_dataset_check(store, host, 10s))
        order.push_back(check->dataset.name);
    EXPECT_THAT(order, ElementsAre("a", "late", "b", "c"));
}

TEST_F(Datasets, splits_are_shared_between_projects) {
    NewDataset other = new_dataset("letters");
    other.project = "letters";
    const auto split_of = [&](const NewDataset& dataset) {
        create_dataset(store, dataset);
        make_ready();
        return [this, id = dataset.id] {
            return create_split(store, {.id = new_id("spl"), .dataset_id = id, .request = "{}"}).id;
        };
    };
    const auto many = split_of(new_dataset("digits"));
    const auto few = split_of(other);
    std::vector<std::string> expected{many(), many(), many()};
    expected.insert(expected.begin() + 1, few());
    std::vector<std::string> order;
    while (const auto claim = claim_split(store, host, 10s))
        order.push_back(claim->id);
    EXPECT_EQ(order, expected);
}

TEST_F(Datasets, one_that_failed_gives_its_name_back) {
    const auto failed = [&] {
        const std::string id = create_dataset(store, new_dataset("digits")).id;
        const DatasetCheck check = claim_dataset_check(store, host, 10s).value();
        EXPECT_TRUE(finish_dataset_check(store, id, check.fence,
                                         {.ready = false, .problems = R"(["no such file"])"}));
        return id;
    };
    const std::string first = failed();
    const std::string second = failed();
    EXPECT_EQ(find_dataset(store, "default", "digits")->id, second) << "the newest says why";
    const std::string third = create_dataset(store, new_dataset("digits")).id;
    EXPECT_EQ(find_dataset(store, "default", "digits")->id, third);
    EXPECT_EQ(code_of([&] { create_dataset(store, new_dataset("digits")); }), ErrorCode::conflict);
    EXPECT_EQ(find_dataset(store, first)->problems, R"(["no such file"])");
    EXPECT_TRUE(delete_dataset(store, first));
    EXPECT_EQ(find_dataset(store, "default", "digits")->id, third);
}

TEST_F(Datasets, one_agent_checks_each_and_only_its_verdict_counts) {
    const std::string first = create_dataset(store, new_dataset("a")).id;
    const std::string second = create_dataset(store, new_dataset("b")).id;
    const DatasetCheck mine = claim_dataset_check(store, host, 10s).value();
    const DatasetCheck other = claim_dataset_check(store, "host-b", 10s).value();
    EXPECT_EQ(mine.dataset.id, first);
    EXPECT_EQ(other.dataset.id, second);
    EXPECT_FALSE(claim_dataset_check(store, host, 10s));
    EXPECT_TRUE(renew_dataset_check(store, first, mine.fence, 10s));
    EXPECT_FALSE(renew_dataset_check(store, first, other.fence, 10s));
    EXPECT_FALSE(finish_dataset_check(store, first, other.fence, {.ready = true}));

    EXPECT_TRUE(finish_dataset_check(
        store, first, mine.fence,
        {.ready = true, .report = R"({"samples": 3})", .content_hash = "abc", .bytes = 12}));
    const Dataset ready = find_dataset(store, first).value();
    EXPECT_EQ(ready.state, DatasetState::ready);
    EXPECT_EQ(ready.report, R"({"samples": 3})");
    EXPECT_EQ(ready.content_hash, "abc");
    EXPECT_TRUE(ready.checked_at);
    EXPECT_FALSE(finish_dataset_check(store, first, mine.fence, {.ready = false}));
}

TEST_F(Datasets, a_check_that_was_dropped_is_taken_over) {
    create_dataset(store, new_dataset("a"));
    const DatasetCheck dropped = claim_dataset_check(store, host, 10s).value();
    database.sql("update dataset set check_expires_at = clock_timestamp() - interval '1 s'");
    const DatasetCheck taken = claim_dataset_check(store, "host-b", 10s).value();
    EXPECT_FALSE(renew_dataset_check(store, dropped.dataset.id, dropped.fence, 10s));
    EXPECT_FALSE(finish_dataset_check(store, dropped.dataset.id, dropped.fence, {.ready = true}));
    EXPECT_TRUE(finish_dataset_check(store, taken.dataset.id, taken.fence,
                                     {.problems = R"([{"file": "a.csv", "row": 3}])"}));
    const Dataset failed = find_dataset(store, taken.dataset.id).value();
    EXPECT_EQ(failed.state, DatasetState::failed);
    EXPECT_EQ(failed.problems, R"([{"row": 3, "file": "a.csv"}])");
}

TEST_F(Datasets, a_failed_check_fails_the_jobs_that_waited) {
    NewJob job = new_job();
    job.dataset_id = create_dataset(store, new_dataset("a")).id;
    submit(job);
    EXPECT_EQ(queue().at(0).dataset_state, "checking");
    const DatasetCheck check = claim_dataset_check(store, host, 10s).value();
    finish_dataset_check(store, job.dataset_id, check.fence, {.problems = "[]"});
    EXPECT_EQ(state_of(job.id), JobState::failed);
    EXPECT_EQ(find_job(store, job.id)->reason->code, "data_error");
    EXPECT_EQ(count("queue"), 0);
}

// Goal: a check is stored in its time however many jobs wait for it; none of them is forgotten.
TEST_F(Datasets, many_jobs_follow_a_check_in_batches) {
    const std::string failing = create_dataset(store, new_dataset("a")).id;
    const std::string passing = create_dataset(store, new_dataset("b")).id;
    insert_jobs(1700, failing, "cores", "1");
    insert_jobs(1700, passing, "cores", "1");
    const auto failed = [&] { return count("job where state = 'failed'"); };
    const auto ready = [&] { return count("queue where dataset_ready"); };
    EXPECT_FALSE(follow_checked_datasets(store)) << "neither is checked";

    const DatasetCheck first = claim_dataset_check(store, host, 10s).value();
    EXPECT_TRUE(finish_dataset_check(store, failing, first.fence, {.problems = "[]"}));
    EXPECT_EQ(failed(), 500);
    const DatasetCheck second = claim_dataset_check(store, host, 10s).value();
    EXPECT_TRUE(finish_dataset_check(store, passing, second.fence, {.ready = true}));
    EXPECT_EQ(ready(), 500);
    EXPECT_TRUE(follow_checked_datasets(store));
    EXPECT_EQ(failed() + ready(), 1500);
    while (follow_checked_datasets(store)) {
    }
    EXPECT_EQ(failed(), 1700);
    EXPECT_EQ(ready(), 1700);
    EXPECT_EQ(count("queue"), 1700);
    EXPECT_EQ(count("job where state = 'failed' and reason_code = 'data_error'"), 1700);
    EXPECT_FALSE(follow_checked_datasets(store));
}

// A job that somebody holds meanwhile, or that comes back to the queue, is not left behind.
TEST_F(Datasets, a_job_that_missed_the_end_of_the_check_follows_later) {
    const std::string failing = create_dataset(store, new_dataset("a")).id;
    const std::string passing = create_dataset(store, new_dataset("b")).id;
    const std::string paused = submit_on(failing);
    move_job(store, paused, JobState::paused, std::nullopt);
    const std::string held = submit_on(passing);
    const DatasetCheck first = claim_dataset_check(store, host, 10s).value();
    finish_dataset_check(store, failing, first.fence, {.problems = "[]"});
    move_job(store, paused, JobState::queued, std::nullopt);
    const DatasetCheck second = claim_dataset_check(store, host, 10s).value();
    {
        const Pool::Lease lease = store.pool().acquire();
        Transaction holder(*lease);    // holds the row of `held` and is taken back
        EXPECT_EQ(holder.run(queries::release_jobs_of_dataset, {passing, 1}).size(), 1);
        EXPECT_TRUE(finish_dataset_check(store, passing, second.fence, {.ready = true}));
    }
    EXPECT_EQ(count("queue where dataset_ready"), 0);
    follow_checked_datasets(store);
    EXPECT_EQ(list_ready_jobs(store, 8).at(0).job_id, held);
    EXPECT_EQ(state_of(paused), JobState::failed);
}

TEST_F(Datasets, a_dataset_in_use_is_not_deleted) {
    NewJob job = new_job();
    job.dataset_id = create_dataset(store, new_dataset("a")).id;
    submit(job);
    EXPECT_EQ(code_of([&] { delete_dataset(store, job.dataset_id); }), ErrorCode::conflict);
    request_intent(store, job.id, Intent::cancel, {"user", ""});
    EXPECT_TRUE(delete_dataset(store, job.dataset_id));
    EXPECT_FALSE(delete_dataset(store, job.dataset_id));
    EXPECT_EQ(list_garbage(store, host).at(0).path, "datasets/" + job.dataset_id);
}

// Goal: a dataset or a split cannot be deleted under a job that is being stored.
// Method: the deletion waits for a submission that holds the dataset, and must see what it stored.
TEST_F(Datasets, what_a_job_that_is_being_stored_uses_is_not_deleted) {
    const std::string dataset = ready_dataset();
    const std::string split =
        create_split(store, {.id = new_id("spl"), .dataset_id = dataset, .request = "{}"}).id;
    for (const bool whole : {true, false}) {
        const Pool::Lease lease = store.pool().acquire();
        Transaction submission(*lease);
        const std::string spec = fmt::format(R"({{"data": {{"split": {{"id": "{}"}}}}}})", split);
        submission.run(std::vector<Statement>{insert_one(new_id("job"), spec, dataset)});
        auto deletion = std::async(std::launch::async, [&] {
            return code_of(
                [&] { whole ? delete_dataset(store, dataset) : delete_split(store, split); });
        });
        ASSERT_TRUE(eventually([&] { return count("pg_locks where not granted") > 0; }));
        submission.commit();
        EXPECT_EQ(deletion.get(), ErrorCode::conflict) << (whole ? "the dataset" : "the split");
    }
    EXPECT_EQ(count("job where dataset_id = '" + dataset + "'"), 2);
}

// Goal: deleting a dataset and deleting its split never wait for each other in a circle.
TEST_F(Datasets, deleting_a_dataset_and_its_split_cannot_deadlock) {
    Store other{{.database = database.url()}};
    constexpr int rounds = 30;
    for (int round = 0; round < rounds; ++round) {
        const std::string dataset = ready_dataset(fmt::format("d{}", round));
        std::vector<std::string> splits;
        for (int i = 0; i < 4; ++i)
            splits.push_back(
                create_split(store, {.id = new_id("spl"), .dataset_id = dataset, .request = "{}"})
                    .id);
        std::barrier start(2);
        std::jthread thread([&] {
            start.arrive_and_wait();
            for (const std::string& split : splits)
                delete_split(other, split);
        });
        start.arrive_and_wait();
        EXPECT_TRUE(delete_dataset(store, dataset));
    }
    DatasetClearing clearing;
    while (clear_deleted_dataset(store, clearing, 100)) {
    }
    EXPECT_EQ(count("split"), 0);
    EXPECT_EQ(database.sql("select deadlocks from pg_stat_database "
                           "where datname = current_database()"),
              "0");
}

TEST_F(Datasets, lists_are_narrowed_and_paged) {
    for (const char* name : {"a", "b", "c"})
        create_dataset(store, new_dataset(name));
    const Page<Dataset> first = list_datasets(store, {}, {.limit = 2});
    ASSERT_EQ(first.items.size(), 2U);
    EXPECT_EQ(first.items[0].name, "c");
    const Page<Dataset> rest = list_datasets(store, {}, {.limit = 2, .cursor = first.next_cursor});
    ASSERT_EQ(rest.items.size(), 1U);
    EXPECT_EQ(rest.next_cursor, "");
    EXPECT_TRUE(list_datasets(store, {.state = DatasetState::ready}, {}).items.empty());
    EXPECT_TRUE(list_datasets(store, {.format = "idx"}, {}).items.empty());
    EXPECT_EQ(list_datasets(store, {.projects = {"default"}, .format = "csv"}, {}).items.size(),
              3U);
}

TEST_F(Datasets, a_part_of_the_name_finds_them) {
    for (const char* name : {"digits", "Old-Digits", "100_glyphs", "100-glyphs"})
        create_dataset(store, new_dataset(name));
    const auto named = [&](const char* part, const PageRequest& page = {}) {
        return list_datasets(store, {.name_contains = part}, page);
    };
    EXPECT_EQ(named("DIGITS").items.size(), 2U);
    EXPECT_EQ(named("0_g").items.size(), 1U);    // no pattern: `_` stands for itself
    EXPECT_TRUE(named("%").items.empty());
    const Page<Dataset> first = named("digits", {.limit = 1});
    EXPECT_EQ(named("digits", {.limit = 1, .cursor = first.next_cursor}).items[0].name, "digits");
    EXPECT_THROW(named("glyphs", {.limit = 1, .cursor = first.next_cursor}), Error);
}

TEST_F(Datasets, an_upload_moves_forward_only) {
    const std::string id = upload(10);
    EXPECT_FALSE(complete_upload(store, id));
    EXPECT_TRUE(advance_upload(store, id, 0, 4));
    EXPECT_FALSE(advance_upload(store, id, 0, 4));     // somebody was faster
    EXPECT_FALSE(advance_upload(store, id, 4, 11));    // more than it has
    EXPECT_FALSE(advance_upload(store, id, 4, 2));
    EXPECT_TRUE(advance_upload(store, id, 4, 10));
    EXPECT_TRUE(complete_upload(store, id));
    EXPECT_TRUE(find_upload(store, id)->complete);
    EXPECT_FALSE(advance_upload(store, id, 10, 10));
    EXPECT_FALSE(find_upload(store, new_id("upl")));
    EXPECT_FALSE(complete_upload(store, new_id("upl")));
    EXPECT_TRUE(delete_upload(store, id));
    EXPECT_FALSE(delete_upload(store, id));
    EXPECT_EQ(list_garbage(store, host).at(0).path, "uploads/" + id);
}

TEST_F(Datasets, an_upload_stays_until_the_job_that_begins_with_it_has_ended) {
    const std::string id = upload(0);
    complete_upload(store, id);
    NewJob job = new_job();
    job.spec = fmt::format(R"({{"model": {{"arch": "mlp", "init": {{"from": "{}"}}}}}})", id);
    job.upload_ids = {id};
    submit(job);
    database.sql("update upload set expires_at = clock_timestamp() - interval '1 day'");
    EXPECT_EQ(prune_uploads(store), 0);
    EXPECT_EQ(code_of([&] { delete_upload(store, id); }), ErrorCode::conflict);
    NewDataset wanted = new_dataset("a");
    wanted.source = fmt::format(R"({{"upload": "{}"}})", id);
    EXPECT_EQ(code_of([&] { create_dataset(store, wanted); }), ErrorCode::conflict);
    ASSERT_TRUE(find_upload(store, id));
    request_intent(store, job.id, Intent::cancel, {"user", ""});
    EXPECT_EQ(prune_uploads(store), 1);
    EXPECT_EQ(list_garbage(store, host).at(0).path, "uploads/" + id);
    NewJob late = new_job();
    late.upload_ids = {id};
    EXPECT_EQ(code_of([&] { submit(late); }), ErrorCode::not_found);
}

TEST_F(Datasets, a_job_keeps_both_its_uploads) {
    const std::string network = upload(0), weights = upload(0);
    NewJob job = new_job();
    job.spec =
        fmt::format(R"({{"model": {{"from": "{}", "init": {{"from": "{}"}}}}}})", network, weights);
    job.upload_ids = {network, weights};
    submit(job);
    for (const std::string& id : job.upload_ids)
        EXPECT_EQ(code_of([&] { delete_upload(store, id); }), ErrorCode::conflict);
    request_intent(store, job.id, Intent::cancel, {"user", ""});
    for (const std::string& id : job.upload_ids)
        EXPECT_TRUE(delete_upload(store, id));
    NewJob late = new_job();
    late.upload_ids = {upload(0), network};
    EXPECT_EQ(code_of([&] { submit(late); }), ErrorCode::not_found);
}

// A checkpoint has its network.
TEST_F(Datasets, a_prediction_does_not_keep_the_network_that_its_checkpoint_imported) {
    const std::string id = upload(0);
    NewJob job = new_job();
    job.kind = JobKind::predict;
    job.payload = "{}";
    job.spec = fmt::format(R"({{"model": {{"from": "{}"}}}})", id);
    submit(job);
    EXPECT_TRUE(delete_upload(store, id));
}

TEST_F(Datasets, stored_bytes_of_a_token_and_of_a_project_are_limited) {
    const auto upload_by = [&](const std::string& token, std::int64_t size) {
        const std::string id = new_id("upl");
        create_upload(store, {.id = id, .filename = "d", .size = size, .created_by = token}, 1h,
                      {.stored_max = 100});
        advance_upload(store, id, 0, size);
        complete_upload(store, id);
        return id;
    };
    const auto dataset_of = [&](const std::string& upload, const std::string& token,
                                const std::string& project) {
        NewDataset wanted = new_dataset(upload);
        wanted.project = project;
        wanted.created_by = token;
        wanted.source = fmt::format(R"({{"upload": "{}"}})", upload);
        create_dataset(store, wanted, {.stored_max = 100});
        return wanted.id;
    };
    const std::string first = upload_by("a", 40);
    EXPECT_EQ(code_of([&] { upload_by("a", 61); }), ErrorCode::exhausted);
    const std::string dataset = dataset_of(first, "a", "p");
    const DatasetCheck check = claim_dataset_check(store, host, 10s).value();
    finish_dataset_check(store, dataset, check.fence, {.ready = true, .bytes = 50});
    EXPECT_EQ(code_of([&] { upload_by("a", 51); }), ErrorCode::exhausted) << "50 unpacked";
    const std::string last = upload_by("a", 50);
    const std::string other = upload_by("b", 51);
    EXPECT_EQ(code_of([&] { dataset_of(other, "b", "p"); }), ErrorCode::exhausted);
    EXPECT_TRUE(find_upload(store, other)) << "it is still of use in another project";
    dataset_of(other, "b", "q");
    dataset_of(last, "a", "p");
    // What lies below a dataset root is nobody's upload.
    NewDataset path = new_dataset("path");
    path.project = "p";
    create_dataset(store, path, {.stored_max = 100});
    EXPECT_TRUE(delete_dataset(store, dataset));
    upload_by("a", 50);
}

// Goal: only the host that has an uploaded file forgets it, whichever way it becomes garbage.
TEST_F(Datasets, the_file_of_an_upload_is_garbage_of_its_host) {
    add_host("a");
    add_host("b");
    const auto upload_to = [&](const std::string& to, std::chrono::seconds keep) {
        const std::string id = new_id("upl");
        create_upload(store, {.id = id, .filename = "d.zip", .host = to}, keep);
        complete_upload(store, id);
        return id;
    };
    const std::string deleted = upload_to("a", 1h);
    const std::string expired = upload_to("a", -1s);
    const std::string consumed = upload_to("a", 1h);
    EXPECT_TRUE(delete_upload(store, deleted));
    EXPECT_EQ(prune_uploads(store), 1);
    NewDataset wanted = new_dataset("d");
    wanted.source = fmt::format(R"({{"upload": "{}"}})", consumed);
    create_dataset(store, wanted);
    claim_dataset_check(store, "b", 10s);
    EXPECT_TRUE(delete_dataset(store, wanted.id));
    std::vector<std::string> of_a;
    for (const Garbage& garbage : list_garbage(store, "a"))
        of_a.push_back(garbage.path);
    EXPECT_THAT(of_a,
                ElementsAre("uploads/" + deleted, "uploads/" + expired, "uploads/" + consumed));
    ASSERT_EQ(list_garbage(store, "b").size(), 1U);
    EXPECT_EQ(list_garbage(store, "b")[0].path, "datasets/" + wanted.id);
}

TEST_F(Datasets, a_dataset_consumes_its_upload) {
    const std::string id = upload(0);
    NewDataset wanted = new_dataset("a");
    wanted.source = fmt::format(R"({{"upload": "{}"}})", id);
    EXPECT_EQ(code_of([&] { create_dataset(store, wanted); }), ErrorCode::conflict);
    complete_upload(store, id);
    create_dataset(store, wanted);
    EXPECT_FALSE(find_upload(store, id));
    EXPECT_TRUE(list_garbage(store, host).empty());    // the dataset needs the file
    wanted = new_dataset("b");
    wanted.source = fmt::format(R"({{"upload": "{}"}})", id);
    EXPECT_EQ(code_of([&] { create_dataset(store, wanted); }), ErrorCode::not_found);
    delete_dataset(store, find_dataset(store, "default", "a")->id);
    EXPECT_EQ(list_garbage(store, host).size(), 2U);
}

// Goal: the file is needed until the check has ended, and never after it, whatever was found.
TEST_F(Datasets, the_file_of_an_upload_goes_when_its_check_has_ended) {
    add_host("a");
    for (const bool ready : {true, false}) {
        database.sql("truncate garbage");
        const std::string id = new_id("upl");
        create_upload(store, {.id = id, .filename = "d.zip", .host = "a"}, 1h);
        complete_upload(store, id);
        NewDataset wanted = new_dataset(ready ? "ready" : "failed");
        wanted.source = fmt::format(R"({{"upload": "{}"}})", id);
        create_dataset(store, wanted);
        const DatasetCheck check = claim_dataset_check(store, "b", 10s).value();
        EXPECT_FALSE(finish_dataset_check(store, wanted.id, "another", {.ready = ready}));
        EXPECT_EQ(count("garbage"), 0);
        ASSERT_TRUE(finish_dataset_check(store, wanted.id, check.fence, {.ready = ready}));
        EXPECT_EQ(database.sql("select path || ' ' || host from garbage"), "uploads/" + id + " a");
        EXPECT_TRUE(delete_dataset(store, wanted.id));
        EXPECT_EQ(count("garbage where path like 'uploads/%'"), 1) << "it was listed already";
    }
}

}    // namespace

}    // namespace slipway::store
