#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/jobs.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct JobActions : testing::Test {
    TestService service;
    JobActions() { service.ready_dataset("points"); }

    Json act(int status, const std::string& id, const std::string& verb,
             const Json& body = Json::object()) {
        return service.expect(status, "POST", "/v1/jobs/" + id + "/" + verb, body);
    }

    std::string state(const std::string& id) {
        return service.expect(200, "GET", "/v1/jobs/" + id).value("state", "");
    }

    // A checkpoint that the live attempt saves at this step; its id.
    std::string save(const store::AttemptKey& key, std::int64_t step, bool best = false) {
        store::RelayedFrame frame{.number = next_frame++};
        frame.checkpoint =
            store::RelayedCheckpoint{.id = new_id("ckp"),
                                     .name = "step_" + std::to_string(step) + "_attempt_1",
                                     .step = step,
                                     .epoch = 1,
                                     .kinds = {"last"},
                                     .files = "[]",
                                     .written_by = written_by,
                                     .bytes = 7};
        const std::string id = frame.checkpoint->id;
        if (best)
            frame.best =
                Json{{"metric", "val_loss"}, {"value", 0.5}, {"step", step}, {"checkpoint", id}}
                    .dump();
        service.relay(key, {frame});
        return id;
    }
    std::int64_t next_frame = 3;    // run() has said two
    std::string written_by{};       // of what save() saves

    // A job that has ended in this state with checkpoints at steps 5 (the best) and 9.
    struct Ended {
        std::string job;
        std::string best, newest;
    };
    Ended ended(JobState end, const Json& changes = Json::object()) {
        Ended made{.job = service.submit(changes), .best = {}, .newest = {}};
        next_frame = 3;
        const auto key = service.run(made.job);
        made.best = save(key, 5, true);
        made.newest = save(key, 9);
        if (end == JobState::cancelled) act(200, made.job, "cancel");
        service.finish(key, end);
        return made;
    }

    // The problem at this pointer of a fork that must be refused.
    Json refused(const std::string& id, const Json& body, const std::string& pointer) {
        const Json problem = act(422, id, "fork", body);
        for (const Json& one : problem.value("errors", Json::array()))
            if (one.value("pointer", "") == pointer) return one;
        ADD_FAILURE() << pointer << " is not in " << problem.dump(2);
        return Json::object();
    }

    Json bulk(const std::string& action, const Json& filter, bool dry_run = false) {
        const Json answer =
            service.expect(200, "POST", dry_run ? "/v1/jobs/bulk?dry_run=true" : "/v1/jobs/bulk",
                           {{"action", action}, {"filter", filter}});
        EXPECT_TRUE(check_document("JobBulkResult", answer).empty()) << answer.dump(2);
        return answer;
    }
};

TEST_F(JobActions, a_queued_job_is_paused_and_resumed_at_its_age) {
    const std::string first = service.submit();
    const std::string second = service.submit();
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(act(200, first, "pause")["state"], "paused");
    const Json paused = service.expect(200, "GET", "/v1/jobs/" + first);
    EXPECT_EQ(paused["reason"]["code"], "paused");
    EXPECT_FALSE(paused.contains("queue"));
    const Json resumed = act(200, first, "resume");
    EXPECT_EQ(resumed["state"], "queued");
    EXPECT_EQ(resumed["queue"]["position"], 1) << "it is older than the other one";
    EXPECT_EQ(resumed["reason"], nullptr);
    EXPECT_EQ(act(200, first, "resume")["state"], "queued") << "repeated";
}

TEST_F(JobActions, a_running_job_is_asked_to_pause_and_goes_on_from_its_checkpoint) {
    const std::string id = service.submit();
    const auto key = service.run(id);
    const std::string checkpoint = save(key, 5);
    EXPECT_EQ(act(200, id, "pause")["state"], "pausing");
    EXPECT_EQ(act(409, id, "resume")["code"], "illegal_transition");
    service.finish(key, JobState::paused);
    EXPECT_EQ(state(id), "paused");
    EXPECT_EQ(act(409, id, "checkpoint")["code"], "conflict");
    EXPECT_EQ(act(200, id, "resume")["state"], "queued");
    service.run(id);
    const auto live = store::list_live_attempts(service.store, "here");
    ASSERT_EQ(live.size(), 1U);
    EXPECT_EQ(live[0].resume_checkpoint_id, checkpoint);
    EXPECT_EQ(live[0].resume_job_id, id);
}

