// Goal: a prediction is a job like any other, made of a checkpoint and a dataset; what cannot be
// predicted is refused with the way out; the result is served when there is one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/datasets.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Predictions : testing::Test {
    TestService service;
    std::string trained;

    Predictions() {
        service.ready_dataset("points");
        trained = service.submit();
    }

    /// The job saves twice, the older one being the best, and ends; their ids.
    std::vector<std::string> train() {
        const store::AttemptKey key = service.run(trained);
        std::vector<std::string> ids;
        std::vector<store::RelayedFrame> frames;
        for (const int step : {10, 20}) {
            ids.push_back(new_id("ckp"));
            frames.push_back(
                {.number = 100 + step,
                 .checkpoint = store::RelayedCheckpoint{
                     .id = ids.back(),
                     .name = "step_" + std::to_string(step),
                     .step = step,
                     .kinds = {step == 10 ? "best" : "last"},
                     .files = R"([{"name": "model.safetensors", "bytes": 1, "sha256": "00"}])",
                     .bytes = 1}});
        }
        service.relay(key, frames);
        service.finish(key);
        return ids;
    }
    /// A dataset whose check has said this.
    void dataset(const std::string& name, const std::string& report) {
        store::create_dataset(service.store, {.id = new_id("ds"),
                                              .project = "default",
                                              .name = name,
                                              .format = "csv",
                                              .source = R"({"path":"points"})",
                                              .options = "{}",
                                              .created_by = {}});
        const auto check =
            store::claim_dataset_check(service.store, "here", std::chrono::seconds{60});
        ASSERT_TRUE(check);
        store::finish_dataset_check(
            service.store, check->dataset.id, check->fence,
            {.ready = true, .report = report, .problems = {}, .content_hash = "abc", .bytes = 12});
    }
    Json body(const std::string& checkpoint = "best") const {
        return {{"from", {{"job", trained}, {"checkpoint", checkpoint}}},
                {"data", {{"dataset", "points"}}}};
    }
    /// The problem at this pointer of a body that must be refused.
    Json refused(const Json& changes, const std::string& pointer) {
        Json wanted = body();
        wanted.merge_patch(changes);
        const Json problem = service.expect(422, "POST", "/v1/predictions", wanted);
        for (const Json& one : problem.value("errors", Json::array()))
            if (one.value("pointer", "") == pointer) return one;
        ADD_FAILURE() << pointer << " is not in " << problem.dump(2);
        return Json::object();
    }
    static void expect_says(const Json& problem, const std::string& words) {
        EXPECT_NE(problem.value("message", "").find(words), std::string::npos) << problem.dump();
    }
};

TEST_F(Predictions, of_a_class_that_the_quota_forbids_are_refused) {
    train();
    service.expect(200, "PUT", "/v1/projects/default/quota", {{"class_max", "normal"}});
    expect_says(refused({{"queue", {{"class", "urgent"}}}}, "/queue/class"),
                "class normal at most");
}

TEST_F(Predictions, are_jobs_of_their_own_kind) {
    const std::vector<std::string> ids = train();
    const auto response = service.call("POST", "/v1/predictions", body());
    ASSERT_EQ(response.status, 201) << response.body;
    const Json job = Json::parse(response.body);
    const auto id = job["id"].get<std::string>();
    EXPECT_EQ(response.header("Location"), "/v1/predictions/" + id);
    EXPECT_TRUE(check_document("Job", job).empty());
    EXPECT_EQ(job["kind"], "predict");
    EXPECT_EQ(job["state"], "queued");
    EXPECT_EQ(job["prediction"]["from"], Json({{"job", trained}, {"checkpoint", ids[0]}}));
    EXPECT_EQ(job["prediction"]["precision"], "f32");
    EXPECT_EQ(job["spec"]["model"]["arch"], "mlp");
    EXPECT_EQ(job["effective"]["global_batch"], 32);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + id)["kind"], "predict");
    EXPECT_EQ(service.expect(200, "GET", "/v1/predictions/" + id)["queue"]["position"], 1);
    const auto listed = [&](const std::string& path) {
        std::vector<std::string> found;
        const Json list = service.expect(200, "GET", path);
        for (const Json& one : list["items"])
            found.push_back(one["id"].get<std::string>());
        return found;
    };
    EXPECT_EQ(listed("/v1/predictions"), std::vector{id});
    EXPECT_EQ(listed("/v1/jobs?kind=predict"), std::vector{id});
    EXPECT_EQ(listed("/v1/jobs?kind=train&order_by=name"), std::vector{trained});
    EXPECT_EQ(listed("/v1/jobs"), (std::vector{id, trained}));
    service.expect(404, "GET", "/v1/predictions/" + trained);
    const std::string curl = service.call("GET", "/v1/jobs/" + id + "/spec?as=curl").body;
    EXPECT_NE(curl.find("/v1/predictions"), std::string::npos) << curl;
    service.expect(200, "POST", "/v1/jobs/" + id + "/cancel", Json::object());
}

