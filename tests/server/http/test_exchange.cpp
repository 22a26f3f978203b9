// What a client sees of good requests: order, headers, problems, ids, overload.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/server/http/sample_server.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

class Exchanges : public testing::Test {
protected:
    RawAnswer ask(const std::string& request, bool without_body = false) {
        RawHttp connection(sample.port());
        connection.send(request);
        return connection.read_answer(without_body);
    }
    SampleServer sample;
};

TEST_F(Exchanges, pipelined_requests_are_answered_in_order) {
    RawHttp connection(sample.port());
    std::string requests;
    for (int i = 0; i < 50; ++i) {
        requests += plain_get("/things/" + std::to_string(i));
        requests += "POST /any HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb";
        requests +=
            "POST /any HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
            "chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n";
    }
    connection.send(requests + std::string(probe));
    for (int i = 0; i < 50; ++i) {
        EXPECT_EQ(connection.read_answer().body, std::to_string(i));
        EXPECT_EQ(connection.read_answer().body, "b");
        EXPECT_EQ(connection.read_answer().body, "c");
    }
    EXPECT_EQ(connection.read_answer().body, "probe");
    EXPECT_TRUE(connection.is_closed_by_peer());
}

TEST_F(Exchanges, head_has_the_headers_of_get_and_no_body) {
    RawHttp connection(sample.port());
    connection.send("HEAD /probe HTTP/1.1\r\nHost: a\r\n\r\n" + std::string(probe));
    const RawAnswer head = connection.read_answer(true);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("content-length"), "5");
    EXPECT_EQ(connection.read_answer().body, "probe");
}

