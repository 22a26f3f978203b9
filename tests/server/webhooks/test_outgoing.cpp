// Goal: messages go to the address that was judged, end in time, and to nobody's neighbours.
#include "server/http/outgoing.h"

#include <gtest/gtest.h>

#include "tests/server/webhooks/receiver.h"

namespace slipway {
namespace {

std::string parsed(std::string_view text) {
    const Result<OutgoingUrl> url = parse_outgoing_url(text);
    if (!url) return "refused";
    return fmt::format("{} {} {} {}", url->secure, url->authority.host, url->authority.port,
                       url->target);
}

TEST(OutgoingUrl, is_taken_apart_or_refused) {
    EXPECT_EQ(parsed("https://hooks.example.com/a?b=c"), "true hooks.example.com 443 /a?b=c");
    EXPECT_EQ(parsed("HTTP://a:8080"), "false a 8080 /");
    EXPECT_EQ(parsed("http://[::1]:81/x"), "false ::1 81 /x");
    EXPECT_EQ(parsed("http://a?x"), "false a 80 /?x");
    for (const char* text : {"",
                             "a",
                             "/a",
                             "ftp://a",
                             "file:///etc/passwd",
                             "http://",
                             "http:///a",
                             "http://u@a/",
                             "http://u:p@a/",
                             "http://a:0/",
                             "http://a:65536/",
                             "http://a:x/",
                             "http://[::1/",
                             "http://[a]/",
                             "http://a/#x",
                             "http://a/ b",
                             "http://a/\r\nHost: b",
                             "http://a b/",
                             "http://a\\@b/",
                             "https://a%2f/",
                             "http://[::1]x/"})
        EXPECT_EQ(parsed(text), "refused") << text;
    EXPECT_EQ(parsed("http://a/" + std::string(3000, 'x')), "refused");
}

TEST(OutgoingAddresses, only_those_of_the_internet_are_public) {
    for (const char* text : {"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1",
                             "2606:4700:4700::1111", "2001:4860:4860::8888"})
        EXPECT_TRUE(is_public(boost::asio::ip::make_address(text))) << text;
    for (const char* text : {"127.0.0.1",
                             "127.8.9.1",
                             "0.0.0.0",
                             "10.1.2.3",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.168.1.1",
                             "169.254.169.254",
                             "100.64.0.1",
                             "198.18.0.1",
                             "224.0.0.1",
                             "255.255.255.255",
                             "::1",
                             "::",
                             "fe80::1",
                             "fd00::1",
                             "ff02::1",
                             "::ffff:127.0.0.1",
                             "::ffff:10.0.0.1",
                             "64:ff9b::7f00:1",
                             "2002:7f00:1::",
                             "2001:db8::1",
                             "::7f00:1"})
        EXPECT_FALSE(is_public(boost::asio::ip::make_address(text))) << text;
}

class Outgoing : public testing::Test {
protected:
    OutgoingAnswer post(const std::string& url, const char* allowed = "127.0.0.0/8",
                        std::chrono::milliseconds total = std::chrono::seconds(5)) {
        OutgoingClient client({parse_network(allowed)}, {.total = total});
        return client.post(parse_outgoing_url(url).value(), {{"Content-Type", "application/json"}},
                           R"({"a": 1})");
    }
    WebhookReceiver receiver;
};

TEST_F(Outgoing, a_message_arrives_and_its_status_is_told) {
    const OutgoingAnswer answer = post(receiver.url());
    EXPECT_EQ(answer.status, 200) << answer.error;
    ASSERT_EQ(receiver.messages().size(), 1U);
    EXPECT_EQ(receiver.messages()[0].body, R"({"a": 1})");
    receiver.status = 503;
    EXPECT_EQ(post(receiver.url()).status, 503);
}

TEST_F(Outgoing, a_neighbour_is_not_spoken_to_by_address_or_by_name) {
    const std::string port = std::to_string(receiver.port());
    for (const std::string host : {"127.0.0.1", "localhost", "2130706433", "0x7f000001", "[::1]",
                                   "[::ffff:127.0.0.1]", "0.0.0.0"}) {
        const OutgoingAnswer answer = post("http://" + host + ":" + port + "/hook", "10.0.0.0/8");
        EXPECT_FALSE(answer.status) << host;
    }
    EXPECT_TRUE(receiver.messages().empty());
    EXPECT_EQ(post("http://localhost:" + port + "/hook").status, 200);
}

// Goal: a user that sets a webhook does not learn which internal names there are.
TEST_F(Outgoing, a_name_that_is_unknown_looks_like_an_internal_one) {
    const auto error_of = [&](const std::string& host) {
        std::string error = post("http://" + host + "/hook", "10.0.0.0/8").error;
        const auto at = error.find(host);
        return at == std::string::npos ? error : error.replace(at, host.size(), "HOST");
    };
    EXPECT_EQ(error_of("localhost"), error_of("no-such-name.invalid"));
    EXPECT_NE(error_of("localhost").find("--webhook-allow"), std::string::npos);
}

TEST_F(Outgoing, redirects_are_not_followed_and_large_answers_not_kept) {
    EXPECT_EQ(post(receiver.url("/moved")).status, 307);
    EXPECT_TRUE(receiver.messages().empty());
    EXPECT_EQ(post(receiver.url("/large")).status, 200);
}

TEST_F(Outgoing, a_receiver_that_is_slow_or_away_ends_in_time) {
    const OutgoingAnswer slow =
        post(receiver.url("/slow"), "127.0.0.0/8", std::chrono::milliseconds(200));
    EXPECT_FALSE(slow.status);
    EXPECT_LT(slow.seconds, 5);
    EXPECT_NE(slow.error, "");
    const OutgoingAnswer away = post("http://127.0.0.1:1/");
    EXPECT_FALSE(away.status);
    EXPECT_NE(away.error.find("no connection"), std::string::npos) << away.error;
    EXPECT_FALSE(post("https://127.0.0.1:" + std::to_string(receiver.port()) + "/hook").status);
}

}    // namespace
}    // namespace slipway
