// Goal: who has which role in a project is a resource, and what a token may do follows it at once:
// in requests, in streams and in transfers. Method: the real service, tokens of members.
#include "scheduler/store/members.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "tests/server/routes/test_service.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

struct Members : testing::Test {
    TestService service;
    const std::string members = "/v1/projects/ct/members";

    int status(const std::string& token, const std::string& method, const std::string& target,
               const Json& body = nullptr) {
        return service.call_as(token, method, target, body).status;
    }
    Json me(const std::string& token) {
        return Json::parse(service.call_as(token, "GET", "/v1/me").body);
    }
    Json put(const std::string& member, Role role) {
        return service.expect(200, "PUT", members + "/" + member, {{"role", to_string(role)}});
    }
    std::string submit_to(const std::string& project) {
        service.ready_dataset("points", project);
        return service.submit({{"project", project}});
    }
};

TEST_F(Members, are_given_roles_listed_and_removed) {
    service.expect(201, "POST", "/v1/projects", {{"name", "ct"}});
    EXPECT_TRUE(service.expect(200, "GET", members)["items"].empty());
    const Json made = put("ann@example.org", Role::editor);
    EXPECT_TRUE(check_document("Member", made).empty()) << made;
    EXPECT_EQ(made["role"], "editor");
    EXPECT_EQ(put("ann@example.org", Role::editor), made) << "the same again changes nothing";
    EXPECT_EQ(service.expect(200, "GET", members + "/ann%40example.org"), made);
    put("bob", Role::viewer);
    const Json list = service.expect(200, "GET", members + "?limit=1");
    EXPECT_TRUE(check_document("MemberList", list).empty()) << list;
    EXPECT_EQ(list["items"][0], made);
    const std::string rest = list["next_cursor"];
    EXPECT_EQ(service.expect(200, "GET", members + "?cursor=" + rest)["items"][0]["member"], "bob");
    service.expect(204, "DELETE", members + "/bob");
    service.expect(404, "DELETE", members + "/bob");
    service.expect(404, "GET", members + "/bob");

    const Json audit = service.expect(200, "GET", "/v1/audit?object=ct")["items"];
    ASSERT_EQ(audit.size(), 4U) << audit;    // with the project
    EXPECT_EQ(audit[0]["action"], "delete_member");
    EXPECT_EQ(audit[0]["detail"],
              (Json{{"member", "bob"}, {"role", nullptr}, {"role_before", "viewer"}}));
    EXPECT_EQ(audit[2]["detail"]["member"], "ann@example.org");
}

TEST_F(Members, what_is_no_member_or_role_is_refused) {
    service.expect(201, "POST", "/v1/projects", {{"name", "ct"}});
    for (const char* name : {"Ann", "-ann", "ann%20b", "%C3%A4"}) {
        const Json refused = service.expect(422, "PUT", members + "/" + name, {{"role", "viewer"}});
        EXPECT_EQ(refused["code"], "invalid_member") << name;
    }
    service.expect(422, "PUT", members + "/" + std::string(65, 'a'), {{"role", "viewer"}});
    for (const Json& body : {Json{{"role", "owner"}}, Json{{"role", 1}}, Json::object(),
                             Json{{"role", "viewer"}, {"until", "tomorrow"}}}) {
        const Json refused = service.expect(422, "PUT", members + "/ann", body);
        EXPECT_EQ(refused["errors"].size(), 1U) << refused;
    }
    service.expect(404, "PUT", "/v1/projects/nothing/members/ann", {{"role", "viewer"}});
    service.expect(404, "GET", "/v1/projects/nothing/members");
    service.services.limits.members = 1;
    put("ann", Role::viewer);
    service.expect(429, "PUT", members + "/bob", {{"role", "viewer"}});
    EXPECT_EQ(put("ann", Role::editor)["role"], "editor");
}