TEST_F(Exchanges, a_path_without_the_method_says_what_it_has) {
    const RawAnswer refused = ask("DELETE /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(refused.status, 405);
    EXPECT_EQ(refused.header("allow"), "GET, POST, HEAD, OPTIONS");
    const RawAnswer options = ask("OPTIONS /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(options.status, 204);
    EXPECT_EQ(options.header("allow"), "GET, POST, HEAD, OPTIONS");
    EXPECT_EQ(options.header("content-length"), "");
    EXPECT_EQ(ask("OPTIONS /nowhere HTTP/1.1\r\nHost: a\r\n\r\n").status, 404);
}

TEST_F(Exchanges, path_and_query_arrive_decoded) {
    EXPECT_EQ(ask(plain_get("/things/a%20b%C3%BC?x=1&q=%2Fc+d%2B")).body, "a bü/c d+");
}

TEST_F(Exchanges, every_answer_carries_the_servers_headers) {
    for (const std::string& request :
         {plain_get("/probe"), plain_get("/nowhere"), plain_get("/fails/exception"),
          std::string("GET /probe HTTP/1.1\r\n\r\n")}) {
        const RawAnswer answer = ask(request);
        EXPECT_EQ(answer.header("server"), "slipway");
        EXPECT_TRUE(answer.header("date").ends_with(" GMT"));
        EXPECT_TRUE(answer.header("x-request-id").starts_with("req_"));
        EXPECT_EQ(answer.header("x-content-type-options"), "nosniff");
        EXPECT_EQ(answer.header("cache-control"), "no-store");
        EXPECT_EQ(answer.header("referrer-policy"), "no-referrer");
        EXPECT_NE(answer.header("content-security-policy").find("default-src 'none'"),
                  std::string::npos);
    }
}

TEST_F(Exchanges, a_page_has_a_strict_policy_and_an_etag) {
    const RawAnswer page = ask(plain_get("/page"));
    EXPECT_EQ(page.body, "<p>hello</p>");
    EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
    EXPECT_NE(page.header("content-security-policy").find("script-src 'self'"), std::string::npos);
    EXPECT_EQ(page.header("content-security-policy").find("unsafe"), std::string::npos);
    EXPECT_EQ(page.header("x-frame-options"), "DENY");
    EXPECT_EQ(page.header("cache-control"), "no-cache");
    const std::string etag = page.header("etag");
    for (const std::string& seen : {etag, "W/" + etag, "\"x\", " + etag, std::string("*")}) {
        const RawAnswer same =
            ask("GET /page HTTP/1.1\r\nHost: a\r\nIf-None-Match: " + seen + "\r\n\r\n");
        EXPECT_EQ(same.status, 304) << seen;
        EXPECT_EQ(same.header("etag"), etag);
        EXPECT_EQ(same.header("content-length"), "");
        // It would take the place of the policy of the page that the browser holds.
        EXPECT_EQ(same.header("content-security-policy"), "");
    }
    EXPECT_EQ(ask("GET /page HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\n\r\n").status, 200);
}

TEST_F(Exchanges, a_precondition_that_fails_is_said_before_the_answer) {
    const std::string etag = ask(plain_get("/page")).header("etag");
    const auto status = [&](const std::string& headers) {
        return ask("GET /page HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n").status;
    };
    EXPECT_EQ(status("If-Match: \"x\"\r\n"), 412);
    EXPECT_EQ(status("If-Match: W/" + etag + "\r\n"), 412);
    EXPECT_EQ(status("If-Match: \"x\"\r\nIf-None-Match: " + etag + "\r\n"), 412);
    EXPECT_EQ(status("If-Match: \"a,b\", " + etag + "\r\n"), 200);
    EXPECT_EQ(status("If-Match: *\r\n"), 200);
    EXPECT_EQ(status("If-None-Match: \"a,*,b\"\r\n"), 200);
}

TEST_F(Exchanges, an_asterisk_asks_for_every_method) {
    const RawAnswer answer = ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.header("allow"), "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
}

TEST_F(Exchanges, an_absolute_target_names_the_host) {
    EXPECT_EQ(ask("GET http://b:1/host HTTP/1.1\r\nHost: a\r\n\r\n").body, "b:1");
    EXPECT_EQ(ask("GET /host HTTP/1.1\r\nHost: a:\r\n\r\n").body, "a");
    EXPECT_EQ(ask("GET /host HTTP/1.0\r\n\r\n").body, "");
}

TEST_F(Exchanges, the_clients_request_id_is_kept_when_it_is_well_formed) {
    const auto id_for = [&](const std::string& given) {
        return ask("GET /probe HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + given + "\r\n\r\n")
            .header("x-request-id");
    };
    EXPECT_EQ(id_for("a.B-c_9"), "a.B-c_9");
    EXPECT_EQ(id_for(std::string(64, 'a')), std::string(64, 'a'));
    for (const std::string& bad : {std::string(65, 'a'), std::string("a b"), std::string("a;b"),
                                   std::string("\xe4"), std::string()})
        EXPECT_TRUE(id_for(bad).starts_with("req_")) << bad;
}

TEST_F(Exchanges, what_a_handler_throws_becomes_a_problem) {
    const struct {
        std::string how;
        int status;
        std::string code;
    } cases[]{{"error", 404, "not_found"},         {"internal", 500, "internal"},
              {"unavailable", 503, "unavailable"}, {"exception", 500, "internal"},
              {"header", 500, "internal"},         {"problem", 422, "invalid_spec"}};
    for (const auto& row : cases) {
        const RawAnswer answer = ask(plain_get("/fails/" + row.how));
        EXPECT_EQ(answer.status, row.status) << row.how;
        EXPECT_EQ(answer.header("content-type"), "application/problem+json");
        EXPECT_EQ(answer.header("set-cookie"), "");
        EXPECT_EQ(answer.body.find("secret"), std::string::npos);
        const auto body = nlohmann::json::parse(answer.body);
        EXPECT_EQ(body["code"], row.code);
        EXPECT_EQ(body["status"], row.status);
        EXPECT_EQ(body["request_id"], answer.header("x-request-id"));
        EXPECT_EQ(answer.header("retry-after").empty(), row.status != 503);
    }
}

TEST_F(Exchanges, a_problem_lists_every_field) {
    const auto body = nlohmann::json::parse(ask(plain_get("/fails/problem")).body);
    ASSERT_EQ(body["errors"].size(), 2U);
    EXPECT_EQ(body["errors"][0]["pointer"], "/a");
    EXPECT_FALSE(body["errors"][0].contains("allowed"));
    EXPECT_EQ(body["errors"][1]["allowed"], (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(body["title"], "Unprocessable Content");
}

TEST_F(Exchanges, a_handler_may_ask_to_be_called_again) {
    EXPECT_EQ(ask(plain_get("/later")).body, "waited");
}

TEST_F(Exchanges, a_half_closed_client_still_gets_its_answer) {
    RawHttp connection(sample.port());
    connection.send(plain_get("/probe"));
    connection.end_sending();
    EXPECT_EQ(connection.read_answer().body, "probe");
    EXPECT_TRUE(connection.is_closed_by_peer());
}

TEST_F(Exchanges, requests_and_refusals_are_counted) {
    ask(plain_get("/things/a"));
    ask(plain_get("/nowhere"));
    ask("GET /probe HTTP/1.1\r\n\r\n");
    for (const char* line :
         {"slipway_http_requests_total{method=\"GET\",route=\"/things/{id}\",status=\"200\"} 1",
          "slipway_http_requests_total{method=\"GET\",route=\"unmatched\",status=\"404\"} 1",
          "slipway_http_refused_total{code=\"bad_host\"} 1",
          "slipway_http_request_seconds_count{route=\"/things/{id}\"} 1"})
        EXPECT_TRUE(eventually([&] {
            return sample.metrics.text().find(line) != std::string::npos;
        })) << line
            << "\n"
            << sample.metrics.text();
}

TEST(Overload, a_full_queue_is_answered_503_at_once_and_the_connection_stays) {
    ServerOptions options;
    options.worker_threads = 1;
    options.worker_queue_max = 1;
    SampleServer sample(options);
    RawHttp running(sample.port());
    running.send(plain_get("/gate"));
    sample.gate.wait_for_visitors(1);
    // Of three more, one waits for the worker and two find the queue full.
    std::atomic<int> refused{0}, answered{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i)
        clients.emplace_back([&] {
            RawHttp client(sample.port());
            client.send(plain_get("/probe"));
            RawAnswer answer = client.read_answer();
            if (answer.status == 503) {
                EXPECT_EQ(answer.header("retry-after"), "1");
                if (++refused == 2) sample.gate.open();
                client.send(plain_get("/nowhere"));
                answer = client.read_answer();
                EXPECT_EQ(answer.status, 404);
            } else {
                EXPECT_EQ(answer.body, "probe");
                ++answered;
            }
        });
    for (std::thread& client : clients)
        client.join();
    EXPECT_EQ(refused, 2);
    EXPECT_EQ(answered, 1);
    EXPECT_EQ(running.read_answer().body, "through");
}

TEST(Overload, a_client_with_many_requests_leaves_workers_to_others) {
    ServerOptions options;
    options.worker_threads = 4;
    SampleServer sample(options);
    std::vector<std::unique_ptr<RawHttp>> many;
    for (int i = 0; i < 8; ++i) {
        many.push_back(std::make_unique<RawHttp>(sample.port()));
        many.back()->send("GET /gate HTTP/1.1\r\nHost: a\r\nAuthorization: one\r\n\r\n");
    }
    sample.gate.wait_for_visitors(2);
    RawHttp other(sample.port());
    other.send("GET /probe HTTP/1.1\r\nHost: a\r\nAuthorization: another\r\n\r\n");
    EXPECT_EQ(other.read_answer().body, "probe");
    sample.gate.open();
    for (const auto& one : many)
        EXPECT_EQ(one->read_answer().body, "through");
}

// Method: all but the first wait for the only worker. The gate opens once the server has accepted
// all connections; by then it has read most of their requests.
TEST(Overload, a_request_that_was_abandoned_while_it_waited_is_not_handled) {
    ServerOptions options;
    options.worker_threads = 1;
    SampleServer sample(options);
    RawHttp running(sample.port());
    running.send(plain_get("/gate"));
    sample.gate.wait_for_visitors(1);
    for (int i = 0; i < 100; ++i)
        RawHttp(sample.port()).send(plain_get("/smuggled"));
    RawHttp stays(sample.port());
    stays.send(plain_get("/smuggled"));
    EXPECT_TRUE(eventually([&] {
        return sample.metrics.text().find("slipway_http_connections 102") != std::string::npos;
    }));
    sample.gate.open();
    EXPECT_EQ(stays.read_answer().status, 200);
    EXPECT_LT(sample.smuggled, 50);
}

}    // namespace
}    // namespace slipway