// As do jobs that begin with its weights.
TEST_F(Predictions, keep_the_checkpoint_until_they_have_ended) {
    const std::vector<std::string> ids = train();
    Json tuned = TestService::spec();
    tuned["model"]["init"] = {{"from", ids[0]}};
    for (const auto& [path, wanted] :
         {std::pair<std::string, Json>("/v1/predictions", body()), {"/v1/jobs", tuned}}) {
        const std::string user = service.expect(201, "POST", path, wanted).value("id", "");
        const Json problem = service.expect(409, "DELETE", "/v1/jobs/" + trained);
        EXPECT_NE(problem.value("detail", "").find(user), std::string::npos) << problem;
        service.expect(200, "POST", "/v1/jobs/" + user + "/cancel", Json::object());
    }
    EXPECT_EQ(service.call("DELETE", "/v1/jobs/" + trained).status, 204);
    refused({{"from", {{"job", nullptr}, {"checkpoint", ids[0]}}}}, "/from/checkpoint");
}

TEST_F(Predictions, take_the_checkpoint_that_is_named) {
    const std::vector<std::string> ids = train();
    const auto chosen = [&](const Json& from) {
        return service.expect(200, "POST", "/v1/predictions?dry_run=true",
                              {{"from", from}, {"data", {{"dataset", "points"}}}});
    };
    EXPECT_EQ(chosen({{"job", trained}})["prediction"]["from"]["checkpoint"], ids[0]);
    EXPECT_EQ(
        chosen({{"job", trained}, {"checkpoint", "last"}})["prediction"]["from"]["checkpoint"],
        ids[1]);
    EXPECT_EQ(
        chosen({{"job", trained}, {"checkpoint", "step_20"}})["prediction"]["from"]["checkpoint"],
        ids[1]);
    const Json preview = chosen({{"checkpoint", ids[0]}});
    EXPECT_EQ(preview["prediction"]["from"]["job"], trained);
    EXPECT_TRUE(check_document("PredictionPreview", preview).empty());
    EXPECT_EQ(service.expect(200, "GET", "/v1/predictions")["items"].size(), 0U);
}

TEST_F(Predictions, of_a_job_that_is_not_done_or_saved_nothing_are_refused) {
    const Json queued = refused(Json::object(), "/from/job");
    EXPECT_EQ(queued["code"], "not_finished");
    expect_says(queued, "is queued");
    service.finish(service.run(trained));
    const Json without = refused(Json::object(), "/from/job");
    EXPECT_EQ(without["code"], "no_checkpoint");
    expect_says(without, trained);
}

TEST_F(Predictions, of_unknown_checkpoints_name_those_there_are) {
    const std::vector<std::string> ids = train();
    const Json name = refused({{"from", {{"checkpoint", "step_30"}}}}, "/from/checkpoint");
    expect_says(name, "last, step_20, step_10");
    refused({{"from", {{"job", new_id("job")}}}}, "/from/job");
    refused({{"from", {{"checkpoint", new_id("ckp")}}}}, "/from/checkpoint");
    const std::string other = service.submit();
    expect_says(refused({{"from", {{"job", other}, {"checkpoint", ids[0]}}}}, "/from/job"),
                "is of job " + trained);
    const auto id = service.expect(201, "POST", "/v1/predictions", body())["id"];
    expect_says(refused({{"from", {{"job", id}}}}, "/from/job"), "is of the kind predict");
}

