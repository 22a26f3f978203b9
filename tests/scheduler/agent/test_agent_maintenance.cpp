// What the agent does besides running attempts: datasets, garbage, a database that goes away.

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "scheduler/agent/dataset_checker.h"
#include "scheduler/agent/garbage.h"
#include "scheduler/store/splits.h"
#include "tests/scheduler/agent/bench.h"
#include "tests/support/hand_clock.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using enum JobState;

class AgentMaintenance : public AgentBench {
protected:
    store::Dataset check(const std::string& what,
                         const std::string& source = R"({"path": "digits"})") {
        store::NewDataset wanted = dataset(what, Json{{"label_column", what}}.dump());
        wanted.source = source;
        store::create_dataset(store, wanted);
        if (!agent) start_agent();
        eventually([&] {
            return store::find_dataset(store, wanted.id)->state != store::DatasetState::checking;
        });
        return *store::find_dataset(store, wanted.id);
    }
};

TEST_F(AgentMaintenance, a_good_dataset_becomes_ready_with_its_report) {
    const store::Dataset checked = check("good");
    EXPECT_EQ(checked.state, store::DatasetState::ready);
    EXPECT_EQ(checked.content_hash, "sha256:ab");
    EXPECT_EQ(checked.bytes, 10);
    EXPECT_EQ(Json::parse(checked.report).at("samples"), 5);
}

TEST_F(AgentMaintenance, a_bad_dataset_fails_with_its_problems) {
    const store::Dataset checked = check("bad");
    EXPECT_EQ(checked.state, store::DatasetState::failed);
    EXPECT_EQ(Json::parse(checked.problems).at(0).at("row"), 3);
}

TEST_F(AgentMaintenance,
       a_check_that_crashes_hangs_or_babbles_is_a_failed_dataset_not_a_dead_agent) {
    options.check_max = 500ms;
    for (const char* what : {"crash", "slow", "garbage", "large"}) {
        const store::Dataset checked = check(what);
        EXPECT_EQ(checked.state, store::DatasetState::failed) << what;
        EXPECT_FALSE(Json::parse(checked.problems).at(0).at("message").get<std::string>().empty());
    }
}

// Goal: what was claimed and could not begin is tried again with the next turn, and not when the
// lease of its claim has ended: a minute, here.
TEST_F(AgentMaintenance, a_question_without_an_answer_while_a_check_begins_fails_no_dataset) {
    options.lease = 10s;
    const store::NewDataset wanted = dataset("good", Json{{"label_column", "good"}}.dump());
    store::create_dataset(store, wanted);
    database.sql("alter table project rename to project_away");
    start_agent();
    ASSERT_TRUE(eventually([&] { return agent->counts().failed_calls > 0; }));
    EXPECT_EQ(store::find_dataset(store, wanted.id)->state, store::DatasetState::checking);
    database.sql("alter table project_away rename to project");
    EXPECT_TRUE(eventually([&] {
        return store::find_dataset(store, wanted.id)->state == store::DatasetState::ready;
    }));
}

TEST_F(AgentMaintenance, a_question_without_an_answer_while_a_split_begins_fails_no_split) {
    options.lease = 10s;
    const store::Dataset of = check("good");
    agent.reset();
    const std::string id = new_id("spl");
    store::create_split(
        store,
        {.id = id, .dataset_id = of.id, .request = R"({"method": "kfold"})", .created_by = "me"});
    database.sql("alter table project rename to project_away");
    start_agent();
    ASSERT_TRUE(eventually([&] { return agent->counts().failed_calls > 0; }));
    EXPECT_EQ(store::find_split(store, id)->state, store::SplitState::making);
    database.sql("alter table project_away rename to project");
    EXPECT_TRUE(eventually(
        [&] { return store::find_split(store, id)->state == store::SplitState::ready; }));
}

