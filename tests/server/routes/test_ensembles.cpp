// Goal: several checkpoints make one prediction or evaluation; those that are no ensemble are
// refused at the place that names them, and none of them goes while the job needs it.
// Method: jobs of the real routes whose checkpoints a relay has told, and folds of a
// cross-validation as its coordinator would leave them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/cross_validations.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Ensembles : testing::Test {
    TestService service;
    const std::string dataset = service.ready_dataset("points");

    /// A job that has ended with a best checkpoint and a last one.
    struct Trained {
        std::string job, best, last;
    };
    Trained train(const Json& changes = Json::object()) {
        Trained made{.job = service.submit(changes), .best = new_id("ckp"), .last = new_id("ckp")};
        const store::AttemptKey key = service.run(made.job);
        const auto saved = [](int number, const std::string& id, const char* kind) {
            return store::RelayedFrame{
                .number = number,
                .checkpoint = store::RelayedCheckpoint{
                    .id = id,
                    .name = "step_" + std::to_string(number),
                    .step = number,
                    .kinds = {kind},
                    .files = R"([{"name": "model.safetensors", "bytes": 1, "sha256": "00"}])",
                    .bytes = 1}};
        };
        service.relay(key, {saved(110, made.best, "best"), saved(120, made.last, "last")});
        service.finish(key);
        return made;
    }
    Trained train_split(int seed) { return train({{"data", {{"split", {{"seed", seed}}}}}}); }

    static Json body(const Json& from, const char* data = "points") {
        return {{"from", from}, {"data", {{"dataset", data}}}};
    }
    static Json of(const std::vector<std::string>& checkpoints) {
        return {{"checkpoints", checkpoints}};
    }
    /// The first problem, which is at this pointer.
    Json refused(const Json& wanted, const std::string& pointer,
                 const char* path = "/v1/predictions") {
        const Json errors = service.expect(422, "POST", path, wanted)["errors"];
        for (const Json& one : errors)
            if (one.value("pointer", "") == pointer) return one;
        ADD_FAILURE() << pointer << " is not in " << errors.dump(2);
        return Json::object();
    }
    static void expect_says(const Json& problem, const std::string& words) {
        EXPECT_NE(problem.value("message", "").find(words), std::string::npos) << problem.dump();
    }
    /// A cross-validation of three folds, of which the first ones have succeeded with these jobs.
    std::string folds(const std::vector<std::string>& jobs, bool has_ended = true) {
        Json job = TestService::spec();
        job.erase("name");
        job["data"].erase("split");
        const Json request{{"split", {{"method", "kfold"}, {"folds", 3}}}, {"job", job}};
        const std::string id =
            service.expect(201, "POST", "/v1/cross-validations", request).value("id", "");
        store::begin_folds(service.store, id, {.hash = "sha256:" + std::string(64, 'a')}, 1,
                           {.train = {20, 20, 20}, .val = {10, 10, 10}});
        for (std::size_t fold = 0; fold < jobs.size(); ++fold) {
            const store::FoldSettlement settlement{.fold = std::int64_t(fold),
                                                   .from = "waiting",
                                                   .state = "succeeded",
                                                   .job_id = jobs[fold]};
            store::settle_folds(service.store, id, std::span(&settlement, 1));
        }
        if (has_ended)
            store::finish_cross_validation(service.store, id,
                                           store::CrossValidationState::succeeded, std::nullopt);
        return id;
    }
};

TEST_F(Ensembles, of_listed_checkpoints_are_one_job_that_keeps_them_all) {
    const Trained one = train_split(1), two = train_split(2);
    const Json job = service.expect(201, "POST", "/v1/predictions", body(of({one.best, two.last})));
    EXPECT_TRUE(check_document("Job", job).empty());
    EXPECT_EQ(job["prediction"]["from"], of({one.best, two.last}));
    const std::string id = job.value("id", "");
    for (const Trained& used : {one, two})
        expect_says({{"message", service.expect(409, "DELETE", "/v1/jobs/" + used.job)["detail"]}},
                    id);
    EXPECT_EQ(service.call("DELETE", "/v1/checkpoints/" + one.best).status, 409);
    service.expect(200, "POST", "/v1/jobs/" + id + "/cancel", Json::object());
    const Json again = service.expect(201, "POST", "/v1/jobs/" + id + "/retry", Json::object());
    EXPECT_EQ(again["prediction"]["from"], of({one.best, two.last}));
    service.expect(200, "POST", "/v1/jobs/" + again.value("id", "") + "/cancel", Json::object());
    EXPECT_EQ(service.call("DELETE", "/v1/jobs/" + two.job).status, 204);
    EXPECT_EQ(refused(body(of({one.best, two.last})), "/from/checkpoints/1")["code"], "not_found");
}

TEST_F(Ensembles, of_a_cross_validation_are_the_checkpoint_of_each_fold) {
    const std::vector<Trained> trained{train_split(1), train_split(2), train_split(3)};
    const std::string id = folds({trained[0].job, trained[1].job, trained[2].job});
    const auto chosen = [&](const Json& from) {
        const Json preview =
            service.expect(200, "POST", "/v1/predictions?dry_run=true", body(from));
        EXPECT_TRUE(check_document("PredictionPreview", preview).empty());
        return preview["prediction"]["from"];
    };
    EXPECT_EQ(chosen({{"cross_validation", id}}),
              of({trained[0].best, trained[1].best, trained[2].best}));
    EXPECT_EQ(chosen({{"cross_validation", id}, {"checkpoint", "last"}}),
              of({trained[0].last, trained[1].last, trained[2].last}));
}

