#include "api/base/check.h"
#include "server/auth/cookie.h"
#include "server/auth/token.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {
namespace {

std::optional<std::string> secret_in(const Request& request, std::string_view name) {
    const std::optional<std::string> secret = session_cookie(request);
    if (!secret) return std::nullopt;
    check(is_secret(*secret), "a session's secret is one that we can have made");
    const std::string sent = std::string(name) + "=" + *secret;
    check(request.headers[0].value.find(sent) != std::string::npos ||
              request.headers[1].value.find(sent) != std::string::npos,
          "a session's secret was sent under its name");
    return secret;
}

}    // namespace

std::string run_cookie(std::span<const std::byte> input) {
    const auto [first, second] = two_parts(input);
    Request request;
    request.headers = {{"cookie", first}, {"cookie", second}};
    const auto plain = secret_in(request, "slipway");
    request.secure = true;
    const auto secure = secret_in(request, "__Host-slipway");
    return "plain: " + plain.value_or("none") + "; secure: " + secure.value_or("none");
}

}    // namespace slipway
