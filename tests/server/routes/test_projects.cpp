#include <gtest/gtest.h>

#include "api/spec/documents.h"
#include "scheduler/store/projects.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Projects : testing::Test {
    TestService service;

    int status_as(const std::string& token, const std::string& method, const std::string& target,
                  const Json& body = nullptr) {
        return service.call_as(token, method, target, body).status;
    }
};

TEST_F(Projects, a_project_is_made_weighed_and_limited) {
    const auto response = service.call("POST", "/v1/projects", {{"name", "vision"}, {"weight", 2}});
    ASSERT_EQ(response.status, 201) << response.body;
    EXPECT_EQ(response.header("Location"), "/v1/projects/vision");
    const Json made = Json::parse(response.body);
    EXPECT_TRUE(check_document("Project", made).empty()) << made;
    EXPECT_EQ(made["weight"], 2.0);
    EXPECT_EQ(made["quota"], (Json{{"cores", nullptr}, {"class_max", nullptr}}));
    EXPECT_EQ(service.expect(200, "PATCH", "/v1/projects/vision", {{"weight", 0.5}})["weight"],
              0.5);
    const Json quota{{"cores", 4}, {"class_max", "normal"}};
    EXPECT_EQ(service.expect(200, "PUT", "/v1/projects/vision/quota", quota), quota);
    EXPECT_EQ(service.expect(200, "GET", "/v1/projects/vision/quota"), quota);
    EXPECT_EQ(service.expect(200, "GET", "/v1/projects/vision")["quota"], quota);
    service.expect(200, "PUT", "/v1/projects/vision/quota", Json::object());
    EXPECT_EQ(service.expect(200, "GET", "/v1/projects/vision/quota")["cores"], nullptr);
    const Json list = service.expect(200, "GET", "/v1/projects");
    EXPECT_TRUE(check_document("ProjectList", list).empty());
    EXPECT_EQ(list["items"].size(), 1U);
}

TEST_F(Projects, a_dataset_brings_its_project_into_being) {
    service.expect(
        201, "POST", "/v1/datasets",
        {{"name", "d"}, {"project", "new"}, {"format", "csv"}, {"source", {{"path", "points"}}}});
    EXPECT_EQ(service.expect(200, "GET", "/v1/projects/new")["weight"], 1.0);
}

TEST_F(Projects, what_is_wrong_is_named) {
    const auto refused = [&](const std::string& method, const std::string& target,
                             const Json& body) {
        return service.expect(422, method, target, body)["errors"][0].value("pointer", "");
    };
    service.expect(201, "POST", "/v1/projects", {{"name", "p"}});
    EXPECT_EQ(service.expect(409, "POST", "/v1/projects", {{"name", "p"}})["code"], "conflict");
    EXPECT_EQ(refused("POST", "/v1/projects", {{"name", "a/b"}}), "/name");
    EXPECT_EQ(refused("POST", "/v1/projects", {{"name", "q"}, {"weight", 0}}), "/weight");
    EXPECT_EQ(refused("PATCH", "/v1/projects/p", {{"weight", 1001}}), "/weight");
    EXPECT_EQ(refused("PUT", "/v1/projects/p/quota", {{"cores", -1}}), "/cores");
    service.expect(404, "GET", "/v1/projects/nothing");
    service.expect(404, "PUT", "/v1/projects/nothing/quota", Json::object());
}

TEST_F(Projects, no_job_is_of_a_more_urgent_class_than_the_quota_says) {
    service.ready_dataset("points");
    const std::string early = service.submit({{"queue", {{"class", "urgent"}}}});
    service.expect(200, "PUT", "/v1/projects/default/quota", {{"class_max", "normal"}});
    Json spec = TestService::spec();
    spec["queue"] = {{"class", "high"}};
    for (const char* target : {"/v1/jobs", "/v1/jobs?dry_run=true"}) {
        const Json refused = service.expect(422, "POST", target, spec);
        EXPECT_TRUE(check_document("Problem", refused).empty()) << refused;
        EXPECT_EQ(refused["errors"][0]["pointer"], "/queue/class");
        EXPECT_EQ(refused["errors"][0]["allowed"], (Json{"normal", "low", "idle"}));
        EXPECT_EQ(refused["detail"],
                  "jobs of project default may be of class normal at most, not high");
    }
    const std::string job = service.submit({{"queue", {{"class", "normal"}}}});
    const Json patched =
        service.expect(422, "PATCH", "/v1/jobs/" + job, {{"queue", {{"class", "urgent"}}}});
    EXPECT_EQ(patched["errors"][0]["pointer"], "/queue/class");
    service.expect(200, "PATCH", "/v1/jobs/" + job, {{"queue", {{"class", "idle"}}}});
    service.expect(200, "PATCH", "/v1/jobs/" + early, {{"name", "renamed"}});
    EXPECT_EQ(service.expect(200, "GET", "/v1/queue")["items"][0]["class"], "urgent")
        << "what is in the queue stays";
    EXPECT_EQ(service.expect(422, "PUT", "/v1/projects/default/quota",
                             {{"class_max", "highest"}})["errors"][0]["pointer"],
              "/class_max");
    service.expect(200, "PUT", "/v1/projects/default/quota", Json::object());
    service.expect(201, "POST", "/v1/jobs", spec);
}