TEST_F(Ensembles, of_folds_that_have_not_all_succeeded_name_the_fold) {
    const Trained one = train_split(1), two = train_split(2), three = train_split(3);
    const char* pointer = "/from/cross_validation";
    const Json running =
        refused(body({{"cross_validation", folds({one.job, two.job}, false)}}), pointer);
    EXPECT_EQ(running["code"], "not_finished");
    expect_says(running, "is running");
    const Json part = refused(body({{"cross_validation", folds({one.job, two.job})}}), pointer);
    EXPECT_EQ(part["code"], "no_checkpoint");
    expect_says(part, "fold 2");
    const std::string id = folds({one.job, two.job, three.job});
    service.database.sql("update checkpoint set deleted_at = clock_timestamp() where job_id = '" +
                         two.job + "'");
    const Json gone = refused(body({{"cross_validation", id}}), pointer);
    EXPECT_EQ(gone["code"], "no_checkpoint");
    expect_says(gone, "fold 1: job " + two.job);
    EXPECT_EQ(refused(body({{"cross_validation", new_id("cv")}}), pointer)["code"], "not_found");
}

TEST_F(Ensembles, that_name_checkpoints_in_two_ways_or_too_few_are_refused) {
    const Trained one = train_split(1);
    const std::string folds_id = new_id("cv");
    refused(body({{"checkpoints", {one.best, one.last}}, {"job", one.job}}), "/from/job");
    refused(body({{"checkpoints", {one.best, one.last}}, {"cross_validation", folds_id}}),
            "/from/cross_validation");
    refused(body({{"cross_validation", folds_id}, {"job", one.job}}), "/from/job");
    const Json name = refused(body({{"cross_validation", folds_id}, {"checkpoint", "step_3"}}),
                              "/from/checkpoint");
    EXPECT_EQ(name["allowed"], Json({"best", "last"}));
    refused(body(of({one.best})), "/from/checkpoints");
    refused(body(of({one.best, one.best})), "/from/checkpoints/1");
    refused(body(of({one.best, "last"})), "/from/checkpoints/1");
    std::vector<std::string> many;
    for (int i = 0; i < 65; ++i)
        many.push_back(new_id("ckp"));
    refused(body(of(many)), "/from/checkpoints");
}

TEST_F(Ensembles, whose_members_do_not_agree_name_the_first_difference) {
    service.ready_dataset("others");
    const Trained first = train();
    const Trained labels = train({{"task", {{"type", "multilabel"}}}});
    expect_says(refused(body(of({first.best, labels.best})), "/from/checkpoints/1"),
                "another task.type than job " + first.job);
    const Trained scaled = train({{"data", {{"normalize", {{"mean", {1}}, {"std", {2}}}}}}});
    expect_says(refused(body(of({first.best, scaled.best})), "/from/checkpoints/1"),
                "another data.normalize");
    const Trained wider = train({{"model", {{"width", 64}}}});
    service.expect(200, "POST", "/v1/predictions?dry_run=true", body(of({first.best, wider.best})));
}

TEST_F(Ensembles, of_two_projects_and_of_projects_that_are_not_seen_are_refused) {
    const Trained own = train();
    service.expect(201, "POST", "/v1/projects", {{"name", "other"}});
    service.ready_dataset("points", "other");
    const Trained other = train({{"project", "other"}});
    expect_says(refused(body(of({own.best, other.best})), "/from/checkpoints/1"),
                "of the project other");
    const auto response = service.call_as(service.token(Role::editor, {"default"}), "POST",
                                          "/v1/predictions", body(of({own.best, other.best})));
    EXPECT_EQ(response.status, 422) << response.body;
    EXPECT_NE(response.body.find("there is no checkpoint " + other.best), std::string::npos)
        << response.body;
}

TEST_F(Ensembles, are_evaluated_on_samples_that_they_have_alike) {
    const Trained one = train_split(1), two = train_split(2), three = train_split(1);
    const Json from = of({one.best, two.best});
    const Json problem = refused({{"from", from}}, "/data/split", "/v1/evaluations");
    expect_says(problem, "were trained by different ones");
    const Json all = service.expect(201, "POST", "/v1/evaluations",
                                    {{"from", from}, {"data", {{"split", "all"}}}});
    EXPECT_EQ(all["evaluation"]["from"], from);
    const Json same = service.expect(200, "POST", "/v1/evaluations?dry_run=true",
                                     {{"from", of({one.best, three.best})}});
    EXPECT_EQ(same["evaluation"]["data"]["split"], "val");
    refused({{"from", from}, {"data", {{"dataset", "points"}, {"split", "val"}}}}, "/data/split");
}

TEST_F(Ensembles, of_texts_are_refused_with_the_tasks_that_have_a_mean) {
    const Trained one = train(), two = train();
    service.database.sql(
        "update job set spec = spec || '{\"task\": {\"type\": \"causal_lm\"}, "
        "\"model\": {\"arch\": \"gpt_tiny\"}}'");
    const Json problem = refused(body(of({one.best, two.best})), "/from/checkpoints/0");
    EXPECT_EQ(problem["code"], "not_allowed");
    EXPECT_EQ(problem["allowed"], Json({"classification", "multilabel", "regression"}));
}

}    // namespace
}    // namespace slipway
