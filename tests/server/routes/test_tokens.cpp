#include <gtest/gtest.h>

#include "api/spec/documents.h"
#include "scheduler/store/access.h"
#include "server/auth/token.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Tokens : testing::Test {
    TestService service;

    // The cookie of a Set-Cookie header, as a browser would send it back.
    static std::string cookie_of(const client::ClientResponse& response) {
        const std::string_view set = response.header("Set-Cookie");
        return std::string(set.substr(0, set.find(';')));
    }
    // What the cookie for the dashboard's script is set to; none: it is not set.
    static std::optional<std::string> signed_in_mark(const client::ClientResponse& response) {
        const std::string name = "slipway-signed-in=";
        for (const HttpHeader& header : response.headers)
            if (header.name == "Set-Cookie" && header.value.starts_with(name))
                return header.value.substr(name.size(), header.value.find(';') - name.size());
        return std::nullopt;
    }
    int status(const std::string& cookie, const std::string& method, const std::string& target,
               TestService::Headers headers = {}) {
        headers.push_back({"Cookie", cookie});
        return service
            .call_as("", method, target, method == "POST" ? Json::object() : Json(), headers)
            .status;
    }
};

TEST_F(Tokens, a_token_says_who_you_are) {
    const Json me = service.expect(200, "GET", "/v1/me");
    EXPECT_TRUE(check_document("Me", me).empty());
    EXPECT_EQ(me["role"], "admin");
    EXPECT_EQ(me["by_cookie"], false);
}

TEST_F(Tokens, tokens_are_made_listed_and_revoked) {
    const auto response = service.call(
        "POST", "/v1/tokens", {{"name", "ci"}, {"role", "editor"}, {"projects", {"default"}}});
    ASSERT_EQ(response.status, 201) << response.body;
    const Json made = Json::parse(response.body);
    EXPECT_TRUE(check_document("IssuedToken", made).empty());
    const std::string text = made.value("token", "");
    EXPECT_EQ(service.call_as(text, "GET", "/v1/me").status, 200);
    const auto list = service.call("GET", "/v1/tokens");
    EXPECT_TRUE(check_document("TokenList", Json::parse(list.body)).empty());
    EXPECT_EQ(list.body.find(text), std::string::npos) << "the text is shown once";
    EXPECT_NE(list.body.find(made.value("prefix", "?")), std::string::npos);
    const std::string path = "/v1/tokens/" + made.value("id", "");
    service.expect(204, "DELETE", path);
    EXPECT_EQ(service.call_as(text, "GET", "/v1/me").status, 401);
    service.expect(204, "DELETE", path);
    service.expect(404, "DELETE", "/v1/tokens/tok_00000000000000000000000000");
    service.expect(422, "POST", "/v1/tokens", {{"name", "x"}, {"role", "root"}});
}

TEST_F(Tokens, a_token_bound_to_projects_makes_no_wider_one) {
    const std::string bound = service.token(Role::admin, {"ct"});
    const auto make = [&](const Json& projects) {
        return service.call_as(bound, "POST", "/v1/tokens", {{"name", "x"}, {"projects", projects}})
            .status;
    };
    EXPECT_EQ(make(Json::array()), 422);
    EXPECT_EQ(make({"ct", "nlp"}), 422);
    EXPECT_EQ(make({"ct"}), 201);
}

// Goal: who had a token and lost it has none of its making, by whatever name and rights.
TEST_F(Tokens, a_token_takes_those_it_made_with_it) {
    const auto make = [&](const std::string& maker, const char* name) {
        return Json::parse(
            service.call_as(maker, "POST", "/v1/tokens", {{"name", name}, {"role", "admin"}}).body);
    };
    const Json first = make(service.admin, "first");
    const Json second = make(first["token"], "second");
    const Json third = make(second["token"], "third");
    const auto status = [&](const Json& made) {
        return service.call_as(made["token"], "GET", "/v1/me").status;
    };
    const std::string path = "/v1/tokens/" + first.value("id", "");
    service.expect(204, "DELETE", path + "?keep_made=true");
    EXPECT_EQ(status(first), 401);
    EXPECT_EQ(status(second), 200);
    service.expect(422, "DELETE", path + "?keep_made=perhaps");
    service.expect(204, "DELETE", path);
    EXPECT_EQ(status(second), 401);
    EXPECT_EQ(status(third), 401);
    EXPECT_EQ(service.call("GET", "/v1/me").status, 200);
}

