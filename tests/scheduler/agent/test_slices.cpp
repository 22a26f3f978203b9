// Goal: the members of an attempt on several hosts meet, and end together whatever happens to one.
// Method: two real agents on one home folder and one database, executors that misbehave on request.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "api/base/id.h"
#include "scheduler/agent/slice_rendezvous.h"
#include "scheduler/store/invariants.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using enum JobState;
namespace fs = std::filesystem;

constexpr const char* other_host = "host-b";

class AgentSlices : public AgentBench {
protected:
    void SetUp() override {
        AgentBench::SetUp();
        add_host(other_host);
        fs::create_directories(meeting_);
        options.machine_hosts = 2;
        options.stop_term = 300ms;
    }

    void TearDown() override {
        other_.reset();
        AgentBench::TearDown();
    }

    void start_agents() {
        start_agent();
        AgentOptions second = options;
        second.host = other_host;
        second.machine_host = 2;
        other_ = std::make_unique<Agent>(store, second, system_clock());
    }

    void stop_agents() {
        agent.reset();
        other_.reset();
    }

    store::AttemptKey run_slice(Labels labels) {
        labels["meeting"] = meeting_.string();
        store::NewJob job = new_job();
        job.cores = 16;
        job.spec = Json{{"labels", labels}, {"limits", Json::object()}}.dump();
        job.dataset_id = store::find_dataset(store, "default", "digits")->id;
        const std::string id = submit(job);
        place_slice(id);
        return last_attempt(id);
    }

    void place_slice(const std::string& id) {
        const std::vector<int> whole{1, 2, 3, 4, 5, 6, 7, 8};
        const auto outcomes = store::commit_placements(
            store,
            {{.job_id = id,
              .members = {{.host = host, .cores = whole}, {.host = other_host, .cores = whole}},
              .fence = random_hex(16)}});
        ASSERT_TRUE(outcomes.at(0).attempt);
        agent->wake();
        other_->wake();
    }

    store::AttemptKey last_attempt(const std::string& id) {
        return store::list_attempts(store, id).items.back().key();
    }

    fs::path folder_of_rank(const store::AttemptKey& key, int rank) const {
        const std::string part = std::to_string(key.attempt) + (rank == 0 ? "" : ".1");
        return options.artifacts().locate(Artifact::run, key.job_id, part);
    }

    pid_t pid_of_rank(const store::AttemptKey& key, int rank) const {
        const auto record = read_process_record(folder_of_rank(key, rank));
        return record ? record->id.pid : 0;
    }

    bool nothing_is_left(const store::AttemptKey& key) const {
        for (const int rank : {0, 1}) {
            const pid_t pid = pid_of_rank(key, rank);
            if (pid != 0 && !session_members(pid).empty()) return false;
        }
        return count("lease") == 0;
    }

    void expect_promises() {
        for (const store::Invariant& invariant : store::invariants())
            EXPECT_TRUE(store::find_violations(store, invariant, 5).empty()) << invariant.name;
    }

    std::unique_ptr<Agent> other_;
    const fs::path meeting_ = folder.path() / "meeting";
};

TEST_F(AgentSlices, members_meet_and_rank_0_reports_for_all) {
    start_agents();
    const auto key = run_slice({{"steps", "20"}, {"step_ms", "50"}});
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id, 20);
    EXPECT_TRUE(nothing_is_left(key));
    const store::Attempt attempt = attempt_of(key);
    ASSERT_EQ(attempt.members.size(), 2U);
    for (const store::AttemptMember& member : attempt.members) {
        EXPECT_EQ(member.end->exit_kind, "succeeded") << member.host;
        EXPECT_FALSE(member.rendezvous.empty()) << member.host;
    }
    bool told = false;
    for (const store::Event& event : store::list_events(store, key.job_id, {.limit = 5000}))
        told = told || (event.type == "log" && Json::parse(event.body).value("rank", 0) == 1);
    EXPECT_TRUE(told) << "the log of rank 1 is part of the job's";
    const Json order = Json::parse(*read_at_most(folder_of_rank(key, 1) / "attempt.json", 1 << 20));
    EXPECT_EQ(order.at("member").at("hosts"), Json({host, other_host}));
    EXPECT_NE(order.at("member").at("secret"), order.at("fence"));
    expect_promises();
}

TEST_F(AgentSlices, when_one_member_crashes_the_other_goes_and_the_job_runs_again) {
    for (const char* rank : {"0", "1"}) {
        start_agents();
        const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}, {"crash_rank", rank}});
        ASSERT_TRUE(reaches(key.job_id, queued)) << rank;
        EXPECT_TRUE(nothing_is_left(key)) << rank;
        const store::Attempt attempt = attempt_of(key);
        EXPECT_EQ(attempt.exit_kind, "crashed") << rank;
        EXPECT_NE(attempt.message.find(std::string("rank ") + rank), std::string::npos)
            << attempt.message;
        EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 1);
        expect_promises();
        store::request_intent(store, key.job_id, Intent::cancel, {.code = "user", .message = ""});
        stop_agents();
    }
}

