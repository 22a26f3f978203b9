// GET /jobs/{id}/events over a real connection: resume, end, refusals.
#include "server/sse/job_stream.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "server/http/metrics.h"
#include "server/http/server.h"
#include "tests/server/sse/fake_feed.h"
#include "tests/server/sse/stream_reader.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_http.h"

namespace slipway {
namespace {

class JobStream : public testing::Test {
protected:
    JobStream() {
        HubOptions hub_options;
        hub_options.poll = std::chrono::milliseconds(20);
        hub_options.streams_per_owner = 4;
        hub = std::make_unique<Hub>(feed.feed(), hub_options);
        ServerOptions options;
        options.port = 0;
        options.deadlines.linger_s = 0.2;
        options.deadlines.write_stall_s = 60;
        server = std::make_unique<Server>(
            options,
            Router({get_route("/jobs/{id}/events",
                              [this](const Request& request) {
                                  if (!wants_event_stream(request)) return Response{};
                                  return job_event_stream(*hub, request, request.parameter("id"),
                                                          "default", "tok_a");
                              })}),
            metrics);
        server->start();
    }
    ~JobStream() override {
        server->stop(std::chrono::seconds(5));
        hub->stop();
    }

    RawHttp connect(const std::string& headers = {}, const std::string& query = {}) {
        RawHttp client(server->port());
        client.send(fmt::format(
            "GET /jobs/job_a/events{} HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n{}\r\n",
            query, headers));
        return client;
    }
    std::vector<std::int64_t> ids_of(const std::string& headers, const std::string& query = {}) {
        std::vector<std::int64_t> ids;
        for (const auto& event : parse_events(connect(headers, query).read_answer().body))
            ids.push_back(event.id);
        return ids;
    }
    int status_of(const std::string& headers, const std::string& query = {}) {
        return connect(headers, query).read_answer().status;
    }
    void fill(int events) {
        for (int i = 1; i < events; ++i)
            feed.append("job_a", i % 2 == 1 ? "log" : "metric");
        feed.append("job_a", "end");
    }

    FakeFeed feed;
    HttpMetrics metrics;
    std::unique_ptr<Hub> hub;
    std::unique_ptr<Server> server;
};

TEST_F(JobStream, starts_where_the_client_says) {
    fill(6);
    using Ids = std::vector<std::int64_t>;
    EXPECT_EQ(ids_of(""), (Ids{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(ids_of("Last-Event-ID: 4\r\n"), (Ids{5, 6}));
    EXPECT_EQ(ids_of("", "?after=3"), (Ids{4, 5, 6}));
    EXPECT_EQ(ids_of("Last-Event-ID: 5\r\n", "?after=1"), (Ids{6}));
    EXPECT_EQ(ids_of("", "?types=metric&after=1"), (Ids{2, 4, 6}));
}

TEST_F(JobStream, a_browser_that_has_seen_the_end_is_told_not_to_come_back) {
    fill(6);
    EXPECT_EQ(status_of("Last-Event-ID: 6\r\n"), 204);
    EXPECT_EQ(status_of("Last-Event-ID: 999\r\n"), 204);
}

TEST_F(JobStream, a_bad_cursor_is_refused) {
    fill(2);
    for (const char* id : {"x", "-1", "1.5", "1 2", "99999999999999999999", "9223372036854775808"})
        EXPECT_EQ(status_of(fmt::format("Last-Event-ID: {}\r\n", id)), 400) << id;
    EXPECT_EQ(status_of("", "?after=x"), 400);
}

TEST_F(JobStream, an_unknown_job_is_404) {
    EXPECT_EQ(status_of(""), 404);
}

TEST_F(JobStream, too_many_streams_of_one_token_are_429_until_one_closes) {
    feed.append("job_a", "log");
    std::vector<RawHttp> open;
    for (int i = 0; i < 4; ++i) {
        open.push_back(connect());
        EXPECT_NE(open.back().read_some(), "");
    }
    const RawAnswer refused = connect().read_answer();
    EXPECT_EQ(refused.status, 429);
    EXPECT_NE(refused.header("retry-after"), "");
    open.pop_back();
    EXPECT_TRUE(eventually([&] { return hub->stream_count() == 3; }));
    feed.append("job_a", "end");
    EXPECT_EQ(status_of(""), 200);
}

// Goal: a client that comes back every few events sees every number once.
// Method: connections cut after a random number of bytes while a thread writes events.
TEST_F(JobStream, a_client_that_reconnects_sees_every_event_once) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    constexpr std::int64_t total = 2000;
    feed.append("job_a", "state");
    std::thread writer([&] {
        for (std::int64_t i = 2; i < total; ++i)
            feed.append("job_a", "metric", fmt::format("{{\"step\":{}}}", i));
        feed.append("job_a", "end");
    });
    std::vector<std::int64_t> seen;
    int connections = 0;
    for (bool ended = false; !ended && connections < 5000; ++connections) {
        RawHttp client =
            connect(fmt::format("Last-Event-ID: {}\r\n", seen.empty() ? 0 : seen.back()));
        const std::size_t cut_at = 600 + random() % 2000;
        std::string text;
        while (text.size() < cut_at) {
            const std::string more = client.read_some();
            if (more.empty()) break;
            text += more;
        }
        text.resize(std::min(text.size(), cut_at));
        // Chunk framing is left out: frames are whole lines inside of it.
        std::string body = text.substr(std::min(text.find("\r\n\r\n") + 4, text.size()));
        for (std::size_t at = 0; (at = body.find("\r\n")) != std::string::npos;) {
            const auto line = body.rfind('\n', at);
            const auto start = line == std::string::npos ? 0 : line + 1;
            body.erase(start, at + 2 - start);
        }
        for (const auto& event : parse_events(body)) {
            seen.push_back(event.id);
            ended = event.type == "end";
        }
        // The server notices that the client has gone; the cap must not be met meanwhile.
        client = RawHttp(server->port());
        eventually([&] { return hub->stream_count() < 4; });
    }
    writer.join();
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(total));
    for (std::int64_t i = 0; i < total; ++i)
        EXPECT_EQ(seen[static_cast<std::size_t>(i)], i + 1);
    EXPECT_GT(connections, 20);
}

TEST_F(JobStream, a_client_that_does_not_read_does_not_delay_another) {
    feed.append("job_a", "log");
    RawHttp stuck = connect();
    RawHttp reader = connect();
    const std::string body = "\"" + std::string(100'000, 'x') + "\"";
    for (int i = 0; i < 200; ++i)
        feed.append("job_a", "log", body);
    feed.append("job_a", "end");
    EXPECT_EQ(parse_events(reader.read_answer().body).size(), 202U);
    // It has cost no more than its buffers, and loses nothing when it reads at last.
    EXPECT_EQ(parse_events(stuck.read_answer().body).size(), 202U);
}

}    // namespace
}    // namespace slipway