TEST_F(AgentMaintenance, a_check_that_was_killed_leaves_nothing_half_unpacked) {
    const auto datasets = folder.path() / "store/datasets";
    folder.write("store/datasets/ds_of_an_agent_before.tmp/deep/file", "x");
    folder.write("store/datasets/ds_whole/file", "x");
    options.check_max = 500ms;
    const std::string upload = new_id("upl");
    store::create_upload(store, {.id = upload, .filename = "a.csv", .size = 1}, 1h);
    store::advance_upload(store, upload, 0, 1);
    ASSERT_TRUE(store::complete_upload(store, upload));
    const store::Dataset checked =
        check("slow", Json{{"upload", upload}, {"filename", "a.csv"}}.dump());
    EXPECT_EQ(checked.state, store::DatasetState::failed);
    EXPECT_TRUE(eventually([&] {
        const std::filesystem::directory_iterator all(datasets);
        return std::distance(begin(all), end(all)) == 1;
    }));
    EXPECT_TRUE(std::filesystem::exists(datasets / "ds_whole/file"));
}

// Goal: what was uploaded takes no room once it has been checked, whatever was found.
TEST_F(AgentMaintenance, the_file_of_an_upload_goes_after_its_check) {
    std::vector<std::filesystem::path> files;
    for (const auto& [what, state] : {std::pair("good", store::DatasetState::ready),
                                      std::pair("bad", store::DatasetState::failed)}) {
        const std::string upload = new_id("upl");
        files.push_back(folder.path() / "store/uploads" / upload);
        store::create_upload(store, {.id = upload, .filename = "a.csv", .size = 1}, 1h);
        folder.write("store/uploads/" + upload, "x");
        store::advance_upload(store, upload, 0, 1);
        ASSERT_TRUE(store::complete_upload(store, upload));
        EXPECT_EQ(check(what, Json{{"upload", upload}, {"filename", "a.csv"}}.dump()).state, state);
    }
    // The agent removes what is not used each ten seconds.
    for (const std::filesystem::path& file : files)
        EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(file); })) << file;
}

// Goal: what a check names its result leads the jobs of the dataset nowhere else.
TEST_F(AgentMaintenance, a_check_that_unpacks_to_a_link_is_a_failed_dataset) {
    const std::string upload = new_id("upl");
    store::create_upload(store, {.id = upload, .filename = "a.csv", .size = 1}, 1h);
    store::advance_upload(store, upload, 0, 1);
    ASSERT_TRUE(store::complete_upload(store, upload));
    const store::Dataset checked =
        check("link", Json{{"upload", upload}, {"filename", "a.csv"}}.dump());
    EXPECT_EQ(checked.state, store::DatasetState::failed);
    const auto place = folder.path() / "store/datasets" / checked.id;
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(place)));
}

// Goal: a check that outlived its agent writes nothing after the next agent's result.
TEST_F(AgentMaintenance, a_check_of_an_agent_before_this_one_is_killed) {
    store::NewDataset wanted = dataset("slow", R"({"label_column": "slow"})");
    store::create_dataset(store, wanted);
    start_agent();
    // One reader at a time: it removes what is not whole yet.
    const auto processes = options.home / "processes";
    const auto record = processes / (wanted.id + ".json");
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(record); }));
    agent.reset();
    const ProcessId check = ProcessRecords(processes, id_scope()).find(wanted.id)->id;
    EXPECT_TRUE(open_process(check));
    start_agent();
    EXPECT_TRUE(eventually([&] { return session_members(check.pid).empty(); }));
    EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(record); }));
}

TEST_F(AgentMaintenance, a_path_outside_of_the_allowed_folders_is_never_read) {
    const store::Dataset checked = check("good", R"({"path": "../../etc"})");
    EXPECT_EQ(checked.state, store::DatasetState::failed);
}

TEST_F(AgentMaintenance, a_split_is_made_of_a_checked_dataset_or_fails_alone) {
    const store::Dataset of = check("good");
    for (const auto& [method, state] :
         {std::pair("kfold", store::SplitState::ready), std::pair("bad", store::SplitState::failed),
          std::pair("crash", store::SplitState::failed),
          std::pair("garbage", store::SplitState::failed),
          std::pair("no_folds", store::SplitState::failed),
          std::pair("no_hash", store::SplitState::failed),
          std::pair("link", store::SplitState::failed)}) {
        const std::string id = new_id("spl");
        store::create_split(store, {.id = id,
                                    .dataset_id = of.id,
                                    .request = Json{{"method", method}}.dump(),
                                    .created_by = "me"});
        agent->wake();
        eventually(
            [&] { return store::find_split(store, id)->state != store::SplitState::making; });
        const store::StoredSplit made = *store::find_split(store, id);
        EXPECT_EQ(made.state, state) << method;
        const bool ready = state == store::SplitState::ready;
        EXPECT_EQ(made.folds, ready ? 5 : 0) << method;
        EXPECT_EQ(std::filesystem::exists(folder.path() / "store/splits" / (id + ".json")), ready);
        EXPECT_EQ(made.problems.empty(), ready) << method;
    }
}

