#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "api/spec/endpoints.h"
#include "server/routes/table.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

// Goal: the description and the program are the same. Nothing is served that is not described,
// nothing is described that is not served.
TEST(Contract, every_endpoint_has_a_handler_and_every_handler_an_endpoint) {
    std::set<std::string_view> described;
    for (const Endpoint& endpoint : endpoints())
        EXPECT_TRUE(described.insert(endpoint.name).second) << endpoint.name << " twice";
    std::set<std::string_view> served;
    for (const RouteRow& row : route_rows()) {
        EXPECT_TRUE(served.insert(row.endpoint).second) << row.endpoint << " twice";
        EXPECT_NE(row.route.function, nullptr) << row.endpoint;
    }
    EXPECT_EQ(described, served);
    for (const RouteAlias& alias : route_aliases())
        EXPECT_TRUE(described.contains(alias.endpoint)) << alias.path;
}

TEST(Contract, what_changes_something_needs_the_right_to_write) {
    // Open ones prove who asks by their body or cookie; a link has only the rights of its token.
    const std::set<std::string_view> free{"login", "logout", "create_login_link"};
    for (const Endpoint& endpoint : endpoints()) {
        if (endpoint.method == "GET" || free.contains(endpoint.name)) continue;
        EXPECT_GE(endpoint.access, Access::write) << endpoint.name;
    }
}

TEST(Contract, the_guide_shows_every_endpoint) {
    const std::string guide = read_file(std::string(SLIPWAY_SOURCE_DIR) + "/docs/api.md");
    for (const Endpoint& endpoint : endpoints()) {
        if (endpoint.name == "login_by_link") continue;    // what a browser opens
        // The longest stretch of the path that has no {name} in it.
        std::string_view rest = endpoint.path;
        std::string_view longest;
        while (!rest.empty()) {
            const std::size_t brace = std::min(rest.find('{'), rest.size());
            if (brace > longest.size()) longest = rest.substr(0, brace);
            const std::size_t close = rest.find('}');
            rest = close == std::string_view::npos ? std::string_view{} : rest.substr(close + 1);
        }
        EXPECT_NE(guide.find(longest), std::string::npos) << endpoint.path;
    }
}

}    // namespace
}    // namespace slipway