TEST_F(Predictions, of_data_that_cannot_fit_are_refused) {
    train();
    service.ready_dataset("others");
    expect_says(refused({{"data", {{"dataset", "others"}, {"split", "val"}}}}, "/data/split"),
                "leave data.split out");
    expect_says(refused({{"data", {{"dataset", "pionts"}}}}, "/data/dataset"), "points");
    dataset("parted", R"({"parts": [{"name": "old", "count": 1}, {"name": "new", "count": 2}]})");
    const Json part = refused({{"data", {{"dataset", "parted"}, {"part", "young"}}}}, "/data/part");
    expect_says(part, "it has old, new");
    EXPECT_EQ(part["allowed"], Json({"old", "new"}));
    store::create_dataset(service.store, {.id = new_id("ds"),
                                          .project = "default",
                                          .name = "novel",
                                          .format = "text",
                                          .source = R"({"path":"novel"})",
                                          .options = "{}",
                                          .created_by = {}});
    expect_says(refused({{"data", {{"dataset", "novel"}}}}, "/data/dataset"), "format text");
    const Json both = service.expect(
        422, "POST", "/v1/predictions",
        {{"from", {{"checkpoint", "best"}}}, {"data", {{"dataset", "x"}}}, {"cores", 8}});
    EXPECT_EQ(both["errors"].size(), 3U) << both.dump(2);
}

TEST_F(Predictions, of_more_classes_than_were_trained_name_both_datasets) {
    dataset("two", R"({"classes": [{"name": "no"}, {"name": "yes"}]})");
    dataset("three", R"({"classes": [{"name": "no"}, {"name": "yes"}, {"name": "maybe"}]})");
    trained = service.submit({{"data", {{"dataset", "two"}}}});
    train();
    const Json problem = refused({{"data", {{"dataset", "three"}}}}, "/data/dataset");
    expect_says(problem, "three has 3 classes");
    expect_says(problem, "the 2 of the dataset two");
}

TEST_F(Predictions, give_their_result_when_they_have_succeeded) {
    train();
    const auto id = service.expect(201, "POST", "/v1/predictions", body())["id"].get<std::string>();
    const std::string path = "/v1/predictions/" + id + "/result.csv";
    EXPECT_EQ(service.expect(404, "GET", path)["code"], "no_result");
    const store::AttemptKey key = service.run(id);
    service.folder.write("store/reports/" + id + "/predictions.csv", "sample,label\n0,yes\n");
    expect_says({{"message", service.expect(404, "GET", path)["detail"]}}, "is running");
    service.finish(key);
    const auto response = service.call("GET", path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "sample,label\n0,yes\n");
    EXPECT_EQ(response.header("content-type"), "text/csv; charset=utf-8");
    EXPECT_NE(response.header("content-disposition").find("predict-mlp"), std::string::npos);
    std::filesystem::remove(service.folder.path() / "store/reports" / id / "predictions.csv");
    EXPECT_EQ(service.expect(410, "GET", path)["code"], "gone");
    EXPECT_EQ(service.call_as(service.token(Role::viewer, {"elsewhere"}), "GET", path).status, 404);
}

TEST_F(Predictions, by_a_job_of_another_version_are_refused_with_a_code_of_their_own) {
    train();
    service.database.sql("update job set spec = spec || '{\"colour\": 1}'");
    const Json problem = service.expect(409, "POST", "/v1/predictions", body());
    EXPECT_EQ(problem["code"], "old_job");
    EXPECT_NE(problem.value("detail", "").find("is of another version"), std::string::npos);
}

}    // namespace
}    // namespace slipway
