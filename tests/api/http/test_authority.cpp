#include "api/http/authority.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Authority, host_and_port_are_read_and_written) {
    struct Case {
        const char* text;
        const char* host;
        int port;
        const char* written;
    };
    for (const Case& one :
         {Case{"a", "a", 80, "a"}, Case{"a-1.b_2:8080", "a-1.b_2", 8080, "a-1.b_2:8080"},
          Case{"[::1]", "::1", 80, "[::1]"}, Case{"[::1]:81", "::1", 81, "[::1]:81"},
          Case{"a:80", "a", 80, "a"}, Case{"a:", "a", 80, "a"},
          Case{"[fe80::1%eth0]:8470", "fe80::1%eth0", 8470, "[fe80::1%eth0]:8470"},
          Case{"a:65535", "a", 65535, "a:65535"}}) {
        const auto authority = parse_authority(one.text, 80);
        ASSERT_TRUE(authority) << one.text;
        EXPECT_EQ(authority->host, one.host);
        EXPECT_EQ(authority->port, one.port);
        EXPECT_EQ(to_string(*authority, 80), one.written);
    }
    EXPECT_EQ(to_string(Authority{"a", 80}), "a:80");
}

TEST(Authority, others_are_refused) {
    for (const char* text :
         {"", ":80", "a:0", "a:65536", "a:8a", "a:-1", "a:+1", "a: 1", "u@a", "a b", "a%2f", "a/b",
          "::1", "a:b:1", "[a]", "[::1", "[::1]x", "[]:1", "ä"})
        EXPECT_FALSE(parse_authority(text, 80)) << text;
}

}    // namespace
}    // namespace slipway