// Goal: nothing begins that would fail at once; the message says which build and what is read.
TEST_F(JobActions, a_checkpoint_of_a_later_build_is_rejected_wherever_it_is_used) {
    written_by = R"({"program":"slipway-executor 9.0","build":"ab","format":2,"spec_version":1})";
    const std::string why = "written by slipway-executor 9.0) has format 2";
    const Ended done = ended(JobState::cancelled);
    const Json shown = service.expect(200, "GET", "/v1/checkpoints/" + done.newest);
    EXPECT_EQ(shown["written_by"]["program"], "slipway-executor 9.0");
    EXPECT_EQ(shown["written_by"]["format"], 2);
    const auto expect_why = [&](const Json& problem) {
        EXPECT_NE(problem.dump().find(why), std::string::npos) << problem.dump(2);
    };
    expect_why(refused(done.job, {{"checkpoint", done.best}}, "/checkpoint"));
    expect_why(refused(done.job, {{"checkpoint", "best"}, {"start", "weights"}}, "/checkpoint"));
    expect_why(service.expect(422, "POST", "/v1/jobs/" + done.job + "/retry", Json::object()));
    expect_why(
        service.expect(422, "POST", "/v1/predictions",
                       {{"from", {{"checkpoint", done.best}}}, {"data", {{"dataset", "points"}}}}));
    Json begun = TestService::spec();
    begun["model"]["init"] = {{"from", done.newest}};
    expect_why(service.expect(422, "POST", "/v1/jobs", begun));
    act(201, done.job, "fork", {{"start", "scratch"}});

    const std::string paused = service.submit();
    next_frame = 3;
    const auto key = service.run(paused, 2);
    save(key, 5);
    act(200, paused, "pause");
    service.finish(key, JobState::paused);
    expect_why(act(409, paused, "resume"));
    EXPECT_EQ(state(paused), "paused");
}

TEST_F(JobActions, what_has_ended_is_neither_paused_nor_resumed) {
    const std::string id = ended(JobState::failed).job;
    EXPECT_EQ(act(409, id, "pause")["code"], "illegal_transition");
    EXPECT_EQ(act(409, id, "resume")["code"], "illegal_transition");
    service.expect(404, "POST", "/v1/jobs/" + new_id("job") + "/pause");
}

TEST_F(JobActions, a_resumed_job_needs_a_place_in_the_queue) {
    service.services.limits.queued_jobs = 1;
    const std::string first = service.submit();
    act(200, first, "pause");
    // Counts are read once a second.
    const auto count_again = [&] {
        service.services.queued_jobs =
            std::make_shared<submission::QueuedJobs>(service.store, service.services.clock);
    };
    count_again();
    const std::string second = service.submit();
    count_again();
    const Json problem = act(429, first, "resume");
    EXPECT_NE(problem.value("detail", "").find("--queued-jobs-max"), std::string::npos);
    EXPECT_EQ(state(first), "paused");
}

TEST_F(JobActions, each_request_for_a_checkpoint_reaches_the_agent) {
    const std::string id = service.submit();
    EXPECT_EQ(act(409, id, "checkpoint")["code"], "conflict") << "it does not run";
    service.run(id);
    act(200, id, "checkpoint");
    act(200, id, "checkpoint");
    EXPECT_EQ(store::list_live_attempts(service.store, "here").at(0).saves_requested, 2);
}

