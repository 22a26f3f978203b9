#include <gtest/gtest.h>

#include <set>

#include "api/base/sha256.h"
#include "api/spec/documents.h"
#include "scheduler/store/hosts.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Machine : testing::Test {
    TestService service;
    Machine() {
        store::register_host(service.store, {.name = "here", .cores = 8, .physical_cpus = 2});
        store::register_host(service.store, {.name = "there", .cores = 2, .physical_cpus = 1});
    }
};

TEST_F(Machine, hosts_and_cores_are_listed) {
    const Json hosts = service.expect(200, "GET", "/v1/hosts");
    EXPECT_TRUE(check_document("HostList", hosts).empty());
    EXPECT_EQ(hosts["items"].size(), 2U);
    const Json cores = service.expect(200, "GET", "/v1/cores");
    EXPECT_TRUE(check_document("CoreList", cores).empty());
    EXPECT_EQ(cores["items"].size(), 10U);
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores?host=there")["items"].size(), 2U);
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/5")["host"], "here");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/2")["host"], "here");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/2?host=there")["host"], "there");
    for (const char* wrong : {"0", "9", "x", "1x", "-1", "99999999999"})
        service.expect(404, "GET", std::string("/v1/cores/") + wrong);
    service.expect(404, "GET", "/v1/cores/5?host=there");
}

TEST_F(Machine, a_core_is_drained_and_taken_back) {
    for (int i = 0; i < 2; ++i) {
        const Json core = service.expect(200, "POST", "/v1/cores/3/drain");
        EXPECT_TRUE(check_document("Core", core).empty());
        EXPECT_EQ(core["drained"], true);
    }
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/3")["state"], "drained");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/4")["state"], "free");
    service.expect(200, "POST", "/v1/cores/3/undrain");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/3")["state"], "free");
    service.expect(404, "POST", "/v1/cores/9/drain");
}

TEST_F(Machine, a_host_is_removed_when_it_is_drained_and_joins_with_a_token) {
    EXPECT_EQ(service.expect(409, "DELETE", "/v1/hosts/there")["code"], "conflict");
    service.expect(200, "POST", "/v1/hosts/there/drain", Json::object());
    EXPECT_EQ(service.call("DELETE", "/v1/hosts/there").status, 204);
    service.expect(404, "DELETE", "/v1/hosts/there");
    service.expect(404, "GET", "/v1/hosts/there");
    service.expect(404, "POST", "/v1/hosts/there/undrain");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores")["items"].size(), 8U);
    const Json made =
        service.expect(201, "POST", "/v1/hosts/join-tokens", {{"host", "there"}, {"uses", 2}});
    EXPECT_TRUE(check_document("IssuedJoinToken", made).empty()) << made;
    const std::string text = made["token"];
    EXPECT_TRUE(text.starts_with("slj_"));
    EXPECT_EQ(service.database.sql("select count(*) from host_join_token where "
                                   "host_join_token::text like '%" +
                                   text + "%'"),
              "0")
        << "only its hash is stored";
    EXPECT_THROW(store::register_host(service.store, {.name = "there"}), Error);
    store::register_host(service.store, {.name = "there"}, std::chrono::seconds{10},
                         sha256_hex(text));
    EXPECT_EQ(service.expect(200, "GET", "/v1/hosts/there")["drain"], nullptr);
    const Json audit = service.expect(200, "GET", "/v1/audit");
    std::set<std::string> actions;
    for (const Json& one : audit["items"])
        actions.insert(one["action"].get<std::string>());
    for (const char* action : {"delete_host", "create_join_token", "host_joined"})
        EXPECT_TRUE(actions.contains(action)) << action;
}

