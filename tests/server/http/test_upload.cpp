// Uploads go straight into a file, as far as they come; refusals come before the first byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/server/http/sample_server.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

ServerOptions asking_often() {
    ServerOptions options;
    options.deadlines.permit_check_s = 0.02;
    return options;
}

class Uploads : public testing::Test {
protected:
    static std::string patch(std::size_t offset, const std::string& framing) {
        return fmt::format(
            "PATCH /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/offset+octet-stream\r\n"
            "Upload-Offset: {}\r\n{}\r\n\r\n",
            offset, framing);
    }
    static std::string sized(std::size_t offset, const std::string& body) {
        return patch(offset, fmt::format("Content-Length: {}", body.size())) + body;
    }
    std::string stored() { return read_file(sample.folder.path() / "upload"); }
    SampleServer sample{asking_often()};
};

TEST_F(Uploads, parts_are_written_at_their_offset_over_one_connection) {
    RawHttp connection(sample.port());
    connection.send(sized(0, "hello ") + sized(6, "world"));
    connection.send(patch(11, "Transfer-Encoding: chunked") + "1\r\n!\r\n0\r\n\r\n");
    EXPECT_EQ(connection.read_answer().body, "stored 6");
    EXPECT_EQ(connection.read_answer().body, "stored 5");
    EXPECT_EQ(connection.read_answer().body, "stored 1");
    EXPECT_EQ(stored(), "hello world!");
}

TEST_F(Uploads, what_came_before_the_client_broke_off_stays) {
    {
        RawHttp connection(sample.port());
        connection.send(patch(0, "Content-Length: 50000") + std::string(20'000, 'x'));
    }
    EXPECT_TRUE(eventually([&] { return stored().size() == 20'000; }));
    RawHttp connection(sample.port());
    connection.send(sized(20'000, std::string(30'000, 'y')));
    EXPECT_EQ(connection.read_answer().body, "stored 30000");
    EXPECT_EQ(stored(), std::string(20'000, 'x') + std::string(30'000, 'y'));
}

TEST_F(Uploads, a_refusal_comes_before_the_client_is_told_to_send) {
    const struct {
        std::string head;
        int status;
    } cases[]{
        {"PATCH /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/offset+octet-stream\r\n"
         "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
         400},    // the receiver misses Upload-Offset
        {"PATCH /upload HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nUpload-Offset: 0\r\n"
         "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
         415},
        {patch(0, "Expect: 100-continue\r\nContent-Length: 100001"), 413},
    };
    for (const auto& row : cases) {
        RawHttp connection(sample.port());
        connection.send(row.head);
        EXPECT_EQ(connection.read_answer().status, row.status);
        EXPECT_TRUE(connection.is_closed_by_peer());
    }
    EXPECT_EQ(stored(), "");
}

TEST_F(Uploads, a_body_ends_with_its_permit_while_the_server_waits_for_more) {
    for (const char* framing : {"Content-Length: 50000", "Transfer-Encoding: chunked"}) {
        sample.permit = std::make_shared<TransferPermit>();
        RawHttp connection(sample.port());
        sample.folder.write("upload", "");
        connection.send(patch(0, framing) + "4e20\r\n" + std::string(20'000, 'x'));
        EXPECT_TRUE(eventually([&] { return stored().size() >= 20'000; }));
        sample.permit->end({401, "unauthenticated", "the token was revoked"});
        sample.permit->end({404, "not_found", "the first reason stays"});
        const RawAnswer answer = connection.read_answer();
        EXPECT_EQ(answer.status, 401) << framing;
        EXPECT_NE(answer.body.find("the token was revoked"), std::string::npos) << answer.body;
        EXPECT_TRUE(connection.is_closed_by_peer());
    }
}

TEST_F(Uploads, a_body_that_pauses_longer_than_it_is_asked_about_goes_on) {
    RawHttp connection(sample.port(), std::chrono::milliseconds{100});
    connection.send(patch(0, "Content-Length: 10") + "hello");
    EXPECT_EQ(connection.read_some(), "") << "five times as long";
    connection.send("world");
    EXPECT_TRUE(eventually([&] { return stored() == "helloworld"; }));
}

TEST_F(Uploads, the_receivers_limit_is_exact) {
    EXPECT_EQ(raw_statuses(sample.port(), sized(0, std::string(100'000, 'x')) + std::string(probe)),
              (std::vector{200, 200}));
    std::string chunked = patch(0, "Transfer-Encoding: chunked");
    for (int i = 0; i < 2; ++i)
        chunked += "c351\r\n" + std::string(0xc351, 'y') + "\r\n";
    EXPECT_EQ(raw_statuses(sample.port(), chunked + "0\r\n\r\n"), std::vector{413});
}

}    // namespace
}    // namespace slipway