TEST_F(JobActions, a_retry_is_a_new_job_that_continues) {
    const Ended failed = ended(JobState::failed, {{"labels", {{"team", "a"}}}});
    const auto response = service.call("POST", "/v1/jobs/" + failed.job + "/retry", Json::object());
    ASSERT_EQ(response.status, 201) << response.body;
    const Json again = Json::parse(response.body);
    EXPECT_TRUE(check_document("Job", again).empty());
    EXPECT_NE(again["id"], failed.job);
    EXPECT_EQ(
        again["origin"],
        (Json{{"action", "retry"}, {"job_id", failed.job}, {"continues_from", failed.newest}}));
    EXPECT_EQ(again["labels"], (Json{{"team", "a"}}));
    EXPECT_EQ(again["spec"]["train"],
              service.expect(200, "GET", "/v1/jobs/" + failed.job)["spec"]["train"]);
    EXPECT_EQ(state(failed.job), "failed") << "its history stays";
    service.run(again.value("id", ""));
    const auto live = store::list_live_attempts(service.store, "here");
    ASSERT_EQ(live.size(), 1U);
    EXPECT_EQ(live[0].resume_checkpoint_id, failed.newest);
    EXPECT_EQ(live[0].resume_job_id, failed.job);
    // What it continues from is kept as long as it may be needed.
    EXPECT_EQ(service.expect(409, "DELETE", "/v1/jobs/" + failed.job)["code"], "conflict");
    EXPECT_EQ(service.expect(409, "DELETE", "/v1/checkpoints/" + failed.newest)["code"],
              "conflict");
}

TEST_F(JobActions, a_retry_goes_on_from_its_own_checkpoint_once_it_has_one) {
    const Ended failed = ended(JobState::failed);
    const std::string again = act(201, failed.job, "retry").value("id", "");
    next_frame = 3;
    const std::string own = save(service.run(again), 12);
    const auto live = store::list_live_attempts(service.store, "here");
    EXPECT_EQ(live.at(0).resume_checkpoint_id, own);
    EXPECT_EQ(live.at(0).resume_job_id, again);
}

TEST_F(JobActions, a_job_without_a_checkpoint_is_retried_from_its_beginning) {
    const std::string id = service.submit({{"limits", {{"valid_until", "2020-01-01T00:00:00Z"}}}});
    store::expire_queued_jobs(service.store);
    ASSERT_EQ(state(id), "expired");
    const Json again = act(201, id, "retry");
    EXPECT_EQ(again["origin"]["continues_from"], nullptr);
    EXPECT_FALSE(again["spec"]["limits"].contains("valid_until")) << "it would expire again";
}

TEST_F(JobActions, only_what_has_ended_without_success_is_retried) {
    const std::string id = service.submit();
    EXPECT_EQ(act(409, id, "retry")["code"], "conflict");
    const Json problem = act(409, ended(JobState::succeeded).job, "retry");
    EXPECT_NE(problem.value("detail", "").find("fork"), std::string::npos);
}

TEST_F(JobActions, a_repeated_key_makes_one_retry) {
    const std::string id = ended(JobState::failed).job;
    const auto again = [&] {
        return service.expect(201, "POST", "/v1/jobs/" + id + "/retry", Json::object(),
                              {{"Idempotency-Key", "once"}})["id"];
    };
    const Json first = again();
    EXPECT_EQ(again(), first);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 2U);
}

TEST_F(JobActions, a_fork_changes_what_it_is_told_and_continues) {
    const Ended done = ended(JobState::succeeded);
    const Json fork =
        act(201, done.job, "fork", {{"changes", {{"name", "longer"}, {"train", {{"epochs", 9}}}}}});
    EXPECT_EQ(fork["name"], "longer");
    EXPECT_EQ(fork["spec"]["train"]["epochs"], 9);
    EXPECT_EQ(fork["origin"]["action"], "fork");
    EXPECT_EQ(fork["origin"]["continues_from"], done.newest);
    const Json best = act(201, done.job, "fork", {{"checkpoint", "best"}});
    EXPECT_EQ(best["origin"]["continues_from"], done.best);
    const Json named = act(201, done.job, "fork", {{"checkpoint", done.best}});
    EXPECT_EQ(named["origin"]["continues_from"], done.best);
}