TEST_F(Tokens, a_token_makes_none_that_outlives_it) {
    const Json maker =
        service.expect(201, "POST", "/v1/tokens",
                       {{"name", "m"}, {"role", "admin"}, {"expires_at", "2099-01-02T00:00:00Z"}});
    const auto make = [&](const Json& changes) {
        Json body{{"name", "x"}};
        body.update(changes);
        return Json::parse(service.call_as(maker["token"], "POST", "/v1/tokens", body).body);
    };
    EXPECT_EQ(make(Json::object())["expires_at"], maker["expires_at"]);
    EXPECT_EQ(make({{"expires_at", "2098-01-01T00:00:00Z"}})["expires_at"],
              "2098-01-01T00:00:00.000000Z");
    const Json later = make({{"expires_at", "2099-01-02T00:00:01Z"}});
    EXPECT_EQ(later["errors"][0]["pointer"], "/expires_at");
    EXPECT_NE(later.value("detail", "").find("2099-01-02"), std::string::npos);
}

// Goal: guessing is seen, without what was guessed, and does not fill the audit log.
TEST_F(Tokens, failed_sign_ins_are_audited) {
    const Json made = service.expect(201, "POST", "/v1/tokens", {{"name", "old"}});
    service.expect(204, "DELETE", "/v1/tokens/" + made.value("id", ""));
    const std::string unknown = make_token().text;
    for (const std::string& text : {made.value("token", ""), unknown, std::string("slp_guess")})
        EXPECT_EQ(service.call_as("", "POST", "/v1/login", {{"token", text}}).status, 401);
    EXPECT_EQ(service.call_as("", "GET", "/login?ticket=" + make_secret()).status, 401);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(service.call_as("", "POST", "/v1/login", {{"token", "slp_more"}}).status, 401);

    std::vector<std::string> reasons;
    for (const auto& entry : store::list_audit(service.store, {.limit = 200}).items) {
        EXPECT_EQ(entry.detail.find(unknown.substr(4)), std::string::npos);
        if (entry.action != "login_failed") continue;
        const Json detail = Json::parse(entry.detail);
        EXPECT_EQ(detail["address"], "127.0.0.1");
        reasons.push_back(detail["reason"]);
        if (detail["reason"] == "revoked") EXPECT_EQ(entry.token_id, made.value("id", ""));
    }
    EXPECT_EQ(reasons, (std::vector<std::string>{"not a token", "a link that is used or too old",
                                                 "not a token", "unknown token", "revoked"}));
}

TEST_F(Tokens, an_admin_of_a_project_manages_only_its_tokens) {
    const std::string bound = service.token(Role::admin, {"ct"});
    const auto id_of = [&](const std::string& text) {
        return Json::parse(service.call_as(text, "GET", "/v1/me").body).at("token_id");
    };
    const std::string own = id_of(service.token(Role::editor, {"ct"}));
    std::vector<std::string> others;
    others.push_back(id_of(service.token(Role::editor, {"ct", "nlp"})));
    others.push_back(id_of(service.token(Role::editor, {"nlp"})));
    others.push_back(id_of(service.admin));
    const std::string listed = service.call_as(bound, "GET", "/v1/tokens").body;
    EXPECT_NE(listed.find(own), std::string::npos);
    for (const std::string& other : others) {
        EXPECT_EQ(listed.find(other), std::string::npos);
        EXPECT_EQ(service.call_as(bound, "DELETE", "/v1/tokens/" + other).status, 404);
    }
    EXPECT_EQ(service.call_as(bound, "DELETE", "/v1/tokens/" + own).status, 204);
    EXPECT_EQ(service.call_as(bound, "POST", "/v1/cores/1/drain", Json::object()).status, 403);
}

// Goal: a token is over at its time, not at some time after it, whatever it was turned into before.
TEST_F(Tokens, a_token_that_expired_a_moment_ago_opens_nothing) {
    const std::string text = service.token(Role::viewer);
    const std::string cookie =
        cookie_of(service.call_as("", "POST", "/v1/login", {{"token", text}}));
    const Json link =
        Json::parse(service.call_as(text, "POST", "/v1/login-links", Json::object()).body);
    const std::string id =
        Json::parse(service.call_as(text, "GET", "/v1/me").body).value("token_id", "");
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 200);
    const std::vector<store::Right> right{{.token_id = id}};
    EXPECT_TRUE(store::list_lost_rights(service.store, right).empty());
    service.database.sql(
        "update token set expires_at = clock_timestamp() - interval '1 second' "
        "where id = '" +
        id + "'");
    EXPECT_EQ(service.call_as(text, "GET", "/v1/me").status, 401);
    EXPECT_EQ(service.call_as("", "POST", "/v1/login", {{"token", text}}).status, 401);
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 401);
    const std::string url = link.value("url", "");
    EXPECT_EQ(service.call_as("", "GET", url.substr(url.find("/login?"))).status, 401);
    EXPECT_EQ(store::list_lost_rights(service.store, right), right);
}