// Goal: a refused class points to the member of the body that asks for it, wherever the body has
// its job.
TEST_F(Projects, a_refused_class_is_pointed_to) {
    service.ready_dataset("points");
    const std::string origin = service.submit();
    service.expect(200, "PUT", "/v1/projects/default/quota", {{"class_max", "normal"}});
    Json job = TestService::spec();
    job["queue"] = {{"class", "urgent"}};
    job.erase("name");
    Json fold_job = job;
    fold_job["data"].erase("split");
    const Json split{{"method", "kfold"}, {"folds", 2}};
    const Json sweep{{"space", {{"train.optimizer.lr", {{"type", "choice"}, {"values", {0.1}}}}}},
                     {"algorithm", {{"name", "grid"}}}};
    Json of_jobs = sweep, of_folds = sweep;
    of_jobs["job"] = job;
    of_folds["objective"] = {{"metric", "cv.val_loss.mean"}};
    of_folds["cross_validation"] = {{"split", split}, {"job", fold_job}};
    struct Case {
        std::string target;
        Json body;
        std::string pointer;
    };
    const std::vector<Case> cases{
        {"/v1/cross-validations", {{"split", split}, {"job", fold_job}}, "/job/queue/class"},
        {"/v1/sweeps", of_jobs, "/job/queue/class"},
        {"/v1/sweeps", of_folds, "/cross_validation/job/queue/class"},
        {"/v1/jobs/" + origin + "/fork",
         {{"start", "scratch"}, {"changes", {{"queue", job["queue"]}}}},
         "/changes/queue/class"}};
    for (const Case& one : cases)
        for (const char* query : {"", "?dry_run=true"}) {
            const Json refused = service.expect(422, "POST", one.target + query, one.body);
            ASSERT_EQ(refused["errors"].size(), 1U) << refused;
            EXPECT_EQ(refused["errors"][0]["pointer"], one.pointer) << one.target;
            EXPECT_EQ(refused["errors"][0]["allowed"], (Json{"normal", "low", "idle"}));
        }
    service.expect(200, "PUT", "/v1/projects/default/quota", Json::object());
    for (const Case& one : cases)
        service.expect(201, "POST", one.target, one.body);
}

TEST_F(Projects, a_group_has_a_limit_that_can_be_changed) {
    service.ready_dataset("points");
    service.submit({{"queue", {{"group", "sweep"}, {"group_limit", 4}}}});
    const Json groups = service.expect(200, "GET", "/v1/projects/default/groups");
    EXPECT_TRUE(check_document("GroupList", groups).empty()) << groups;
    ASSERT_EQ(groups["items"].size(), 1U);
    EXPECT_EQ(groups["items"][0]["limit"], 4);
    EXPECT_EQ(groups["items"][0]["ready"], 1);
    const Json changed =
        service.expect(200, "PUT", "/v1/projects/default/groups/sweep", {{"limit", 2}});
    EXPECT_TRUE(check_document("Group", changed).empty()) << changed;
    EXPECT_EQ(changed["limit"], 2);
    EXPECT_EQ(changed["running"], 0);
    service.expect(422, "PUT", "/v1/projects/default/groups/sweep", {{"limit", 0}});
    service.expect(422, "PUT", "/v1/projects/default/groups/sweep", Json::object());
    service.expect(422, "PUT", "/v1/projects/default/groups/a%20b", {{"limit", 1}});
    service.expect(404, "GET", "/v1/projects/nothing/groups");
    service.expect(404, "PUT", "/v1/projects/nothing/groups/sweep", {{"limit", 1}});
    const std::string bound = service.token(Role::editor, {"vision"});
    EXPECT_EQ(status_as(bound, "PUT", "/v1/projects/default/groups/sweep", {{"limit", 9}}), 404);
    EXPECT_EQ(status_as(service.token(Role::viewer), "PUT", "/v1/projects/default/groups/sweep",
                        {{"limit", 9}}),
              403);
    Json spec = TestService::spec();
    spec["queue"] = {{"group_limit", 4}};
    const Json refused = service.expect(422, "POST", "/v1/jobs", spec);
    EXPECT_EQ(refused["errors"][0]["pointer"], "/queue/group_limit");
    spec["queue"] = {{"group", "a b"}};
    EXPECT_EQ(service.expect(422, "POST", "/v1/jobs", spec)["errors"][0]["pointer"],
              "/queue/group");
}

TEST_F(Projects, nobody_sets_the_weight_of_their_own_project) {
    service.expect(201, "POST", "/v1/projects", {{"name", "mine"}});
    service.expect(201, "POST", "/v1/projects", {{"name", "theirs"}});
    const std::string bound = service.token(Role::admin, {"mine"});
    EXPECT_EQ(status_as(bound, "PATCH", "/v1/projects/mine", {{"weight", 9}}), 403);
    EXPECT_EQ(status_as(bound, "PUT", "/v1/projects/mine/quota", {{"cores", 9}}), 403);
    EXPECT_EQ(status_as(bound, "POST", "/v1/projects", {{"name", "more"}}), 403);
    EXPECT_EQ(status_as(bound, "GET", "/v1/projects/mine"), 200);
    EXPECT_EQ(status_as(bound, "GET", "/v1/projects/theirs"), 404);
    const auto listed = service.call_as(bound, "GET", "/v1/projects");
    EXPECT_EQ(Json::parse(listed.body)["items"].size(), 1U);
    EXPECT_EQ(status_as(service.token(Role::editor), "PATCH", "/v1/projects/mine", {{"weight", 9}}),
              403);
}

}    // namespace
}    // namespace slipway