// Goal: a name that an earlier build has accepted is no obstacle; a new one is judged.
TEST_F(JobActions, a_fork_of_a_job_with_an_odd_name_is_made) {
    const Ended done = ended(JobState::failed);
    service.database.sql(
        "update job set name = U&'a\\202egpj.b', "
        "spec = jsonb_set(spec, '{name}', to_jsonb(U&'a\\202egpj.b'::text)) "
        "where id = '" +
        done.job + "'");
    EXPECT_EQ(act(201, done.job, "fork", {{"start", "scratch"}})["name"], "a\u202egpj.b");
    EXPECT_EQ(act(201, done.job, "retry")["name"], "a\u202egpj.b");
    EXPECT_EQ(refused(done.job, {{"changes", {{"name", "\u202e"}}}}, "/changes/name")["code"],
              "bad_format");
}

TEST_F(JobActions, a_fork_may_take_the_weights_alone_or_nothing) {
    const Ended done = ended(JobState::succeeded);
    const Json changes{{"train", {{"batch_size_per_core", 4}}}};
    const Json weights = act(201, done.job, "fork", {{"changes", changes}, {"start", "weights"}});
    EXPECT_EQ(weights["origin"]["continues_from"], nullptr);
    EXPECT_EQ(weights["spec"]["model"]["init"]["from"], done.newest);
    const Json scratch = act(201, done.job, "fork", {{"changes", changes}, {"start", "scratch"}});
    EXPECT_FALSE(scratch["spec"]["model"].contains("init"));
    EXPECT_EQ(scratch["spec"]["train"]["batch_size_per_core"], 4);
}

TEST_F(JobActions, what_does_not_fit_the_saved_state_is_refused_by_name) {
    const Ended done = ended(JobState::succeeded);
    const std::string batch =
        refused(done.job, {{"changes", {{"train", {{"batch_size_per_core", 4}}}}}},
                "/changes/train/batch_size_per_core")
            .value("message", "");
    EXPECT_NE(batch.find("train.batch_size_per_core"), std::string::npos) << batch;
    EXPECT_NE(batch.find("start"), std::string::npos) << batch;
    refused(done.job, {{"changes", {{"model", {{"width", 4}}}}}}, "/changes/model/width");
    refused(done.job, {{"changes", {{"accelerator", {{"cores", 8}}}}}},
            "/changes/accelerator/cores");
    service.ready_dataset("others");
    refused(done.job, {{"changes", {{"data", {{"dataset", "others"}}}}}}, "/changes/data/dataset");
    refused(done.job, {{"changes", {{"train", {{"epochs", 0}}}}}}, "/changes/train/epochs");
    const std::string nothing_left =
        refused(done.job, {{"changes", {{"train", {{"epochs", 1}}}}}}, "/changes/train/epochs")
            .value("message", "");
    EXPECT_NE(nothing_left.find("more than 1"), std::string::npos) << nothing_left;
    refused(done.job, {{"checkpoint", new_id("ckp")}}, "/checkpoint");
    refused(done.job, {{"start", "scratch"}, {"checkpoint", "best"}}, "/checkpoint");
    refused(done.job, {{"start", "afresh"}}, "/start");
    const std::string fresh = service.submit();
    EXPECT_NE(refused(fresh, Json::object(), "/start").value("message", "").find("scratch"),
              std::string::npos);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 2U) << "nothing was stored";
}

TEST_F(JobActions, what_a_change_leaves_without_meaning_goes) {
    const Ended done = ended(JobState::succeeded);
    const Json fork =
        act(201, done.job, "fork",
            {{"start", "scratch"},
             {"changes",
              {{"train", {{"steps", 7}, {"optimizer", {{"name", "sgd"}, {"momentum", 0.9}}}}}}}});
    EXPECT_EQ(fork["spec"]["train"]["steps"], 7);
    EXPECT_FALSE(fork["spec"]["train"].contains("epochs"));
    EXPECT_FALSE(fork["spec"]["train"]["optimizer"].contains("betas"));
    refused(done.job,
            {{"start", "scratch"},
             {"changes", {{"train", {{"optimizer", {{"name", "sgd"}, {"betas", {0.9, 0.99}}}}}}}}},
            "/changes/train/optimizer/betas");
}