// Goal: a report that the database does not take ends what it is about, and holds up nothing else.
// Method: triggers stand for constraints that the border does not know.
TEST_F(AgentMaintenance, a_report_that_cannot_be_stored_fails_the_check_or_the_split_alone) {
    const store::Dataset of = check("good");
    database.sql(R"(
        create function refuse() returns trigger language plpgsql as $$
        begin
            raise exception 'not that' using errcode = '23514';
        end $$;
        create trigger refuse before update on split for each row
            when (new.state = 'ready') execute function refuse();
        create trigger refuse before update on dataset for each row
            when (new.state = 'ready' and new.name = 'fine') execute function refuse();)");
    const std::string id = new_id("spl");
    store::create_split(
        store,
        {.id = id, .dataset_id = of.id, .request = R"({"method": "kfold"})", .created_by = "me"});
    agent->wake();
    ASSERT_TRUE(eventually(
        [&] { return store::find_split(store, id)->state == store::SplitState::failed; }));
    const store::Dataset refused = check("fine");
    EXPECT_EQ(refused.state, store::DatasetState::failed);
    EXPECT_NE(refused.problems.find("cannot be stored"), std::string::npos);
    EXPECT_EQ(check("other").state, store::DatasetState::ready);
}

TEST_F(AgentMaintenance, a_check_or_a_split_that_cannot_be_started_says_on_which_host_and_why) {
    const auto program = folder.path() / "executor";
    std::filesystem::copy_file(options.executor, program);
    options.executor = program;
    start_agent();
    std::filesystem::remove(program);
    const auto message_of = [](const std::string& problems) {
        return Json::parse(problems).at(0).at("message").get<std::string>();
    };
    const std::string of_check = message_of(check("good").problems);
    EXPECT_NE(of_check.find(host + " could not start"), std::string::npos) << of_check;
    EXPECT_NE(of_check.find("No such file"), std::string::npos) << of_check;

    const std::string id = new_id("spl");
    store::create_split(store, {.id = id,
                                .dataset_id = store::find_dataset(store, "default", "digits")->id,
                                .request = R"({"method": "kfold"})",
                                .created_by = "me"});
    agent->wake();
    ASSERT_TRUE(eventually(
        [&] { return store::find_split(store, id)->state == store::SplitState::failed; }));
    const std::string of_split = message_of(store::find_split(store, id)->problems);
    EXPECT_NE(of_split.find(host + " could not start"), std::string::npos) << of_split;
    EXPECT_NE(of_split.find("No such file"), std::string::npos) << of_split;
}

TEST(ReadVerdict, only_a_report_without_problems_is_a_yes) {
    for (const char* text : {"", "[]", "{}", R"({"problem_count": 1})", R"({"problem_count": "0"})",
                             R"({"problem_count": 2, "problems": 5})"}) {
        const store::DatasetCheckResult result = read_check_result(text);
        EXPECT_FALSE(result.ready) << text;
        EXPECT_FALSE(Json::parse(result.problems).empty());
    }
    EXPECT_TRUE(read_check_result(R"({"problem_count": 0, "problems": []})").ready);
}

