#include "server/http/router.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

Route row(Method method, const std::string& pattern) {
    return {
        .method = method, .pattern = pattern, .handler = [](const Request&) { return Response{}; }};
}

std::string found(const Router& router, Method method, const std::vector<std::string>& segments) {
    const RouteMatch match = router.match(method, segments);
    if (match.route == nullptr) return match.allowed.empty() ? "404" : "405";
    std::string text = match.route->pattern;
    for (const Pair& pair : match.parameters)
        text += " " + pair.name + "=" + pair.value;
    return text;
}

const Router& table() {
    static const Router router({row(Method::GET, "/"), row(Method::GET, "/jobs"),
                                row(Method::POST, "/jobs"), row(Method::GET, "/jobs/{id}"),
                                row(Method::DELETE, "/jobs/{id}"), row(Method::GET, "/jobs/stats"),
                                row(Method::POST, "/jobs/{id}/cancel"),
                                row(Method::GET, "/jobs/{id}/{part}")});
    return router;
}

TEST(Router, finds_rows_and_parameters) {
    using enum Method;
    EXPECT_EQ(found(table(), GET, {}), "/");
    EXPECT_EQ(found(table(), GET, {"jobs"}), "/jobs");
    EXPECT_EQ(found(table(), GET, {"jobs", "a b"}), "/jobs/{id} id=a b");
    EXPECT_EQ(found(table(), GET, {"jobs", "stats"}), "/jobs/stats");
    EXPECT_EQ(found(table(), POST, {"jobs", "x", "cancel"}), "/jobs/{id}/cancel id=x");
    EXPECT_EQ(found(table(), GET, {"jobs", "x", "cancel"}), "/jobs/{id}/{part} id=x part=cancel");
    EXPECT_EQ(found(table(), HEAD, {"jobs", "x"}), "/jobs/{id} id=x");
}

TEST(Router, tells_an_unknown_path_from_an_unknown_method) {
    using enum Method;
    EXPECT_EQ(found(table(), GET, {"nothing"}), "404");
    EXPECT_EQ(found(table(), GET, {"jobs", "x", "y", "z"}), "404");
    EXPECT_EQ(found(table(), GET, {"jobs", ""}), "404");
    EXPECT_EQ(found(table(), PUT, {"jobs"}), "405");
    EXPECT_EQ(table().match(PUT, std::vector<std::string>{"jobs", "stats"}).allowed,
              (std::vector{GET, DELETE, HEAD, OPTIONS}));
}

// A literal row without the method does not hide the parameter's row that has it.
TEST(Router, goes_on_to_less_literal_rows) {
    EXPECT_EQ(found(table(), Method::DELETE, {"jobs", "stats"}), "/jobs/{id} id=stats");
}

TEST(RouterDeathTest, mistakes_in_the_table_are_bugs) {
    using enum Method;
    EXPECT_DEATH(Router({row(GET, "/a/{x}"), row(GET, "/a/{y}")}), "same requests");
    EXPECT_DEATH(Router({row(GET, "a")}), "starts with /");
    EXPECT_DEATH(Router({row(GET, "/a//b")}), "empty");
    EXPECT_DEATH(Router({row(GET, "/a{x}")}), "whole part");
    EXPECT_DEATH(Router({row(HEAD, "/a")}), "HEAD");
}

}    // namespace
}    // namespace slipway
