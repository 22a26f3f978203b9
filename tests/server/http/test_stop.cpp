// Goal: a stop loses no answer that was promised, and ends in time. Method: stop() on a thread of
// its own while clients hold connections of every kind.
#include <gtest/gtest.h>

#include <thread>

#include "tests/server/http/sample_server.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

TEST(Stop, requests_in_flight_are_answered_and_the_connection_closed) {
    SampleServer sample;
    RawHttp client(sample.port());
    client.send(plain_get("/gate") + plain_get("/smuggled"));
    sample.gate.wait_for_visitors(1);
    std::thread stopper([&] { sample.server->stop(std::chrono::seconds(10)); });
    // New connections are refused once the stop has begun.
    EXPECT_TRUE(eventually([&] { return !RawHttp(sample.port()).is_connected(); }));
    sample.gate.open();
    const RawAnswer answer = client.read_answer();
    EXPECT_EQ(answer.body, "through");
    EXPECT_EQ(answer.header("connection"), "close");
    EXPECT_TRUE(client.is_closed_by_peer());
    stopper.join();
    EXPECT_EQ(sample.smuggled, 0);    // the request behind it is left to the client to send again
}

TEST(Stop, idle_connections_are_closed_at_once) {
    SampleServer sample;
    std::vector<std::unique_ptr<RawHttp>> idle;
    for (int i = 0; i < 300; ++i) {
        idle.push_back(std::make_unique<RawHttp>(sample.port()));
        idle.back()->send(plain_get("/probe"));
    }
    for (const auto& client : idle)
        EXPECT_EQ(client->read_answer().body, "probe");
    RawHttp another(sample.port());    // 300 idle ones do not keep it out
    another.send(plain_get("/probe"));
    EXPECT_EQ(another.read_answer().status, 200);
    const auto started = std::chrono::steady_clock::now();
    sample.server->stop(std::chrono::seconds(10));
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
    for (const auto& client : idle)
        EXPECT_TRUE(client->is_closed_by_peer());
}

TEST(Stop, what_is_not_done_within_the_grace_is_cut) {
    SampleServer sample;
    RawHttp half(sample.port()), slow(sample.port());
    half.send("POST /any HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
    slow.shrink_receive_buffer(4096);
    for (int i = 0; i < 8; ++i)
        slow.send(plain_get("/big"));
    const auto has_connections = [&] {
        return sample.metrics.text().find("slipway_http_connections 2") != std::string::npos;
    };
    ASSERT_TRUE(eventually(has_connections));
    sample.server->stop(std::chrono::milliseconds(50));
    EXPECT_TRUE(half.is_closed_by_peer());
}

TEST(Stop, stopping_twice_or_without_a_start_is_fine) {
    SampleServer sample;
    sample.server->stop();
    sample.server->stop();
    HttpMetrics metrics;
    Server never_started({}, Router({}), metrics);
}

TEST(Start, a_port_in_use_is_an_error_that_names_it) {
    SampleServer sample;
    HttpMetrics metrics;
    ServerOptions options;
    options.port = sample.port();
    Server second(options, Router({}), metrics);
    try {
        second.start();
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
        EXPECT_NE(std::string(error.what()).find(std::to_string(sample.port())), std::string::npos);
    }
}

TEST(Start, both_families_can_be_listened_on) {
    ServerOptions options;
    options.addresses = {"::"};
    SampleServer sample(options);
    RawHttp client(sample.port());
    client.send(plain_get("/address"));
    EXPECT_EQ(client.read_answer().body, "127.0.0.1");
    options.addresses = {"localhost"};
    HttpMetrics metrics;
    Server named(options, Router({}), metrics);
    EXPECT_THROW(named.start(), Error);
}

}    // namespace
}    // namespace slipway
