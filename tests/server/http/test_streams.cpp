// Event streams as the server sends them: chunks, heartbeats, slow and vanished clients, the stop.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/http/metrics.h"
#include "server/http/server.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_http.h"

namespace slipway {
namespace {

/// A source that gives what the test puts in.
class Tap : public EventSource {
public:
    void start(std::function<void()> wake) override {
        const std::lock_guard lock(mutex_);
        wake_ = std::move(wake);
    }
    bool take(std::string& bytes) override {
        const std::lock_guard lock(mutex_);
        bytes += std::exchange(waiting_, {});
        return !ended_;
    }
    std::string_view heartbeat() const override { return ":\n\n"; }
    void close() override {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        wake_ = {};
    }

    void put(const std::string& bytes, bool end = false) {
        const std::lock_guard lock(mutex_);
        waiting_ += bytes;
        ended_ = end;
        if (wake_) wake_();
    }
    bool closed() {
        const std::lock_guard lock(mutex_);
        return closed_;
    }

private:
    std::mutex mutex_;
    std::string waiting_;
    std::function<void()> wake_;
    bool ended_ = false, closed_ = false;
};

class Streams : public testing::Test {
protected:
    Streams() {
        ServerOptions options;
        options.port = 0;
        options.deadlines.heartbeat_s = 0.1;
        options.deadlines.write_stall_s = 0.3;
        options.deadlines.linger_s = 0.2;
        std::vector<Route> rows{get_route("/stream",
                                          [this](const Request&) {
                                              Response response;
                                              response.media_type = "text/event-stream";
                                              response.events = tap;
                                              return response;
                                          }),
                                get_route("/probe", [](const Request&) { return Response{}; })};
        server = std::make_unique<Server>(options, Router(rows), metrics);
        server->start();
    }
    static std::string request(const std::string& version = "HTTP/1.1") {
        return "GET /stream " + version + "\r\nHost: a\r\n\r\n";
    }
    bool probe_answers() {
        RawHttp client(server->port());
        client.send("GET /probe HTTP/1.1\r\nHost: a\r\n\r\n");
        return client.read_answer().status == 200;
    }
    /// Reads until `text` has come.
    static std::string read_to(RawHttp& client, const std::string& text) {
        std::string all;
        while (all.find(text) == std::string::npos) {
            const std::string more = client.read_some();
            if (more.empty()) break;
            all += more;
        }
        return all;
    }

    std::shared_ptr<Tap> tap = std::make_shared<Tap>();
    HttpMetrics metrics;
    std::unique_ptr<Server> server;
};

TEST_F(Streams, events_come_as_chunks_and_end_with_the_last_one) {
    RawHttp client(server->port());
    tap->put("data: 1\n\n");
    client.send(request());
    const std::string head = read_to(client, "data: 1\n\n\r\n");
    EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
    EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_NE(head.find("X-Accel-Buffering: no\r\n"), std::string::npos);
    EXPECT_NE(head.find("Cache-Control: no-store\r\n"), std::string::npos);
    EXPECT_NE(head.find("9\r\ndata: 1\n\n\r\n"), std::string::npos);
    tap->put("data: 2\n\n");
    EXPECT_NE(read_to(client, "data: 2\n\n\r\n").find("9\r\ndata: 2"), std::string::npos);
    tap->put("data: 3\n\n", true);
    EXPECT_TRUE(read_to(client, "0\r\n\r\n").ends_with("data: 3\n\n\r\n0\r\n\r\n"));
    EXPECT_TRUE(client.is_closed_by_peer());
    EXPECT_TRUE(eventually([&] { return tap->closed(); }));
}

TEST_F(Streams, silence_is_filled_with_heartbeats) {
    RawHttp client(server->port());
    client.send(request());
    EXPECT_NE(read_to(client, "3\r\n:\n\n\r\n3\r\n:\n\n\r\n"), "");
}

TEST_F(Streams, an_old_client_gets_the_bytes_until_the_end) {
    RawHttp client(server->port());
    tap->put("data: 1\n\n", true);
    client.send(request("HTTP/1.0"));
    const RawAnswer answer = client.read_answer();
    EXPECT_EQ(answer.header("transfer-encoding"), "");
    EXPECT_EQ(answer.body, "data: 1\n\n");
}

TEST_F(Streams, head_of_a_stream_is_the_head_alone) {
    RawHttp client(server->port());
    client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(client.read_answer(true).header("content-type"), "text/event-stream");
    EXPECT_TRUE(eventually([&] { return tap->closed(); }));
}

TEST_F(Streams, a_client_that_goes_is_noticed_in_silence) {
    {
        RawHttp client(server->port());
        client.send(request());
        read_to(client, "\r\n\r\n");
        EXPECT_FALSE(tap->closed());
    }
    EXPECT_TRUE(eventually([&] { return tap->closed(); }));
}

TEST_F(Streams, what_a_client_says_during_a_stream_is_not_a_request) {
    RawHttp client(server->port());
    client.send(request() + "GET /probe HTTP/1.1\r\nHost: a\r\n\r\n");
    read_to(client, ":\n\n");
    client.send("GET /probe HTTP/1.1\r\nHost: a\r\n\r\n");
    tap->put("data: 1\n\n", true);
    EXPECT_TRUE(read_to(client, "0\r\n\r\n").ends_with("data: 1\n\n\r\n0\r\n\r\n"));
    EXPECT_TRUE(client.is_closed_by_peer());
}

TEST_F(Streams, a_client_that_does_not_read_is_cut_and_blocks_nobody) {
    RawHttp client(server->port());
    client.shrink_receive_buffer(4096);
    client.send(request());
    tap->put(std::string(20'000'000, 'x'));
    EXPECT_TRUE(probe_answers());
    EXPECT_TRUE(eventually([&] { return tap->closed(); }));
}

TEST_F(Streams, hold_no_worker) {
    std::vector<std::unique_ptr<RawHttp>> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(std::make_unique<RawHttp>(server->port()));
        clients.back()->send(request());
        read_to(*clients.back(), "\r\n\r\n");
    }
    EXPECT_TRUE(probe_answers());
    EXPECT_TRUE(eventually([&] {
        return metrics.text().find("slipway_http_event_streams 100") != std::string::npos;
    }));
}

TEST_F(Streams, a_stop_ends_them_with_the_last_chunk) {
    RawHttp client(server->port());
    client.send(request());
    read_to(client, ":\n\n");
    std::thread stopper([&] { server->stop(std::chrono::seconds(10)); });
    EXPECT_TRUE(read_to(client, "0\r\n\r\n").ends_with("0\r\n\r\n"));
    EXPECT_TRUE(client.is_closed_by_peer());
    stopper.join();
    EXPECT_TRUE(tap->closed());
}

}    // namespace
}    // namespace slipway
