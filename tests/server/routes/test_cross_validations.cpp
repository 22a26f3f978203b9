#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/cross_validations.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

const std::string some_manifest_hash = "sha256:" + std::string(64, 'a');

struct CrossValidations : testing::Test {
    TestService service;
    const std::string dataset = service.ready_dataset("points");
    const std::string target = "/v1/cross-validations";

    static Json body(const Json& changes = Json::object()) {
        Json job = TestService::spec();
        job.erase("name");
        job["data"].erase("split");
        Json request{{"split", {{"method", "kfold"}, {"folds", 3}}}, {"job", std::move(job)}};
        request.merge_patch(changes);
        return request;
    }

    std::string create(const Json& changes = Json::object()) {
        return service.expect(201, "POST", target, body(changes)).value("id", "");
    }

    /// As the coordinator would: folds of 10 samples, of which the first ones have these losses.
    void train(const std::string& id, const std::vector<double>& losses,
               const std::string& hash = some_manifest_hash) {
        store::begin_folds(service.store, id, {.hash = hash}, 1,
                           {.train = {20, 20, 20}, .val = {10, 10, 10}});
        for (std::size_t fold = 0; fold < losses.size(); ++fold) {
            const auto move = [&](const char* from, const char* to,
                                  const store::JsonText& result = {}) {
                const store::FoldSettlement settlement{
                    .fold = std::int64_t(fold), .from = from, .state = to, .result = result};
                store::settle_folds(service.store, id, std::span(&settlement, 1));
            };
            move("waiting", "training");
            move("training", "succeeded", Json{{"step", 4}, {"val_loss", losses[fold]}}.dump());
        }
    }
};