TEST_F(JobActions, a_dry_run_of_a_fork_stores_nothing) {
    const Ended done = ended(JobState::succeeded);
    const Json preview = service.expect(200, "POST", "/v1/jobs/" + done.job + "/fork?dry_run=true",
                                        {{"changes", {{"train", {{"epochs", 9}}}}}});
    EXPECT_EQ(preview["spec"]["train"]["epochs"], 9);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 1U);
}

TEST_F(JobActions, nobody_forks_into_a_project_of_others) {
    const Ended done = ended(JobState::succeeded);
    const std::string bound = service.token(Role::editor, {"default"});
    const auto response = service.call_as(bound, "POST", "/v1/jobs/" + done.job + "/fork",
                                          {{"changes", {{"project", "theirs"}}}});
    EXPECT_EQ(response.status, 403) << response.body;
}

// Goal: the trials of a sweep are found, cancelled and deleted by its id in one request each.
TEST_F(JobActions, jobs_are_listed_and_ended_by_their_parent) {
    const std::string parent = new_id("swp");
    const std::vector<std::string> trials{service.submit(), service.submit()};
    service.submit();
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + trials[0])["parent"], nullptr);
    service.database.sql("update job set parent_id = '" + parent +
                         "', parent_key = '7' where id in ('" + trials[0] + "', '" + trials[1] +
                         "')");
    const Json expected{{"id", parent}, {"key", "7"}};
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + trials[0])["parent"], expected);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs?parent=" + parent)["items"].size(), 2U);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs?parent=" + new_id("cv"))["items"].size(), 0U);
    EXPECT_EQ(bulk("cancel", {{"parent", parent}})["changed"], 2);
    EXPECT_EQ(bulk("delete", {{"parent", parent}, {"ids", {trials[0]}}})["changed"], 1);
    EXPECT_EQ(bulk("delete", {{"parent", parent}})["changed"], 1);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 1U);
    const Json refused = service.expect(
        422, "POST", "/v1/jobs/bulk", {{"action", "cancel"}, {"filter", {{"parent", trials[0]}}}});
    EXPECT_EQ(refused["errors"][0]["pointer"], "/filter/parent");
}

TEST_F(JobActions, a_bulk_action_reports_each_job) {
    const std::string queued = service.submit({{"labels", {{"run", "x"}}}});
    const std::string running = service.submit({{"labels", {{"run", "x"}}}});
    const std::string other = service.submit();
    service.run(running);
    const Json preview = bulk("cancel", {{"labels", {{"run", "x"}}}}, true);
    EXPECT_EQ(preview["changed"], 2);
    EXPECT_EQ(preview["dry_run"], true);
    EXPECT_EQ(state(queued), "queued") << "a dry run changes nothing";
    const Json done = bulk("cancel", {{"labels", {{"run", "x"}}}});
    EXPECT_EQ(done["changed"], 2);
    EXPECT_EQ(done["more"], false);
    ASSERT_EQ(done["items"].size(), 2U);
    EXPECT_EQ(done["items"][0]["job_id"], running) << "newest first";
    EXPECT_EQ(done["items"][0]["state"], "cancelling");
    EXPECT_EQ(done["items"][1]["state"], "cancelled");
    EXPECT_EQ(bulk("cancel", {{"labels", {{"run", "x"}}}})["unchanged"], 2) << "repeated";
    EXPECT_EQ(state(other), "queued");
}

