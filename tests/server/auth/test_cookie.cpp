#include "server/auth/cookie.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/auth/token.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

Request request_with(std::vector<Pair> headers, Method method = Method::POST, bool secure = false) {
    Request request;
    request.method = method;
    request.headers = std::move(headers);
    request.secure = secure;
    return request;
}

TEST(Cookie, the_session_is_found_among_other_cookies) {
    const std::string secret = make_secret();
    EXPECT_EQ(session_cookie(request_with({{"cookie", "a=b; slipway=" + secret + ";c=d"}})),
              secret);
    EXPECT_EQ(session_cookie(request_with({{"cookie", "a=b"}, {"cookie", "slipway=" + secret}})),
              secret);
    EXPECT_EQ(
        session_cookie(request_with({{"cookie", "__Host-slipway=" + secret}}, Method::GET, true)),
        secret);
}

TEST(Cookie, what_cannot_be_ours_is_ignored) {
    const std::string secret = make_secret();
    for (const std::string& value :
         {std::string(), std::string("slipway"), std::string("slipway="), "slipway=" + secret + "x",
          "Slipway=" + secret, "xslipway=" + secret, "slipway=../" + secret.substr(3)})
        EXPECT_FALSE(session_cookie(request_with({{"cookie", value}})).has_value()) << value;
    // Over TLS only the cookie that a browser takes from this host alone counts.
    EXPECT_FALSE(
        session_cookie(request_with({{"cookie", "slipway=" + secret}}, Method::GET, true)));
    EXPECT_FALSE(session_cookie(request_with({})).has_value());
}

TEST(Cookie, what_is_set_is_closed_to_scripts_and_other_sites) {
    const Request plain = request_with({});
    EXPECT_EQ(set_session_cookie(plain, "abc", std::chrono::seconds{60}),
              "slipway=abc; Path=/; Max-Age=60; SameSite=Lax; HttpOnly");
    const Request secure = request_with({}, Method::POST, true);
    EXPECT_EQ(set_session_cookie(secure, "abc", std::chrono::seconds{60}),
              "__Host-slipway=abc; Path=/; Max-Age=60; SameSite=Lax; Secure; HttpOnly");
    EXPECT_EQ(clear_session_cookie(plain), "slipway=; Path=/; Max-Age=0; SameSite=Lax; HttpOnly");
}

TEST(Cookie, scripts_see_that_somebody_is_signed_in_and_no_secret) {
    const Request plain = request_with({});
    EXPECT_EQ(set_signed_in_cookie(plain, std::chrono::seconds{60}),
              "slipway-signed-in=1; Path=/; Max-Age=60; SameSite=Lax");
    const Request secure = request_with({}, Method::POST, true);
    EXPECT_EQ(set_signed_in_cookie(secure, std::chrono::seconds{60}),
              "__Host-slipway-signed-in=1; Path=/; Max-Age=60; SameSite=Lax; Secure");
    EXPECT_EQ(clear_signed_in_cookie(plain), "slipway-signed-in=; Path=/; Max-Age=0; SameSite=Lax");
    // It is no session.
    EXPECT_FALSE(session_cookie(request_with({{"cookie", "slipway-signed-in=" + make_secret()}})));
}

struct OriginCase {
    std::string host;
    bool secure;
    std::vector<Pair> headers;
    bool taken;
};

TEST(Cookie, unsafe_methods_must_come_from_our_own_pages) {
    const std::vector<OriginCase> cases{
        {"h:1", false, {{"sec-fetch-site", "same-origin"}}, true},
        {"h:1", false, {{"sec-fetch-site", "same-site"}}, false},
        {"h:1", false, {{"sec-fetch-site", "cross-site"}}, false},
        {"h:1", false, {{"sec-fetch-site", "none"}}, false},
        {"h:1", false, {{"sec-fetch-site", "cross-site"}, {"origin", "http://h:1"}}, false},
        {"h:1", false, {{"origin", "http://h:1"}}, true},
        {"h:1", false, {{"origin", "https://h:1"}}, false},
        {"h:1", true, {{"origin", "https://h:1"}}, true},
        {"h:1", true, {{"origin", "http://h:1"}}, false},
        {"H:443", true, {{"origin", "https://h"}}, true},
        {"h:80", false, {{"origin", "http://h"}}, true},
        {"h:80", true, {{"origin", "https://h"}}, false},
        {"h", true, {{"origin", "https://h"}}, true},
        {"h", true, {{"origin", "chrome-extension://h"}}, false},
        {"h:1", false, {{"origin", "http://h:2"}}, false},
        {"h:1", false, {{"origin", "http://h:1.evil"}}, false},
        {"h:1", false, {{"origin", "null"}}, false},
        {"h:1", false, {}, false},
        {"", false, {{"origin", "http://"}}, false},
        {"", false, {}, false},
    };
    for (const OriginCase& one : cases) {
        for (const Method method : {Method::POST, Method::PUT, Method::PATCH, Method::DELETE}) {
            Request request = request_with(one.headers, method);
            request.host = one.host;
            request.secure = one.secure;
            if (one.taken)
                EXPECT_NO_THROW(require_same_origin(request));
            else
                EXPECT_THROW(require_same_origin(request), ProblemError);
        }
        EXPECT_NO_THROW(require_same_origin(request_with(one.headers, Method::GET)));
    }
}

}    // namespace
}    // namespace slipway
