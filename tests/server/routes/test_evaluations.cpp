// Goal: an evaluation is a job like any other, made of a checkpoint and labelled samples; what
// cannot be measured is refused at the place that says it, with the way out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/datasets.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

constexpr const char* two_classes =
    R"({"classes": [{"name": "no", "count": 1}, {"name": "yes", "count": 1}], "class_count": 2})";

struct Evaluations : testing::Test {
    TestService service;
    std::string trained, checkpoint;

    /// A dataset whose check has said this.
    void dataset(const std::string& name, const std::string& report,
                 const std::string& format = "csv") {
        store::create_dataset(service.store, {.id = new_id("ds"),
                                              .project = "default",
                                              .name = name,
                                              .format = format,
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
    /// A job that has ended with one checkpoint.
    void train(const Json& changes) {
        trained = service.submit(changes);
        checkpoint = new_id("ckp");
        const store::AttemptKey key = service.run(trained);
        service.relay(key, {{.number = 101,
                             .checkpoint = store::RelayedCheckpoint{
                                 .id = checkpoint,
                                 .name = "step_10",
                                 .step = 10,
                                 .kinds = {"best", "last"},
                                 .files = R"([{"name": "model.safetensors", "bytes": 1,
                                               "sha256": "00"}])",
                                 .bytes = 1}}});
        service.finish(key);
    }
    Json body() const { return {{"from", {{"job", trained}}}}; }
    /// The one problem of a body that must be refused, at this pointer.
    std::string refused(const Json& changes, const std::string& pointer) {
        Json wanted = body();
        wanted.merge_patch(changes);
        const Json problem = service.expect(422, "POST", "/v1/evaluations", wanted);
        const Json errors = problem.value("errors", Json::array());
        if (errors.size() == 1 && errors[0].value("pointer", "") == pointer)
            return errors[0].value("message", "");
        ADD_FAILURE() << pointer << " is not the one of " << problem.dump(2);
        return {};
    }
    static void expect_says(const std::string& message, const std::string& words) {
        EXPECT_NE(message.find(words), std::string::npos) << message;
    }
    Json in(const std::string& name) const { return {{"data", {{"dataset", name}}}}; }
};

TEST_F(Evaluations, of_a_class_that_the_quota_forbids_are_refused) {
    dataset("points", two_classes);
    train(Json::object());
    service.expect(200, "PUT", "/v1/projects/default/quota", {{"class_max", "normal"}});
    expect_says(refused({{"queue", {{"class", "urgent"}}}}, "/queue/class"),
                "class normal at most");
}

TEST_F(Evaluations, are_jobs_of_their_own_kind) {
    dataset("points", two_classes);
    train(Json::object());
    const auto response = service.call("POST", "/v1/evaluations", body());
    ASSERT_EQ(response.status, 201) << response.body;
    const Json job = Json::parse(response.body);
    const auto id = job["id"].get<std::string>();
    EXPECT_EQ(response.header("Location"), "/v1/evaluations/" + id);
    EXPECT_TRUE(check_document("Job", job).empty());
    EXPECT_EQ(job["kind"], "evaluate");
    EXPECT_EQ(job["prediction"], nullptr);
    EXPECT_EQ(job["evaluation"]["from"], Json({{"job", trained}, {"checkpoint", checkpoint}}));
    EXPECT_EQ(job["evaluation"]["data"]["split"], "val");
    EXPECT_EQ(job["effective"]["lr"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + id)["kind"], "evaluate");
    EXPECT_EQ(service.expect(200, "GET", "/v1/evaluations/" + id)["queue"]["position"], 1);
    for (const char* path :
         {"/v1/evaluations", "/v1/jobs?kind=evaluate", "/v1/evaluations?state=queued"}) {
        const Json items = service.expect(200, "GET", path)["items"];
        ASSERT_EQ(items.size(), 1U) << path;
        EXPECT_EQ(items[0]["id"], id);
    }
    EXPECT_EQ(service.expect(200, "GET", "/v1/evaluations?state=failed")["items"].size(), 0U);
    service.expect(404, "GET", "/v1/evaluations/" + trained);
    service.expect(404, "GET", "/v1/predictions/" + id);
    const std::string curl = service.call("GET", "/v1/jobs/" + id + "/spec?as=curl").body;
    EXPECT_NE(curl.find("/v1/evaluations"), std::string::npos) << curl;
    EXPECT_NE(service.expect(200, "GET", "/v1/jobs/" + id + "/explain").value("message", ""), "");
    const Json preview = service.expect(200, "POST", "/v1/evaluations?dry_run=true", body());
    EXPECT_TRUE(check_document("EvaluationPreview", preview).empty());
}