// Goal: a role counts in its project, and no more than the token's own role.
TEST_F(Members, a_token_may_what_its_member_may_in_each_project) {
    const std::string ann =
        service.member_token("ann", {{"ct", Role::editor}, {"nlp", Role::viewer}});
    const std::string reader = service.member_token("ann", {}, Role::viewer);
    const std::string in_ct = submit_to("ct");
    const std::string in_nlp = submit_to("nlp");
    const std::string elsewhere = submit_to("default");
    for (const std::string& token : {ann, reader}) {
        EXPECT_EQ(status(token, "GET", "/v1/jobs/" + in_ct), 200);
        EXPECT_EQ(status(token, "GET", "/v1/jobs/" + in_nlp), 200);
        EXPECT_EQ(status(token, "GET", "/v1/jobs/" + elsewhere), 404);
    }
    const Json change{{"name", "renamed"}};
    EXPECT_EQ(status(ann, "PATCH", "/v1/jobs/" + in_ct, change), 200);
    EXPECT_EQ(status(ann, "PATCH", "/v1/jobs/" + in_nlp, change), 403);
    EXPECT_EQ(status(ann, "PATCH", "/v1/jobs/" + elsewhere, change), 404);
    EXPECT_EQ(status(reader, "PATCH", "/v1/jobs/" + in_ct, change), 403);
    Json job = TestService::spec();
    for (const auto& [project, expected] :
         std::map<std::string, int>{{"ct", 201}, {"nlp", 403}, {"default", 403}}) {
        job["project"] = project;
        EXPECT_EQ(status(ann, "POST", "/v1/jobs", job), expected) << project;
    }
    const Json by_filter{{"action", "cancel"}, {"filter", {{"state", {"queued"}}}}};
    const auto bulk = service.call_as(ann, "POST", "/v1/jobs/bulk?dry_run=true", by_filter);
    const Json chosen = Json::parse(bulk.body);
    ASSERT_EQ(chosen["items"].size(), 2U) << chosen;
    for (const Json& item : chosen["items"])
        EXPECT_NE(item["job_id"], in_nlp) << "a list to change has only what may be changed";
    EXPECT_EQ(status(ann, "POST", "/v1/jobs/bulk",
                     {{"action", "cancel"}, {"filter", {{"ids", {in_ct, in_nlp}}}}}),
              403);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + in_ct)["state"], "queued");
    EXPECT_EQ(status(ann, "PUT", members + "/bob", {{"role", "viewer"}}), 403);
    EXPECT_EQ(status(ann, "PUT", "/v1/projects/default/members/bob", {{"role", "viewer"}}), 403);

    const Json who = me(ann);
    EXPECT_TRUE(check_document("Me", who).empty()) << who;
    EXPECT_EQ(who["member"], "ann");
    EXPECT_EQ(who["role"], "editor");
    EXPECT_EQ(who["roles"], (Json{{{"project", "ct"}, {"role", "editor"}},
                                  {{"project", "nlp"}, {"role", "viewer"}}}));
    EXPECT_EQ(me(service.admin)["roles"], (Json{{{"project", nullptr}, {"role", "admin"}}}));
}

TEST_F(Members, an_admin_of_a_project_manages_it_and_no_other) {
    const std::string ann = service.member_token("ann", {{"ct", Role::admin}});
    service.expect(201, "POST", "/v1/projects", {{"name", "nlp"}});
    EXPECT_EQ(status(ann, "PUT", members + "/bob", {{"role", "editor"}}), 200);
    EXPECT_EQ(status(ann, "PUT", "/v1/projects/nlp/members/ann", {{"role", "admin"}}), 404);
    EXPECT_EQ(status(ann, "GET", "/v1/projects/nlp/members"), 404);
    EXPECT_EQ(status(ann, "PUT", "/v1/projects/ct/quota", Json::object()), 403);
    EXPECT_EQ(status(ann, "GET", "/v1/audit"), 403);
    for (const char* gone : {"DELETE", "PUT"}) {
        const Json body = gone == std::string("PUT") ? Json{{"role", "viewer"}} : Json();
        const auto refused = service.call_as(ann, gone, members + "/ann", body);
        EXPECT_EQ(refused.status, 409);
        EXPECT_EQ(Json::parse(refused.body)["code"], "last_admin");
    }
    EXPECT_EQ(status(ann, "PUT", members + "/bob", {{"role", "admin"}}), 200);
    EXPECT_EQ(status(ann, "DELETE", members + "/ann"), 204);
    EXPECT_EQ(status(ann, "PUT", members + "/ann", {{"role", "admin"}}), 403);
    service.expect(204, "DELETE", members + "/bob");    // an admin of all may
}

// Goal: nobody gets rights by naming a member, or keeps them by a token made before.
TEST_F(Members, tokens_made_by_a_member_stay_below_the_member) {
    const std::string ann =
        service.member_token("ann", {{"ct", Role::admin}, {"nlp", Role::viewer}});
    service.member_token("boss", {{"nlp", Role::admin}});
    const auto make = [&](const Json& changes) {
        Json body{{"name", "t"}, {"role", "admin"}, {"projects", {"ct"}}};
        body.merge_patch(changes);
        return service.call_as(ann, "POST", "/v1/tokens", body);
    };
    const Json made = Json::parse(make(Json::object()).body);
    EXPECT_TRUE(check_document("IssuedToken", made).empty()) << made;
    EXPECT_EQ(made["member"], "ann") << "whose the maker's is";
    EXPECT_EQ(make({{"projects", {"ct", "nlp"}}}).status, 422);
    EXPECT_EQ(make({{"projects", Json::array()}}).status, 422);
    const auto stranger = make({{"member", "boss"}});
    EXPECT_EQ(stranger.status, 422);
    EXPECT_EQ(Json::parse(stranger.body)["errors"][0]["pointer"], "/member");
    EXPECT_EQ(make({{"member", "nobody"}}).status, 422);
    EXPECT_EQ(make({{"member", "B b"}}).status, 422);
    put("boss", Role::viewer);
    const Json of_boss = Json::parse(make({{"member", "boss"}}).body);
    EXPECT_EQ(me(of_boss["token"])["roles"], (Json{{{"project", "ct"}, {"role", "viewer"}}}));

    service.expect(204, "DELETE", members + "/ann");
    EXPECT_EQ(status(made["token"], "GET", members), 403);
    EXPECT_EQ(status(ann, "GET", members), 404) << "of nlp alone now";
    EXPECT_EQ(status(of_boss["token"], "GET", members), 200);
}

