#include "server/http/origin.h"

#include <gtest/gtest.h>

#include "api/base/error.h"

namespace slipway {
namespace {

namespace ip = boost::asio::ip;

TEST(Networks, hold_the_addresses_with_the_same_leading_bits) {
    const struct {
        const char *network, *address;
        bool inside;
    } cases[]{
        {"10.0.0.0/8", "10.255.0.1", true},
        {"10.0.0.0/8", "11.0.0.1", false},
        {"10.0.0.0/8", "::ffff:10.1.2.3", true},
        {"192.168.1.7", "192.168.1.7", true},
        {"192.168.1.7", "192.168.1.6", false},
        {"192.168.1.4/30", "192.168.1.7", true},
        {"192.168.1.4/30", "192.168.1.8", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"fd00::/8", "fd12::1", true},
        {"fd00::/8", "fe80::1", false},
        {"::/0", "1.2.3.4", true},
        {"::1", "::1", true},
    };
    for (const auto& row : cases)
        EXPECT_EQ(contains(parse_network(row.network), ip::make_address(row.address)), row.inside)
            << row.network << " " << row.address;
    for (const char* bad :
         {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "a/8", "10.0.0.0/-1"})
        EXPECT_THROW(parse_network(bad), Error) << bad;
}

struct Asked {
    std::string client, host;
    bool secure = false;
    bool operator==(const Asked&) const = default;
};

Asked asked(const std::vector<Pair>& headers, const char* peer = "10.0.0.1", bool secure = false) {
    RequestHead head;
    head.host = "inside:8470";
    head.headers = headers;
    const auto found =
        origin_of(head, ip::make_address(peer), secure, {parse_network("10.0.0.0/24")});
    if (const auto* refusal = std::get_if<Refusal>(&found))
        return {std::string(refusal->code), "", false};
    const Origin& origin = std::get<Origin>(found);
    return {shown_address(origin.client), origin.host, origin.secure};
}

TEST(Origins, a_trusted_proxy_says_whose_request_it_is) {
    const std::vector<Pair> told{{"x-forwarded-for", "6.6.6.6, 203.0.113.9"},
                                 {"x-forwarded-proto", "https"},
                                 {"x-forwarded-host", "train.example.org"}};
    EXPECT_EQ(asked(told), (Asked{"203.0.113.9", "train.example.org", true}));
    EXPECT_EQ(asked({}), (Asked{"10.0.0.1", "inside:8470", false}));
    EXPECT_EQ(asked({{"x-forwarded-for", "203.0.113.9, 10.0.0.7"}}).client, "203.0.113.9")
        << "a second trusted proxy";
    EXPECT_EQ(
        asked({{"x-forwarded-for", "203.0.113.9"}, {"x-forwarded-for", "198.51.100.2"}}).client,
        "198.51.100.2")
        << "the last one was added last";
    EXPECT_EQ(asked({{"x-forwarded-for", "10.0.0.9"}}).client, "10.0.0.9");
    EXPECT_EQ(asked({{"x-forwarded-for", "[2001:db8::1]:443"}}).client, "2001:db8::1");
    EXPECT_EQ(asked({{"x-forwarded-for", "203.0.113.9:4711"}}).client, "203.0.113.9");
}

TEST(Origins, anybody_else_is_not_believed) {
    const std::vector<Pair> told{{"x-forwarded-for", "203.0.113.9"},
                                 {"x-forwarded-proto", "https"},
                                 {"x-forwarded-host", "train.example.org"}};
    EXPECT_EQ(asked(told, "192.0.2.1"), (Asked{"192.0.2.1", "inside:8470", false}));
    EXPECT_EQ(asked(told, "192.0.2.1", true), (Asked{"192.0.2.1", "inside:8470", true}));
    EXPECT_EQ(asked({{"forwarded", "for=203.0.113.9;proto=https"}}),
              (Asked{"10.0.0.1", "inside:8470", false}));
}

TEST(Origins, what_a_proxy_cannot_mean_is_refused) {
    for (const Pair& bad : {Pair{"x-forwarded-for", "somebody"}, Pair{"x-forwarded-for", "[::1"},
                            Pair{"x-forwarded-proto", "gopher"}, Pair{"x-forwarded-host", "a b"}})
        EXPECT_EQ(asked({bad}).client, "bad_forwarded") << bad.name << bad.value;
}

TEST(Hosts, only_our_names_and_addresses_are_ours) {
    const std::vector<std::string> names{"train.example.org", "gpu7"};
    for (const char* ours : {"train.example.org", "Train.Example.ORG:8470", "gpu7:1", "localhost",
                             "LOCALHOST:9000", "127.0.0.1:8470", "127.9.9.9", "[::1]:8470", "",
                             "192.168.1.7:8470", "train.example.org."})
        EXPECT_TRUE(is_our_host(ours, names)) << ours;
    for (const char* other :
         {"evil.example", "train.example.org.evil.example", "localhost.evil.example",
          "127.0.0.1.evil.example:8470", "evil.example:127"})
        EXPECT_FALSE(is_our_host(other, names)) << other;
    EXPECT_TRUE(is_our_host("evil.example", {})) << "without names any is taken";
}

}    // namespace
}    // namespace slipway