TEST_F(Tokens, a_token_is_exchanged_for_a_cookie) {
    const auto response = service.call_as("", "POST", "/v1/login", {{"token", service.admin}});
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_TRUE(check_document("Me", Json::parse(response.body)).empty());
    const std::string_view set = response.header("Set-Cookie");
    EXPECT_NE(set.find("HttpOnly"), std::string_view::npos);
    EXPECT_NE(set.find("SameSite=Lax"), std::string_view::npos);
    const std::string cookie = cookie_of(response);
    EXPECT_EQ(cookie.find(service.admin), std::string::npos);
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 200);
    EXPECT_EQ(signed_in_mark(response), "1");
    EXPECT_EQ(status("slipway-signed-in=1", "GET", "/v1/me"), 401) << "it grants nothing";
    const auto refused = service.call_as("", "POST", "/v1/login", {{"token", "slp_x"}});
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(signed_in_mark(refused), std::nullopt);
    EXPECT_EQ(service.call_as("", "POST", "/v1/login", {{"tokens", "x"}}).status, 422);
}

TEST_F(Tokens, with_a_cookie_only_our_own_pages_change_something) {
    const std::string cookie =
        cookie_of(service.call_as("", "POST", "/v1/login", {{"token", service.admin}}));
    const std::string here = "127.0.0.1:" + std::to_string(service.server->port());
    const std::string target = "/v1/login-links";
    EXPECT_EQ(status(cookie, "POST", target, {{"Sec-Fetch-Site", "same-origin"}}), 201);
    EXPECT_EQ(status(cookie, "POST", target, {{"Origin", "http://" + here}}), 201);
    EXPECT_EQ(status(cookie, "POST", target), 403);
    EXPECT_EQ(status(cookie, "POST", target, {{"Origin", "http://evil.example"}}), 403);
    EXPECT_EQ(status(cookie, "POST", target, {{"Sec-Fetch-Site", "cross-site"}}), 403);
    EXPECT_EQ(status(cookie, "GET", "/v1/jobs", {{"Sec-Fetch-Site", "cross-site"}}), 200);
}

TEST_F(Tokens, logout_ends_the_session) {
    const std::string cookie =
        cookie_of(service.call_as("", "POST", "/v1/login", {{"token", service.admin}}));
    EXPECT_EQ(status(cookie, "POST", "/v1/logout", {{"Sec-Fetch-Site", "cross-site"}}), 403);
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 200);
    EXPECT_EQ(status(cookie, "POST", "/v1/logout", {{"Sec-Fetch-Site", "same-origin"}}), 204);
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 401);
    const auto again = service.call_as("", "POST", "/v1/logout");
    EXPECT_EQ(again.status, 204);
    EXPECT_EQ(signed_in_mark(again), "");
}

TEST_F(Tokens, a_link_signs_in_once) {
    const Json link = service.expect(201, "POST", "/v1/login-links?keep_s=60");
    EXPECT_TRUE(check_document("LoginLink", link).empty());
    const std::string url = link.value("url", "");
    const std::string path = url.substr(url.find("/login"));
    EXPECT_EQ(service.call_as("", "HEAD", path).status, 204) << "looking does not use it up";
    const auto first = service.call_as("", "GET", path);
    EXPECT_EQ(first.status, 303);
    EXPECT_EQ(first.header("Location"), "/");
    const std::string cookie = cookie_of(first);
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 200);
    EXPECT_EQ(signed_in_mark(first), "1");
    const auto second = service.call_as("", "GET", path);
    EXPECT_EQ(second.status, 401);
    EXPECT_EQ(second.header("Set-Cookie"), "");
    EXPECT_TRUE(second.header("Content-Type").starts_with("text/html"));
    for (const char* keep : {"59", "601", "x"})
        service.expect(422, "POST", std::string("/v1/login-links?keep_s=") + keep);
    EXPECT_EQ(service.call_as("", "GET", "/login?ticket=../../x").status, 401);
    EXPECT_EQ(service.call_as("", "GET", "/login").status, 401);
}

