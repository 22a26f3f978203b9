#include "scheduler/launcher/slurm/node_reach.h"

#include <gtest/gtest.h>

#include "api/base/error.h"
#include "scheduler/launcher/node_link/tcp.h"

namespace slipway {
namespace {

// For documentation (RFC 5737): no machine has it.
const ClusterNode other{.name = "other", .address = "192.0.2.7"};
const ClusterNode here{.name = "here", .address = "127.0.0.1"};

template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
        return error.what();
    }
    return {};
}

TEST(NodeReach, nodes_of_this_machine_are_not_elsewhere) {
    const auto found = nodes_elsewhere({here,
                                        {.name = "named", .address = "localhost"},
                                        other,
                                        {.name = "unknown", .address = "no-such-machine.invalid"}});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "other");
    EXPECT_EQ(found[1].name, "unknown");
}

TEST(NodeReach, loopback_is_enough_only_for_nodes_of_this_machine) {
    EXPECT_EQ(refusal([] { check_node_reach("127.0.0.1", {}); }), "");
    for (const char* address : {"127.0.0.1", "127.8.0.1"})
        EXPECT_NE(refusal([&] { check_node_reach(address, {other}); }).find("node other"),
                  std::string::npos)
            << address;
}

TEST(NodeReach, an_address_of_another_machine_is_refused) {
    EXPECT_NE(refusal([] { check_node_reach("192.0.2.8", {}); }).find("192.0.2.8"),
              std::string::npos);
    EXPECT_NE(refusal([] { check_node_reach("no address", {}); }), "");
}

TEST(NodeReach, a_port_that_another_program_has_is_refused) {
    const UniqueFd taken = listen_tcp("127.0.0.1", 0);
    EXPECT_NE(refusal([&] { check_listening_port("127.0.0.1", port_of(taken)); }), "");
    EXPECT_EQ(refusal([] { check_listening_port("127.0.0.1", 0); }), "");
}

}    // namespace
}    // namespace slipway