TEST_F(JobActions, a_job_that_refuses_keeps_no_other_from_it) {
    const std::string done = ended(JobState::succeeded).job;
    const std::string queued = service.submit();
    const std::string unknown = new_id("job");
    const Json answer = bulk("pause", {{"ids", {done, queued, unknown}}});
    EXPECT_EQ(answer["changed"], 1);
    EXPECT_EQ(answer["refused"], 2);
    EXPECT_NE(answer["items"][0].value("message", "").find("succeeded"), std::string::npos);
    EXPECT_EQ(answer["items"][2]["name"], nullptr);
    EXPECT_EQ(bulk("resume", {{"state", {"paused"}}})["changed"], 1);
    EXPECT_EQ(bulk("delete", {{"project", "default"}}, true)["changed"], 1);
    const Json removed = bulk("delete", {{"project", "default"}});
    EXPECT_EQ(removed["changed"], 1);
    EXPECT_EQ(removed["refused"], 1);
    service.expect(404, "GET", "/v1/jobs/" + done);
    const Json again = bulk("delete", {{"ids", {done}}});
    EXPECT_EQ(again["unchanged"], 1) << "it may be sent again";
    EXPECT_EQ(again["refused"], 0);
}

TEST_F(JobActions, a_bulk_action_needs_a_filter_and_stays_within_what_the_caller_sees) {
    const auto refused = [&](const Json& body) {
        return service.expect(422, "POST", "/v1/jobs/bulk", body)["errors"][0].value("pointer", "");
    };
    EXPECT_EQ(refused({{"action", "kill"}, {"filter", Json::object()}}), "/filter");
    EXPECT_EQ(refused({{"filter", {{"project", "default"}}}}), "/action");
    EXPECT_EQ(refused({{"action", "kill"}, {"filter", {{"state", {"gone"}}}}}), "/filter/state/0");
    EXPECT_EQ(refused({{"action", "kill"}, {"filter", {{"ids", {"job_1"}}}}}), "/filter/ids/0");
    const std::string id = service.submit();
    const std::string stranger = service.token(Role::editor, {"theirs"});
    const auto as_stranger = [&](const Json& filter) {
        return service.call_as(stranger, "POST", "/v1/jobs/bulk",
                               {{"action", "kill"}, {"filter", filter}});
    };
    EXPECT_EQ(as_stranger({{"project", "default"}}).status, 404);
    EXPECT_EQ(Json::parse(as_stranger({{"name", "a"}}).body)["items"].size(), 0U);
    EXPECT_EQ(Json::parse(as_stranger({{"ids", {id}}}).body)["changed"], 0);
    EXPECT_EQ(state(id), "queued");
}

TEST_F(JobActions, more_than_a_thousand_jobs_take_several_requests) {
    service.services.limits.queued_jobs = 0;
    std::vector<store::NewJob> jobs(1001);
    const std::string like = service.submit();
    const auto stored = store::find_job(service.store, like);
    for (store::NewJob& job : jobs)
        job = {.id = new_id("job"),
               .name = "many",
               .spec = stored->spec,
               .dataset_id = stored->dataset_id,
               .created_by = stored->created_by};
    store::submit_jobs(service.store, jobs, {}, [](auto) { return store::StoredResponse{}; });
    const Json filter{{"state", {"queued"}}, {"name", "many"}};
    const Json first = bulk("pause", filter);
    EXPECT_EQ(first["changed"], 1000);
    EXPECT_EQ(first["more"], true);
    const Json second = bulk("pause", filter);
    EXPECT_EQ(second["changed"], 1);
    EXPECT_EQ(second["more"], false);
}

TEST_F(JobActions, a_checkpoint_is_pinned_and_deleted) {
    const Ended done = ended(JobState::succeeded);
    const std::string path = "/v1/checkpoints/" + done.newest;
    EXPECT_EQ(service.expect(200, "POST", path + "/pin")["pinned"], true);
    EXPECT_EQ(service.expect(200, "POST", path + "/pin")["pinned"], true);
    EXPECT_EQ(service.expect(409, "DELETE", path)["code"], "conflict");
    EXPECT_EQ(service.expect(200, "POST", path + "/unpin")["pinned"], false);
    service.expect(204, "DELETE", path);
    EXPECT_NE(service.expect(200, "GET", path)["deleted_at"], nullptr);
    EXPECT_EQ(service.expect(409, "POST", path + "/pin")["code"], "conflict");
    service.expect(404, "DELETE", "/v1/checkpoints/" + new_id("ckp"));
}

}    // namespace
}    // namespace slipway