// Goal: a link on another site's page does not sign a browser in as another user.
TEST_F(Tokens, a_link_from_elsewhere_signs_in_only_when_it_is_confirmed) {
    const Json link = service.expect(201, "POST", "/v1/login-links?keep_s=60");
    const std::string url = link.value("url", "");
    const std::string path = url.substr(url.find("/login"));
    const auto follow = [&](const std::string& site) {
        return service.call_as("", "GET", path, {}, {{"Sec-Fetch-Site", site}});
    };
    for (const char* site : {"cross-site", "same-site"}) {
        const auto asked = follow(site);
        EXPECT_EQ(asked.status, 200) << site;
        EXPECT_EQ(asked.header("Set-Cookie"), "") << site;
        EXPECT_NE(asked.body.find("href=\"" + path + "\""), std::string::npos) << asked.body;
    }
    EXPECT_EQ(
        service.call_as("", "GET", "/login?ticket=\"><b>", {}, {{"Sec-Fetch-Site", "cross-site"}})
            .status,
        401);
    EXPECT_EQ(follow("same-origin").status, 303);
    const Json other = service.expect(201, "POST", "/v1/login-links?keep_s=60");
    const std::string second = other.value("url", "");
    EXPECT_EQ(service
                  .call_as("", "GET", second.substr(second.find("/login")), {},
                           {{"Sec-Fetch-Site", "none"}})
                  .status,
              303);
}

TEST_F(Tokens, a_revoked_token_ends_its_sessions_and_links) {
    const std::string token = service.token(Role::viewer);
    const std::string cookie =
        cookie_of(service.call_as("", "POST", "/v1/login", {{"token", token}}));
    const Json link =
        Json::parse(service.call_as(token, "POST", "/v1/login-links", Json::object()).body);
    const Json me = Json::parse(service.call_as(token, "GET", "/v1/me").body);
    service.expect(204, "DELETE", "/v1/tokens/" + me.value("token_id", ""));
    EXPECT_EQ(status(cookie, "GET", "/v1/me"), 401);
    const std::string url = link.value("url", "");
    EXPECT_EQ(service.call_as("", "GET", url.substr(url.find("/login"))).status, 401);
}

TEST_F(Tokens, what_was_changed_is_in_the_audit_log) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    service.expect(200, "POST", "/v1/jobs/" + job + "/cancel");
    service.expect(200, "GET", "/v1/jobs/" + job);
    const auto page = store::list_audit(service.store, {});
    ASSERT_EQ(page.items.size(), 2U);
    EXPECT_EQ(page.items[0].action, "cancel_job");
    EXPECT_EQ(page.items[1].action, "create_job");
    for (const store::AuditEntry& entry : page.items)
        EXPECT_EQ(entry.object, job);
}

TEST_F(Tokens, a_repeated_submission_is_in_the_audit_log_and_a_refused_one_is_not) {
    service.ready_dataset("points");
    const auto post = [&](const Json& body) {
        return service.call("POST", "/v1/jobs", body, {{"Idempotency-Key", "k"}}).status;
    };
    EXPECT_EQ(post(TestService::spec()), 201);
    EXPECT_EQ(post(TestService::spec()), 201);
    EXPECT_EQ(post(Json::object()), 422);
    const auto page = store::list_audit(service.store, {});
    ASSERT_EQ(page.items.size(), 2U);
    EXPECT_EQ(page.items[0].object, page.items[1].object);
    EXPECT_NE(page.items[0].request_id, page.items[1].request_id);
}

// Goal: a copy of the database gives nobody a way in.
TEST_F(Tokens, the_database_holds_no_secret) {
    const auto login = service.call_as("", "POST", "/v1/login", {{"token", service.admin}});
    const std::string secret = cookie_of(login).substr(std::string("slipway=").size());
    const Json link =
        service.expect(201, "POST", "/v1/login-links", Json::object(), {{"Idempotency-Key", "k"}});
    const std::string ticket = link.value("url", "").substr(link.value("url", "").find('=') + 1);
    const Json made =
        service.expect(201, "POST", "/v1/tokens", {{"name", "x"}}, {{"Idempotency-Key", "k2"}});
    for (const std::string& text : {service.admin, secret, ticket, made.value("token", "")}) {
        ASSERT_GT(text.size(), 40U);
        for (const char* table : {"token", "session", "login_ticket", "idempotency", "audit"})
            EXPECT_EQ(service.database.sql("select count(*) from " + std::string(table) + " t " +
                                           "where t::text like '%" + text + "%'"),
                      "0")
                << table;
    }
}

}    // namespace
}    // namespace slipway
