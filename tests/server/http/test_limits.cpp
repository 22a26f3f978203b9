// Goal: each limit refuses one above it with its status, and not one less; each deadline ends what
// is too slow. Method: deadlines made small, waits ended by the server's own answer or close.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/server/http/sample_server.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

/// A request whose head is exactly so many bytes.
std::string head_of(std::size_t bytes) {
    const std::string before = "GET /things/a HTTP/1.1\r\nHost: a\r\nX: ";
    return before + std::string(bytes - before.size() - 4, 'x') + "\r\n\r\n";
}

std::string target_of(std::size_t bytes) {
    const std::string path = "/things/a?q=";
    return fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n",
                       path + std::string(bytes - path.size(), 'x'));
}

std::string headers_of(std::size_t count) {
    std::string text = "GET /things/a HTTP/1.1\r\nHost: a\r\n";
    for (std::size_t i = 1; i < count; ++i)
        text += fmt::format("X-{}: y\r\n", i);
    return text + "\r\n";
}

std::string json_of(std::size_t bytes) {
    return fmt::format(
               "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
               "Content-Length: {}\r\n\r\n",
               bytes) +
           std::string(bytes, ' ');
}

std::string chunked_of(std::size_t bytes) {
    return fmt::format(
               "POST /any HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
               bytes) +
           std::string(bytes, 'x') + "\r\n0\r\n\r\n";
}