TEST_F(CrossValidations, one_is_created_listed_and_shown) {
    const auto response = service.call("POST", target, body({{"name", "folds"}}));
    ASSERT_EQ(response.status, 201) << response.body;
    const Json made = Json::parse(response.body);
    EXPECT_TRUE(check_document("CrossValidation", made).empty());
    const std::string id = made.value("id", "");
    EXPECT_EQ(response.header("Location"), target + "/" + id);
    EXPECT_EQ(made["state"], "preparing");
    EXPECT_EQ(made["folds"]["total"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", target + "/" + id)["name"], "folds");
    const Json list = service.expect(200, "GET", target + "?state=preparing,running");
    EXPECT_TRUE(check_document("CrossValidationList", list).empty());
    EXPECT_EQ(list["items"].size(), 1U);
    EXPECT_EQ(service.expect(200, "GET", target + "?state=failed")["items"].size(), 0U);
    EXPECT_EQ(service.expect(200, "GET", target + "?limit=1")["next_cursor"], nullptr);
}

TEST_F(CrossValidations, folds_and_their_summary) {
    const std::string id = create();
    train(id, {0.5, 0.7});
    const Json folds = service.expect(200, "GET", target + "/" + id + "/folds");
    EXPECT_TRUE(check_document("CrossValidationFolds", folds).empty());
    ASSERT_EQ(folds["items"].size(), 3U);
    EXPECT_EQ(folds["items"][1]["metrics"], Json({{"val_loss", 0.7}}));
    EXPECT_EQ(folds["items"][2]["metrics"], nullptr);
    const Json summary = service.expect(200, "GET", target + "/" + id + "/summary");
    EXPECT_TRUE(check_document("CrossValidationSummary", summary).empty());
    EXPECT_FALSE(summary["complete"]);
    ASSERT_EQ(summary["metrics"].size(), 1U);
    EXPECT_NEAR(summary["metrics"][0]["mean"].get<double>(), 0.6, 1e-12);
    service.expect(404, "GET", target + "/" + id + "/oof");
}

TEST_F(CrossValidations, two_are_compared_on_one_split_only) {
    const std::string first = create();
    const std::string second = create();
    const std::string other = create({{"split", {{"seed", 1}}}});
    train(first, {0.5, 0.7, 0.6});
    train(second, {0.4, 0.5, 0.5});
    train(other, {0.4}, "sha256:" + std::string(64, 'b'));
    const Json compared =
        service.expect(200, "GET", target + "/" + first + "/compare?with=" + second);
    EXPECT_TRUE(check_document("CrossValidationComparison", compared).empty());
    EXPECT_EQ(compared["folds"], Json({0, 1, 2}));
    EXPECT_EQ(compared["metrics"][0]["second_better"], 3);
    EXPECT_NEAR(compared["metrics"][0]["mean_difference"].get<double>(), -0.4 / 3, 1e-12);
    EXPECT_EQ(service.expect(409, "GET", target + "/" + first + "/compare?with=" + other)["code"],
              "different_splits");
    service.expect(422, "GET", target + "/" + first + "/compare");
    service.expect(404, "GET", target + "/" + first + "/compare?with=" + new_id("cv"));
}

TEST_F(CrossValidations, the_file_of_predictions_is_sent_as_it_is) {
    const std::string id = create();
    train(id, {0.5, 0.7, 0.6});
    store::keep_oof(service.store, id, {.rows = 1, .bytes = 16, .sha256 = "ab"}, "here");
    service.expect(410, "GET", target + "/" + id + "/oof");
    service.folder.write("store/reports/" + id + "/oof.csv", "sample,fold\n0,1\n");
    const auto response = service.call("GET", target + "/" + id + "/oof");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "sample,fold\n0,1\n");
    EXPECT_EQ(response.header("ETag"), "\"ab\"");
}

TEST_F(CrossValidations, cancel_and_delete_by_state) {
    const std::string id = create();
    service.expect(409, "DELETE", target + "/" + id);
    EXPECT_EQ(service.expect(200, "POST", target + "/" + id + "/cancel")["state"], "cancelling");
    EXPECT_EQ(service.expect(200, "POST", target + "/" + id + "/cancel")["state"], "cancelling");
    using enum store::CrossValidationState;
    store::finish_cross_validation(service.store, id, cancelled, std::nullopt);
    EXPECT_EQ(service.expect(200, "POST", target + "/" + id + "/cancel")["state"], "cancelled");
    EXPECT_EQ(service.call("DELETE", target + "/" + id).status, 204);
    service.expect(404, "GET", target + "/" + id);
    const std::string done = create();
    store::finish_cross_validation(service.store, done, succeeded, std::nullopt);
    EXPECT_EQ(service.expect(409, "POST", target + "/" + done + "/cancel")["code"],
              "illegal_transition");
}

TEST_F(CrossValidations, a_dry_run_stores_nothing) {
    const Json preview = service.expect(200, "POST", target + "?dry_run=true", body());
    EXPECT_TRUE(check_document("CrossValidationPreview", preview).empty());
    EXPECT_EQ(preview["folds"], 3);
    EXPECT_EQ(preview["split_id"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", target)["items"].size(), 0U);
    create();
    EXPECT_TRUE(
        service.expect(200, "POST", target + "?dry_run=true", body())["split_id"].is_string());
}

TEST_F(CrossValidations, each_problem_says_where_it_is) {
    const Json problem =
        service.expect(422, "POST", target, body({{"job", {{"data", {{"dataset", "pionts"}}}}}}));
    EXPECT_EQ(problem["errors"][0]["pointer"], "/job/data/dataset");
    service.expect(400, "POST", target);
    EXPECT_EQ(
        service.call_as(service.token(Role::editor, {"other"}), "POST", target, body()).status,
        403);
    const std::string id = create();
    const std::string outsider = service.token(Role::admin, {"other"});
    for (const char* part : {"", "/folds", "/summary", "/oof"})
        EXPECT_EQ(service.call_as(outsider, "GET", target + "/" + id + part).status, 404) << part;
}

}    // namespace
}    // namespace slipway