TEST_F(Members, who_has_lost_every_role_may_only_learn_that) {
    const std::string ann = service.member_token("ann", {{"ct", Role::admin}});
    const std::string job = submit_to("ct");
    service.expect(204, "DELETE", members + "/ann");
    const Json who = me(ann);
    EXPECT_TRUE(check_document("Me", who).empty()) << who;
    EXPECT_EQ(who["role"], nullptr);
    EXPECT_TRUE(who["roles"].empty());
    for (const std::string target : {"/v1/jobs", "/v1/projects", "/v1/queue", "/v1/cores",
                                     "/v1/events", "/v1/tokens", "/v1/datasets", "/v1/webhooks"})
        EXPECT_EQ(status(ann, "GET", target), 403) << target;
    EXPECT_EQ(status(ann, "GET", "/v1/jobs/" + job), 403);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + job)["state"], "queued")
        << "what the member submitted is the project's";
    put("ann", Role::viewer);
    EXPECT_EQ(status(ann, "GET", "/v1/jobs/" + job), 200);
}

// Goal: a stream ends when its reader's role in the project goes, and one of another project not.
TEST_F(Members, streams_end_with_the_role) {
    const std::string ann =
        service.member_token("ann", {{"ct", Role::viewer}, {"nlp", Role::viewer}});
    const std::string in_ct = submit_to("ct");
    const std::string in_nlp = submit_to("nlp");
    struct Stream {
        std::string target;
        std::atomic<bool> began = false, ended = false;
    };
    std::array<Stream, 3> streams{{{"/v1/jobs/" + in_ct + "/events"},
                                   {"/v1/events?project=ct"},
                                   {"/v1/jobs/" + in_nlp + "/events"}}};
    std::atomic<bool> stopping = false;
    std::vector<std::jthread> readers;
    for (Stream& one : streams)
        readers.emplace_back([&] {
            const client::ClientRequest request{.target = one.target,
                                                .headers = {{"Accept", "text/event-stream"}}};
            service.client(ann).stream(request, [&](std::string_view) {
                one.began = true;
                return !stopping;
            });
            one.ended = true;
        });
    EXPECT_TRUE(eventually([&] {
        return std::ranges::all_of(streams, [](const Stream& one) { return one.began.load(); });
    }));
    service.expect(204, "DELETE", members + "/ann");
    EXPECT_TRUE(eventually([&] { return streams[0].ended && streams[1].ended; }));
    EXPECT_FALSE(streams[2].ended);
    stopping = true;
    service.expect(200, "POST", "/v1/jobs/" + in_nlp + "/cancel");
}

// Goal: every request is answered by the roles of one moment: while a role comes and goes there is
// no other answer than the two that belong to them, and none after it has gone for good.
TEST_F(Members, requests_while_a_role_comes_and_goes) {
    const std::string ann =
        service.member_token("ann", {{"ct", Role::editor}, {"nlp", Role::viewer}});
    const std::string job = submit_to("ct");
    std::atomic<bool> stopping = false;
    std::atomic<int> answers = 0, wrong = 0;
    std::vector<std::jthread> askers;
    for (int i = 0; i < 3; ++i)
        askers.emplace_back([&] {
            while (!stopping) {
                const int got = status(ann, "PATCH", "/v1/jobs/" + job, {{"name", "seen"}});
                wrong += got != 200 && got != 403;    // 403: no project to write in
                ++answers;
            }
        });
    for (int i = 0; i < 10; ++i) {
        service.expect(204, "DELETE", members + "/ann");
        for (int again = 0; again < 3; ++again)
            EXPECT_EQ(status(ann, "GET", "/v1/jobs/" + job), 404);
        put("ann", Role::editor);
        EXPECT_EQ(status(ann, "GET", "/v1/jobs/" + job), 200);
    }
    stopping = true;
    askers.clear();
    EXPECT_GT(answers, 0);
    EXPECT_EQ(wrong, 0);
}

}    // namespace
}    // namespace slipway