TEST_F(Machine, only_operators_remove_hosts_and_let_them_join) {
    for (const std::string& token : {service.token(Role::editor), service.token(Role::viewer),
                                     service.token(Role::admin, {"default"})}) {
        EXPECT_EQ(service.call_as(token, "DELETE", "/v1/hosts/there").status, 403);
        EXPECT_EQ(service.call_as(token, "POST", "/v1/hosts/join-tokens", Json::object()).status,
                  403);
    }
    for (const Json& wrong :
         {Json{{"uses", 0}}, Json{{"uses", 101}}, Json{{"expires_in_s", 59}},
          Json{{"expires_in_s", 604801}}, Json{{"host", ""}}, Json{{"token", "slj_mine"}}})
        service.expect(422, "POST", "/v1/hosts/join-tokens", wrong);
    const TestService::Headers key{{"Idempotency-Key", "k"}};
    service.expect(201, "POST", "/v1/hosts/join-tokens", Json::object(), key);
    EXPECT_EQ(service.call("POST", "/v1/hosts/join-tokens", Json::object(), key).body.find("slj_"),
              std::string::npos);
}

TEST_F(Machine, a_host_is_drained_with_a_reason_and_taken_back) {
    const Json drained =
        service.expect(200, "POST", "/v1/hosts/there/drain", {{"reason", "new disk"}});
    EXPECT_TRUE(check_document("Host", drained).empty()) << drained;
    EXPECT_EQ(drained["drain"]["reason"], "new disk");
    EXPECT_EQ(drained["drain"]["by"], service.expect(200, "GET", "/v1/me")["token_id"]);
    EXPECT_EQ(service.expect(200, "GET", "/v1/hosts/there")["drain"], drained["drain"]);
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/1?host=there")["state"], "drained");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/1?host=here")["state"], "free");
    EXPECT_EQ(service.expect(200, "GET", "/v1/queue/stats")["cores"]["drained"], 2);
    EXPECT_EQ(
        service.expect(200, "POST", "/v1/hosts/there/drain", Json::object())["drain"]["reason"],
        nullptr);
    EXPECT_EQ(service.expect(200, "POST", "/v1/hosts/there/undrain")["drain"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores/1?host=there")["state"], "free");
    service.expect(404, "POST", "/v1/hosts/moon/drain", Json::object());
    service.expect(404, "POST", "/v1/hosts/moon/undrain");
    service.expect(404, "GET", "/v1/hosts/moon");
    service.expect(422, "POST", "/v1/hosts/here/drain", {{"reason", std::string(201, 'x')}});
    service.expect(422, "POST", "/v1/hosts/here/drain", {{"why", "x"}});
    const std::string bound = service.token(Role::admin, {"vision"});
    EXPECT_EQ(service.call_as(bound, "POST", "/v1/hosts/here/drain", Json::object()).status, 403);
    const Json noted = service.expect(200, "GET", "/v1/audit?action=drain_host");
    EXPECT_EQ(noted["items"].size(), 2U);
    EXPECT_EQ(noted["items"][0]["object"], "there");
}

TEST_F(Machine, a_busy_core_names_its_job) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    service.run(job, 6);
    const Json core = service.expect(200, "GET", "/v1/cores/6");
    EXPECT_EQ(core["state"], "busy");
    EXPECT_EQ(core["job_id"], job);
    EXPECT_EQ(core["attempt"], 1);
}

TEST_F(Machine, the_queue_is_shown_in_its_order) {
    service.ready_dataset("points");
    const std::string first = service.submit({{"name", "first of all"}});
    const std::string second = service.submit();
    const std::string urgent = service.submit({{"queue", {{"class", "urgent"}}}});
    const Json queue = service.expect(200, "GET", "/v1/queue");
    EXPECT_TRUE(check_document("QueueList", queue).empty());
    ASSERT_EQ(queue["items"].size(), 3U);
    EXPECT_EQ(queue["items"][0]["job_id"], urgent);
    EXPECT_EQ(queue["items"][1]["job_id"], first);
    EXPECT_EQ(queue["items"][1]["name"], "first of all");
    EXPECT_EQ(queue["items"][2]["position"], 3);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + second)["queue"]["position"], 3);
    EXPECT_FALSE(service.expect(200, "GET", "/v1/jobs/" + urgent)["queue"].is_null());
}

}    // namespace
}    // namespace slipway