TEST_F(AgentMaintenance, a_database_that_is_away_stops_no_executor_and_loses_nothing) {
    options.renew_every = 50ms;
    start_agent();
    const std::filesystem::path enough = folder.path() / "enough";
    const auto key = run_job({{"steps", "100000"}, {"step_ms", "2"}, {"until", enough.string()}});
    ASSERT_TRUE(trains(key.job_id));
    const auto frames = run_folder_of(key) / "frames.ndjson";
    TempPostgres::instance().kill();
    const auto before = std::filesystem::file_size(frames);
    EXPECT_TRUE(eventually([&] { return std::filesystem::file_size(frames) > before + 20000; }));
    EXPECT_GT(agent->counts().failed_calls, 0);
    EXPECT_FALSE(is_gone(key));
    std::ofstream(enough).close();
    TempPostgres::instance().start();
    ASSERT_TRUE(eventually([&] {
        try {
            return state_of(key.job_id) == succeeded;
        } catch (const Error&) {
            return false;    // the database is not back yet
        }
    }));
    expect_complete(key.job_id, Json::parse(store::find_job(store, key.job_id)->result).at("step"));
    EXPECT_EQ(store::list_attempts(store, key.job_id).items.size(), 1U);
}

TEST_F(AgentMaintenance, garbage_goes_and_what_is_not_ours_stays) {
    folder.write("store/checkpoints/job_x/step_1/model", "x");
    folder.write("store/datasets/ds_x/file", "x");
    folder.write("store/reports/job_x/graphs/a.json", "x");
    folder.write("runs/job_x/1/output.log", "x");
    folder.write("precious/file", "x");
    database.sql(
        "alter table garbage drop constraint garbage_path_check; "    // our own check is tested
        "insert into garbage (path) values ('checkpoints/job_x/step_1'), ('datasets/ds_x'), "
        "('reports/job_x'), "
        "('runs/job_x'), ('precious/file'), ('runs'), ('checkpoints/../../precious')");
    remove_garbage(store, options);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "store/checkpoints/job_x/step_1"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "store/datasets/ds_x"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "store/reports/job_x"));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs/job_x"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "runs"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "precious/file"));
    EXPECT_EQ(count("garbage"), 0);
}

// Goal: what cannot be removed keeps nothing else from being removed.
// Method: entries of /proc are nobody's to remove, not even root's.
TEST_F(AgentMaintenance, garbage_that_cannot_be_removed_blocks_nothing) {
    folder.write("store/uploads/upl_x", "x");
    std::filesystem::create_directory_symlink("/proc/self", folder.path() / "store/datasets");
    database.sql(
        "insert into garbage (path) select 'datasets/status' from generate_series(1, 60); "
        "insert into garbage (path) values ('uploads/upl_x')");
    for (int steps = 0; steps < 100 && remove_garbage(store, options);)
        ++steps;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "store/uploads/upl_x"));
    EXPECT_EQ(count("garbage"), 60);
    EXPECT_EQ(count("garbage where tries = 1 and due_at > clock_timestamp()"), 60);
    database.sql("update garbage set tries = 20, due_at = clock_timestamp()");
    while (remove_garbage(store, options)) {
    }
    EXPECT_EQ(count("garbage where due_at < clock_timestamp() + interval '61 minutes'"), 60);
}

// Goal: each host removes what is on its own disk; what a host that is gone left behind goes only
// where it is found.
TEST_F(AgentMaintenance, garbage_of_another_host_is_left_to_its_agent) {
    add_host("host-b");
    database.sql(
        "insert into garbage (path, host) values ('uploads/a', 'host-b'), "
        "('uploads/b', 'host-b'), ('uploads/c', 'host-a'), ('uploads/d', null)");
    for (const char* name : {"a", "c", "d"})
        folder.write(std::string("store/uploads/") + name, "x");
    remove_garbage(store, options);
    EXPECT_EQ(count("garbage where host = 'host-b'"), 2);
    EXPECT_EQ(count("garbage"), 2);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "store/uploads/a"));
    database.sql(
        "update host set heartbeat_at = heartbeat_at - interval '2 hours' "
        "where name = 'host-b'");
    remove_garbage(store, options);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "store/uploads/a"));
    EXPECT_EQ(count("garbage where path = 'uploads/b' and tries = 1"), 1);
    EXPECT_EQ(count("garbage"), 1);
}