TEST(Limits, are_exact) {
    SampleServer sample;
    const struct {
        std::string name, bytes;
        int status;
    } cases[]{
        {"header -1", head_of(16 * 1024 - 1), 200},
        {"header", head_of(16 * 1024), 200},
        {"header +1", head_of(16 * 1024 + 1), 431},
        {"target -1", target_of(8191), 200},
        {"target", target_of(8192), 200},
        {"target +1", target_of(8193), 414},
        {"target of 15 KiB", target_of(15'000), 414},
        {"target of 1 MiB", target_of(1 << 20), 414},
        {"63 headers", headers_of(63), 200},
        {"64 headers", headers_of(64), 200},
        {"65 headers", headers_of(65), 431},
        {"json -1", json_of((1 << 20) - 1), 200},
        {"json", json_of(1 << 20), 200},
        {"json +1", json_of((1 << 20) + 1), 413},
        {"chunked -1", chunked_of(64 * 1024 - 1), 200},
        {"chunked", chunked_of(64 * 1024), 200},
        {"chunked +1", chunked_of(64 * 1024 + 1), 413},
    };
    for (const auto& row : cases) {
        SCOPED_TRACE(row.name);
        const auto statuses = raw_statuses(sample.port(), row.bytes + std::string(probe));
        ASSERT_FALSE(statuses.empty());
        EXPECT_EQ(statuses[0], row.status);
        EXPECT_EQ(statuses.size(), row.status == 200 ? 2U : 1U);
    }
}

TEST(Limits, a_body_too_large_is_refused_before_it_is_sent) {
    SampleServer sample;
    RawHttp connection(sample.port());
    connection.send(
        "POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        "Expect: 100-continue\r\nContent-Length: 1048577\r\n\r\n");
    EXPECT_EQ(connection.read_answer().status, 413);
    EXPECT_TRUE(connection.is_closed_by_peer());
}

TEST(Limits, chunks_that_together_are_too_large_are_refused) {
    SampleServer sample;
    std::string body = "POST /any HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 65; ++i)
        body += "400\r\n" + std::string(1024, 'x') + "\r\n";
    EXPECT_EQ(raw_statuses(sample.port(), body), std::vector{413});
}

TEST(Limits, an_expected_continue_is_given_once_and_the_body_read) {
    SampleServer sample;
    RawHttp connection(sample.port());
    connection.send(
        "POST /any HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(connection.read_answer().status, 100);
    connection.send("hello");
    EXPECT_EQ(connection.read_answer().body, "hello");
}

TEST(Limits, a_connection_ends_after_its_number_of_requests) {
    ServerOptions options;
    options.limits.requests_per_connection = 3;
    SampleServer sample(options);
    std::string requests;
    for (int i = 0; i < 5; ++i)
        requests += plain_get("/probe");
    RawHttp connection(sample.port());
    connection.send(requests);
    const auto answers = connection.read_all_answers();
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[1].header("connection"), "");
    EXPECT_EQ(answers[2].header("connection"), "close");
}

TEST(Limits, connections_above_the_cap_are_told_to_come_back) {
    ServerOptions options;
    options.limits.connections = 2;
    options.deadlines.reserved_s = 0.2;
    SampleServer sample(options);
    RawHttp first(sample.port()), second(sample.port());
    for (RawHttp* connection : {&first, &second}) {
        connection->send(plain_get("/probe"));
        EXPECT_EQ(connection->read_answer().status, 200);
    }
    RawHttp third(sample.port());
    const RawAnswer answer = third.read_answer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.header("retry-after"), "5");
    EXPECT_TRUE(third.is_closed_by_peer());
    first.send(plain_get("/probe"));
    EXPECT_EQ(first.read_answer().status, 200);
}

TEST(Limits, one_address_has_its_own_cap) {
    ServerOptions options;
    options.limits.connections_of_loopback = 1;
    options.deadlines.reserved_s = 0.2;
    SampleServer sample(options);
    RawHttp first(sample.port());
    first.send(plain_get("/address"));
    EXPECT_EQ(first.read_answer().body, "127.0.0.1");
    EXPECT_EQ(RawHttp(sample.port()).read_answer().status, 503);
}

// Goal: a client that does not authenticate keeps out no client that does, and keeps its connection
// while there is room. Method: connections that wait, that have begun a head or an unrequested
// body, and that were answered as an unknown client.
TEST(Limits, clients_that_are_not_known_make_room) {
    for (const bool of_all : {false, true}) {
        ServerOptions options;
        (of_all ? options.limits.connections : options.limits.connections_of_loopback) = 5;
        SampleServer sample(options);
        RawHttp known(sample.port());
        known.send(plain_get("/probe"));
        EXPECT_EQ(known.read_answer().status, 200);
        RawHttp answered(sample.port());
        answered.send("GET /probe HTTP/1.1\r\nHost: a\r\nX-Unknown: yes\r\n\r\n");
        EXPECT_EQ(answered.read_answer().status, 200);
        RawHttp waits(sample.port()), begins(sample.port()), sends(sample.port());
        begins.send("GET /probe HTTP/1.1\r\nHo");
        sends.send("POST /any HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
        std::vector<RawHttp> others;
        for (int i = 0; i < 4; ++i) {
            others.emplace_back(sample.port());
            others.back().send(plain_get("/probe"));
            EXPECT_EQ(others.back().read_answer().status, 200) << i;
        }
        for (RawHttp* const unknown : {&answered, &waits, &begins, &sends})
            EXPECT_TRUE(unknown->is_closed_by_peer());
        RawHttp last(sample.port());
        last.send(plain_get("/probe"));
        EXPECT_EQ(last.read_answer().status, 503) << "all others are known";
        known.send(plain_get("/probe"));
        EXPECT_EQ(known.read_answer().status, 200);
    }
}

TEST(Limits, health_is_answered_above_every_cap) {
    ServerOptions options;
    options.limits.connections = 2;
    options.limits.reserved_connections = 3;
    SampleServer sample(options);
    std::vector<RawHttp> idle;
    for (int i = 0; i < 10; ++i) {
        idle.emplace_back(sample.port());
        if (i >= 2) continue;
        idle[std::size_t(i)].send(plain_get("/probe"));
        EXPECT_EQ(idle[std::size_t(i)].read_answer().status, 200);
    }
    RawHttp health(sample.port());
    health.send(plain_get("/at-once"));
    EXPECT_EQ(health.read_answer().body, "here");
    EXPECT_TRUE(health.is_closed_by_peer()) << "a place for one request";
    RawHttp other(sample.port());
    other.send(plain_get("/probe"));
    const RawAnswer answer = other.read_answer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.header("retry-after"), "5");
    EXPECT_EQ(idle[3].read_answer().status, 503) << "it has made room";
    idle[0].send(plain_get("/probe"));
    EXPECT_EQ(idle[0].read_answer().status, 200) << "what was let in stays";
}

TEST(Limits, a_host_that_is_not_ours_is_misdirected) {
    ServerOptions options;
    options.public_names = {"train.example.org"};
    SampleServer sample(options);
    const auto status = [&](const std::string& host) {
        return raw_statuses(
            sample.port(), "GET /host HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    };
    EXPECT_EQ(status("evil.example"), std::vector{421});
    EXPECT_EQ(status("train.example.org:8470"), std::vector{200});
    EXPECT_EQ(status("localhost"), std::vector{200});
    EXPECT_EQ(raw_statuses(sample.port(),
                           "GET http://evil.example/host HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              std::vector{421});
}

TEST(Limits, requests_through_a_proxy_count_by_the_address_it_forwards) {
    ServerOptions options;
    options.trusted_proxies = {parse_network("127.0.0.0/8")};
    options.limits.connections_per_address = 1;
    SampleServer sample(options);
    const auto from = [&](RawHttp& connection, const std::string& path, const std::string& client) {
        connection.send("GET " + path + " HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: " + client +
                        "\r\nX-Forwarded-Proto: https\r\n\r\n");
    };
    RawHttp first(sample.port()), second(sample.port()), third(sample.port());
    from(first, "/gate", "203.0.113.9");
    sample.gate.wait_for_visitors(1);
    from(second, "/address", "203.0.113.9");
    EXPECT_EQ(second.read_answer().status, 503);
    from(third, "/address", "203.0.113.10");
    const RawAnswer answer = third.read_answer();
    EXPECT_EQ(answer.body, "203.0.113.10");
    EXPECT_NE(answer.header("strict-transport-security"), "") << "the client speaks TLS";
    sample.gate.open();
    EXPECT_EQ(first.read_answer().body, "through");
    from(first, "/address", "203.0.113.9");
    EXPECT_EQ(first.read_answer().body, "203.0.113.9");
}

TEST(Limits, a_trusted_address_that_asks_for_itself_counts_as_any_other) {
    ServerOptions options;
    options.trusted_proxies = {parse_network("127.0.0.0/8")};
    options.limits.connections_of_loopback = 2;
    SampleServer sample(options);
    RawHttp first(sample.port()), third(sample.port()), proxy(sample.port());
    {
        RawHttp second(sample.port());
        for (RawHttp* one : {&first, &second})
            for (int i = 0; i < 3; ++i) {
                one->send(plain_get("/probe"));
                EXPECT_EQ(one->read_answer().status, 200) << "one connection counts once";
            }
        third.send(plain_get("/probe"));
        EXPECT_EQ(third.read_answer().status, 503);
        EXPECT_TRUE(third.is_closed_by_peer());
        EXPECT_EQ(raw_statuses(sample.port(), plain_get("/at-once")), std::vector{200})
            << "health is always answered";
        proxy.send("GET /probe HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n");
        EXPECT_EQ(proxy.read_answer().status, 200) << "clients behind the proxy go on";
    }
    EXPECT_TRUE(eventually([&] {
        RawHttp next(sample.port());
        next.send(probe);
        return next.read_answer().status == 200;
    }));
}

std::string guarded(const std::string& headers) {
    return "POST /guarded HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + headers +
           "\r\n";
}

TEST(Limits, who_may_not_send_a_body_is_told_before_it_is_read) {
    SampleServer sample;
    for (const char* framing : {"Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n",
                                "Content-Length: 1000000\r\nExpect: 100-continue\r\n"}) {
        RawHttp connection(sample.port());
        connection.send(guarded(framing));
        EXPECT_EQ(connection.read_answer().status, 401) << framing;
        EXPECT_TRUE(connection.is_closed_by_peer());
    }
    RawHttp connection(sample.port());
    connection.send(guarded("Authorization: x\r\nContent-Length: 2\r\n") + "{}");
    EXPECT_EQ(connection.read_answer().body, "admitted: {}");
}

TEST(Limits, bodies_in_memory_have_a_budget_in_common) {
    ServerOptions options;
    options.limits.buffered_body_bytes = 100'000;
    SampleServer sample(options);
    const auto held = [&](int bytes) {
        return sample.metrics.text().find(fmt::format("buffered_body_bytes {}\n", bytes)) !=
               std::string::npos;
    };
    const std::string begin_of_body =
        "POST /any HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n";
    RawHttp first(sample.port()), second(sample.port());
    first.send(begin_of_body + std::string(59'999, 'x'));
    ASSERT_TRUE(eventually([&] { return held(59'999); }));
    second.send(begin_of_body + std::string(60'000, 'y'));
    const RawAnswer refused = second.read_answer();
    EXPECT_EQ(refused.status, 503);
    EXPECT_NE(refused.header("retry-after"), "");
    first.send("x");
    EXPECT_EQ(first.read_answer().body, std::string(60'000, 'x'));
    EXPECT_TRUE(eventually([&] { return held(0); }));
    RawHttp third(sample.port());
    third.send(begin_of_body + std::string(60'000, 'z'));
    EXPECT_EQ(third.read_answer().body, std::string(60'000, 'z'));
    {
        RawHttp fourth(sample.port());
        fourth.send(begin_of_body + std::string(50'000, 'x'));
        ASSERT_TRUE(eventually([&] { return held(50'000); }));
    }
    EXPECT_TRUE(eventually([&] { return held(0); })) << "a client that broke off holds nothing";
}

TEST(Limits, what_must_always_answer_waits_for_no_worker) {
    ServerOptions options;
    options.worker_threads = 2;
    options.worker_queue_max = 2;
    SampleServer sample(options);
    std::vector<RawHttp> busy;
    for (int i = 0; i < 2; ++i) {
        busy.emplace_back(sample.port());
        busy.back().send(plain_get("/gate"));
    }
    sample.gate.wait_for_visitors(2);
    for (const char* path : {"/at-once", "/reserved", "/at-once"}) {
        RawHttp connection(sample.port());
        connection.send(plain_get(path));
        EXPECT_EQ(connection.read_answer().body, "here") << path;
    }
    sample.gate.open();
    for (RawHttp& connection : busy)
        EXPECT_EQ(connection.read_answer().body, "through");
}

TEST(Limits, large_answers_in_memory_have_a_budget_in_common) {
    ServerOptions options;
    options.limits.buffered_answer_bytes = huge_answer_bytes * 3 / 2;    // one and no second
    SampleServer sample(options);
    const auto held = [&](std::size_t bytes) {
        return sample.metrics.text().find(fmt::format("buffered_answer_bytes {}\n", bytes)) !=
               std::string::npos;
    };
    RawHttp first(sample.port()), second(sample.port());
    first.send(plain_get("/huge"));
    ASSERT_TRUE(eventually([&] { return held(huge_answer_bytes); }));
    second.send(plain_get("/huge"));
    const RawAnswer refused = second.read_answer();
    EXPECT_EQ(refused.status, 503);
    EXPECT_NE(refused.header("retry-after"), "");
    EXPECT_NE(refused.body.find("large responses"), std::string::npos);
    second.send(plain_get("/probe"));
    EXPECT_EQ(second.read_answer().status, 200) << "small answers go on, on the same connection";
    EXPECT_EQ(first.read_answer().body.size(), huge_answer_bytes);
    EXPECT_TRUE(eventually([&] { return held(0); }));
    second.send(plain_get("/huge"));
    EXPECT_EQ(second.read_answer().body.size(), huge_answer_bytes);
}

ServerOptions hasty() {
    ServerOptions options;
    options.deadlines = {.header_s = 0.2,
                         .body_grace_s = 0.2,
                         .body_bytes_per_s = 1e6,
                         .buffered_body_bytes_per_s = 1e6,
                         .write_stall_s = 0.2,
                         .keep_alive_s = 0.2,
                         .linger_s = 0.2};
    return options;
}

TEST(Deadlines, a_slow_header_is_answered_408) {
    SampleServer sample(hasty());
    RawHttp connection(sample.port());
    connection.send("GET /probe HTTP/1.1\r\nHost");
    const RawAnswer answer = connection.read_answer();
    EXPECT_EQ(answer.status, 408);
    EXPECT_NE(answer.body.find("header_too_slow"), std::string::npos);
    EXPECT_TRUE(connection.is_closed_by_peer());
}

TEST(Deadlines, the_header_deadline_is_not_moved_by_single_bytes) {
    SampleServer sample(hasty());
    RawHttp connection(sample.port(), std::chrono::milliseconds(20));
    connection.send("GET /probe HTTP/1.1\r\nX: ");
    RawAnswer answer;
    for (int i = 0; i < 200 && answer.status == 0; ++i) {
        connection.send("x");
        answer = connection.read_answer();    // waits 20 ms
    }
    EXPECT_EQ(answer.status, 408);
}

TEST(Deadlines, a_slow_body_is_answered_408) {
    SampleServer sample(hasty());
    for (const char* framing : {"Content-Length: 50000", "Transfer-Encoding: chunked"}) {
        RawHttp connection(sample.port());
        connection.send(
            fmt::format("POST /any HTTP/1.1\r\nHost: a\r\n{}\r\n\r\n5\r\nhel", framing));
        const RawAnswer answer = connection.read_answer();
        EXPECT_EQ(answer.status, 408);
        EXPECT_NE(answer.body.find("body_too_slow"), std::string::npos);
        EXPECT_TRUE(connection.is_closed_by_peer());
    }
}

TEST(Deadlines, a_body_in_memory_must_come_faster_than_one_into_a_file) {
    ServerOptions options;
    options.deadlines.body_grace_s = 2;
    options.deadlines.body_bytes_per_s = 0.01;
    options.deadlines.buffered_body_bytes_per_s = 1e6;
    SampleServer sample(options);
    RawHttp upload(sample.port()), memory(sample.port());
    const std::string rest = "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n";
    upload.send(
        "PATCH /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/offset+octet-stream\r\n"
        "Upload-Offset: 0\r\n" +
        rest);
    memory.send("POST /any HTTP/1.1\r\nHost: a\r\n" + rest);
    for (RawHttp* connection : {&upload, &memory}) {
        EXPECT_EQ(connection->read_answer().status, 100);
        connection->send("hello");
    }
    EXPECT_EQ(memory.read_answer().status, 408);
    upload.send("world");
    EXPECT_EQ(upload.read_answer().body, "stored 10");
}

TEST(Deadlines, a_silent_connection_is_closed_without_an_answer) {
    SampleServer sample(hasty());
    RawHttp never(sample.port()), once(sample.port());
    once.send(plain_get("/probe"));
    EXPECT_EQ(once.read_answer().status, 200);
    EXPECT_EQ(once.read_some(), "");
    EXPECT_TRUE(once.is_closed_by_peer());
    EXPECT_EQ(never.read_some(), "");
    EXPECT_TRUE(never.is_closed_by_peer());
}

TEST(Deadlines, a_client_that_does_not_read_its_answer_is_cut) {
    SampleServer sample(hasty());
    RawHttp connection(sample.port());
    connection.shrink_receive_buffer(4096);
    for (int i = 0; i < 8; ++i)
        connection.send(plain_get("/big"));
    // The metric of open connections falls to 0 although this client never read nor closed.
    EXPECT_TRUE(eventually([&] {
        return sample.metrics.text().find("slipway_http_connections 0") != std::string::npos;
    }));
}

}    // namespace
}    // namespace slipway