TEST_F(Evaluations, are_cancelled_retried_and_neither_forked_nor_paused) {
    dataset("points", two_classes);
    train(Json::object());
    const auto id = service.expect(201, "POST", "/v1/evaluations", body())["id"].get<std::string>();
    service.expect(409, "DELETE", "/v1/jobs/" + trained);
    const Json fork = service.expect(409, "POST", "/v1/jobs/" + id + "/fork", Json::object());
    expect_says(fork.dump(), "only a training job can be forked");
    service.expect(200, "POST", "/v1/jobs/" + id + "/cancel", Json::object());
    const Json again = service.expect(201, "POST", "/v1/jobs/" + id + "/retry", Json::object());
    EXPECT_EQ(again["kind"], "evaluate");
    EXPECT_EQ(again["origin"]["job_id"], id);
    EXPECT_EQ(again["evaluation"]["data"]["split"], "val");
    service.expect(200, "POST", "/v1/jobs/" + again.value("id", "") + "/cancel", Json::object());
    EXPECT_EQ(service.call("DELETE", "/v1/jobs/" + trained).status, 204);
    refused({{"from", {{"job", nullptr}, {"checkpoint", checkpoint}}}}, "/from/checkpoint");
}

TEST_F(Evaluations, of_checkpoints_that_cannot_be_used_are_refused) {
    dataset("points", two_classes);
    trained = service.submit();
    expect_says(refused(Json::object(), "/from/job"), "is queued");
    service.finish(service.run(trained));
    expect_says(refused(Json::object(), "/from/job"),
                "has no checkpoint; name a job that has saved one");
    train(Json::object());
    expect_says(refused({{"from", {{"checkpoint", "step_30"}}}}, "/from/checkpoint"),
                "last, step_10");
    refused({{"from", {{"job", new_id("job")}}}}, "/from/job");
    refused({{"from", {{"job", nullptr}, {"checkpoint", new_id("ckp")}}}}, "/from/checkpoint");
    const Json own = service.expect(201, "POST", "/v1/evaluations", body());
    expect_says(refused({{"from", {{"job", own["id"]}}}}, "/from/job"), "is of the kind evaluate");
}

TEST_F(Evaluations, of_labels_that_the_network_does_not_know_are_refused) {
    dataset("points", two_classes);
    train(Json::object());
    dataset("some", R"({"classes": [{"name": "yes", "count": 1}], "class_count": 1})");
    service.expect(200, "POST", "/v1/evaluations?dry_run=true",
                   {{"from", {{"job", trained}}}, {"data", {{"dataset", "some"}}}});
    dataset("strange", R"({"classes": [{"name": "no"}, {"name": "maybe"}], "class_count": 2})");
    expect_says(refused(in("strange"), "/data/dataset"),
                "classes that the network does not know: maybe; those of the training are no, yes");
    dataset("unlabelled", R"({"classes": [{"name": "images"}], "class_count": 1})");
    expect_says(refused(in("unlabelled"), "/data/dataset"), "has no labels that the network knows");
    dataset("numbers", R"({"classes": [], "class_count": 0, "labels": [{"name": "age"}]})");
    expect_says(refused(in("numbers"), "/data/dataset"), "are numbers (age)");
    dataset("novel", "{}", "text");
    expect_says(refused(in("novel"), "/data/dataset"), "format text");
}

TEST_F(Evaluations, of_numbers_need_the_same_columns) {
    dataset("points", R"({"classes": [], "labels": [{"name": "age"}, {"name": "weight"}]})");
    train({{"task", {{"type", "regression"}}}});
    dataset("same", R"({"classes": [], "labels": [{"name": "age"}, {"name": "weight"}]})");
    service.expect(200, "POST", "/v1/evaluations?dry_run=true",
                   {{"from", {{"job", trained}}}, {"data", {{"dataset", "same"}}}});
    dataset("swapped", R"({"classes": [], "labels": [{"name": "weight"}, {"name": "age"}]})");
    expect_says(refused(in("swapped"), "/data/dataset"), "label_columns");
}

TEST_F(Evaluations, of_samples_that_are_not_there_are_refused) {
    dataset("points", two_classes);
    train({{"data", {{"split", {{"val_fraction", 0}}}}}});
    expect_says(refused(Json::object(), "/data/split"), "has no validation samples");
    service.expect(200, "POST", "/v1/evaluations?dry_run=true",
                   {{"from", {{"job", trained}}}, {"data", {{"split", "train"}}}});
    dataset("others", two_classes);
    expect_says(refused({{"data", {{"dataset", "others"}, {"split", "val"}}}}, "/data/split"),
                "leave data.split out");
    dataset("parted", R"({"parts": [{"name": "old", "count": 1}, {"name": "new", "count": 2}]})");
    expect_says(refused({{"data", {{"dataset", "parted"}, {"part", "young"}}}}, "/data/part"),
                "it has old, new");
    expect_says(refused(in("pionts"), "/data/dataset"), "points");
}

TEST_F(Evaluations, on_cores_that_do_not_divide_the_batch_are_refused) {
    dataset("points", two_classes);
    train({{"train", {{"batch_size_per_core", 5}}}});
    expect_says(refused({{"accelerator", {{"cores", 8}}}}, "/accelerator/cores"),
                "8 cores do not divide its 5 samples");
}

}    // namespace
}    // namespace slipway