// Goal: the rows of a deleted job go without being asked for, and not on the thread of the leases.
TEST_F(AgentMaintenance, rows_of_deleted_jobs_go_while_jobs_run) {
    start_agent();
    const store::AttemptKey long_job = run_job({{"steps", "100000"}, {"step_ms", "5"}});
    ASSERT_TRUE(trains(long_job.job_id));
    const store::AttemptKey gone = place(submit_labelled({{"steps", "20"}}), {2});
    agent->wake();
    ASSERT_TRUE(reaches(gone.job_id, succeeded));
    EXPECT_GT(points(gone.job_id), 0);
    ASSERT_TRUE(store::delete_job(store, gone.job_id));
    EXPECT_TRUE(eventually([&] { return count("deleted_job") == 0; }));
    EXPECT_EQ(points(gone.job_id), 0);
    EXPECT_TRUE(trains(long_job.job_id, points(long_job.job_id) + 3));
}

// Goal: a deleted dataset is taken from its jobs without being asked for.
TEST_F(AgentMaintenance, jobs_stop_naming_a_deleted_dataset) {
    const store::AttemptKey key = run_job({{"steps", "1"}});
    start_agent();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    const std::string dataset = store::find_job(store, key.job_id)->dataset_id;
    ASSERT_TRUE(store::delete_dataset(store, dataset));
    EXPECT_TRUE(eventually([&] { return count("deleted_dataset") == 0; }));
    EXPECT_EQ(store::find_job(store, key.job_id)->dataset_id, "");
}

TEST_F(AgentMaintenance, old_run_folders_go_unless_somebody_lives_there) {
    folder.write("runs/job_a/1/output.log", "x");
    folder.write("runs/job_b/1/output.log", "x");
    const auto lock = lock_run_folder(folder.path() / "runs/job_b/1");
    HandClock clock(system_clock().now());
    EXPECT_EQ(remove_old_run_folders(options, clock), 0U);
    clock.advance(25h);
    EXPECT_EQ(remove_old_run_folders(options, clock), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs/job_a"));
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "runs/job_b/1/output.log"));
}

TEST_F(AgentMaintenance, an_old_run_folder_whose_lock_is_no_file_goes_and_holds_up_no_other_one) {
    for (const char* job : {"job_a", "job_b", "job_c"})
        folder.write(std::string("runs/") + job + "/1/output.log", "x");
    std::filesystem::create_directory(folder.path() / "runs/job_a/1/lock");
    std::filesystem::create_symlink("lock", folder.path() / "runs/job_b/1/lock");
    HandClock clock(system_clock().now());
    clock.advance(25h);
    EXPECT_EQ(remove_old_run_folders(options, clock), 3U);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "runs"));
}

// Goal: copies of datasets have no more than they may, the least lately used go first, and what a
// hostile executor leaves among them leads nowhere.
TEST_F(AgentMaintenance, copies_of_datasets_make_room_by_their_last_use) {
    namespace fs = std::filesystem;
    const auto copy = [&](const std::string& name, int hours) {
        const fs::path path = folder.write("store/decoded/" + name, std::string(100'000, 'x'));
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
        return path;
    };
    const fs::path unused = copy("1/ds_a/1.copy", 25), oldest = copy("1/ds_b/1.copy", 3);
    const fs::path old = copy("1/ds_a/2.copy.tmp", 2), newest = copy("2/ds_c/1.copy", 1);
    const fs::path outside = folder.write("outside/file.copy", "x");
    fs::create_directory_symlink(folder.path() / "outside", folder.path() / "store/decoded/1/ds_d");
    fs::create_directory_symlink(folder.path() / "outside",
                                 folder.path() / "store/decoded/2/ds_c/f");
    HandClock clock(system_clock().now());
    EXPECT_EQ(remove_old_copies(options, clock), 1U);
    EXPECT_FALSE(fs::exists(unused));
    EXPECT_TRUE(fs::exists(oldest));
    options.decoded_bytes_max = 250'000;
    EXPECT_EQ(remove_old_copies(options, clock), 1U);
    EXPECT_FALSE(fs::exists(oldest));
    EXPECT_TRUE(fs::exists(old) && fs::exists(newest));
    options.decoded_bytes_max = 0;
    EXPECT_EQ(remove_old_copies(options, clock), 2U);
    clock.advance(25h);
    EXPECT_EQ(remove_old_copies(options, clock), 1U) << "the link";
    EXPECT_TRUE(fs::is_empty(folder.path() / "store/decoded/2/ds_c"));
    EXPECT_TRUE(fs::exists(outside));
}

}    // namespace
}    // namespace slipway