TEST_F(AgentSlices, a_member_that_misses_another_one_costs_no_restart) {
    start_agents();
    const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}, {"missing_rank", "1"}});
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_TRUE(nothing_is_left(key));
    const auto job = store::find_job(store, key.job_id);
    EXPECT_EQ(job->restarts, 0);
    EXPECT_EQ(job->reason->code, "member_lost");
    EXPECT_EQ(job->reason->message, "rank 1 on host host-b: rank 0 is gone");
}

TEST_F(AgentSlices, rank_0_is_asked_to_stop_and_the_others_follow) {
    start_agents();
    const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}});
    ASSERT_TRUE(trains(key.job_id));
    store::request_intent(store, key.job_id, Intent::cancel, {.code = "user", .message = ""});
    agent->wake();
    ASSERT_TRUE(reaches(key.job_id, cancelled));
    EXPECT_TRUE(nothing_is_left(key));
    EXPECT_EQ(attempt_of(key).members.at(1).end->exit_kind, "succeeded") << "it was not killed";
}

TEST_F(AgentSlices, a_kill_goes_to_all) {
    start_agents();
    const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}, {"deaf", "yes"}});
    ASSERT_TRUE(trains(key.job_id));
    store::request_intent(store, key.job_id, Intent::kill, {.code = "user", .message = ""});
    ASSERT_TRUE(reaches(key.job_id, cancelled));
    EXPECT_TRUE(nothing_is_left(key));
}

TEST_F(AgentSlices, members_are_taken_over_after_a_restart) {
    start_agents();
    const fs::path enough = folder.path() / "enough";
    const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}, {"until", enough.string()}});
    ASSERT_TRUE(trains(key.job_id));
    const pid_t rank_1 = pid_of_rank(key, 1);
    stop_agents();
    start_agents();
    ASSERT_TRUE(
        eventually([&] { return agent->counts().adopted + other_->counts().adopted == 2; }));
    EXPECT_TRUE(trains(key.job_id, points(key.job_id) + 10));
    EXPECT_EQ(pid_of_rank(key, 1), rank_1);
    std::ofstream(enough).close();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    EXPECT_EQ(store::find_job(store, key.job_id)->attempts, 1);
}

TEST_F(AgentSlices, a_member_that_ended_before_a_restart_is_not_started_again) {
    start_agents();
    const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}});
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();    // rank 0's: the attempt does not end without it
    ::kill(pid_of_rank(key, 1), SIGKILL);
    ASSERT_TRUE(eventually([&] { return attempt_of(key).members.at(1).end.has_value(); }));
    other_.reset();
    start_agents();
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_TRUE(nothing_is_left(key));
    EXPECT_EQ(attempt_of(key).exit_kind, "crashed");
    EXPECT_EQ(other_->counts().started, 0);
}

TEST_F(AgentSlices, a_lost_host_ends_the_attempt_on_the_other_one) {
    start_agents();
    const auto key = run_slice({{"steps", "100000"}, {"step_ms", "5"}});
    ASSERT_TRUE(trains(key.job_id));
    other_.reset();
    const auto rescued = rescue_from("host-b");
    ASSERT_EQ(rescued.size(), 1U);
    EXPECT_EQ(attempt_of(key).message, "host host-b sent no heartbeat for longer than its lease");
    agent->wake();
    EXPECT_TRUE(eventually([&] { return session_members(pid_of_rank(key, 0)).empty(); }));
}

// Goal: nothing that an executor puts into its folder leads the agent elsewhere.
TEST(SliceRendezvous, links_and_fifos_and_large_files_are_no_offers) {
    const TempFolder run;
    const fs::path place = run.path() / rendezvous_folder;
    EXPECT_EQ(read_offer(run.path(), 0), std::nullopt);
    fs::create_directories(place);
    std::ofstream(place / "0") << "addresses";
    EXPECT_EQ(read_offer(run.path(), 0), "addresses");
    fs::create_symlink(place / "0", place / "1");
    EXPECT_EQ(read_offer(run.path(), 1), std::nullopt);
    ASSERT_EQ(mkfifo((place / "2").c_str(), 0600), 0);
    EXPECT_EQ(read_offer(run.path(), 2), std::nullopt);
    std::ofstream(place / "3") << std::string(rendezvous_bytes_max + 1, 'x');
    EXPECT_EQ(read_offer(run.path(), 3), std::nullopt);
}

TEST(SliceRendezvous, what_is_brought_replaces_a_link_and_writes_nowhere_else) {
    const TempFolder run;
    const fs::path place = run.path() / rendezvous_folder;
    EXPECT_THROW(bring_offer(run.path(), 1, "x"), Error) << "there is no folder";
    fs::create_directories(place);
    std::ofstream(run.path() / "precious") << "kept";
    fs::create_symlink(run.path() / "precious", place / "1");
    fs::create_symlink(run.path() / "precious", place / ".1.brought");
    bring_offer(run.path(), 1, "addresses");
    EXPECT_EQ(read_offer(run.path(), 1), "addresses");
    EXPECT_EQ(read_at_most(run.path() / "precious", 100), "kept");
    fs::remove_all(place);
    fs::create_directory_symlink("/tmp", place);
    EXPECT_THROW(bring_offer(run.path(), 1, "x"), Error);
    EXPECT_EQ(read_offer(run.path(), 1), std::nullopt);
}

}    // namespace
}    // namespace slipway
