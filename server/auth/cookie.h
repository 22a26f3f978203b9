#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace slipway {

/// The session's secret that a browser sent; none when the request carries no such cookie, or it
/// cannot be one of ours.
std::optional<std::string> session_cookie(const Request& request);

/// Value of a Set-Cookie header: HttpOnly, SameSite=Lax, the whole site; over TLS also Secure and
/// named `__Host-slipway`, which a browser takes from this host alone. Without TLS `slipway`.
std::string set_session_cookie(const Request& request, std::string_view secret,
                               std::chrono::seconds keep);

/// Value of the Set-Cookie header that makes the browser forget.
std::string clear_session_cookie(const Request& request);

/// Value of a Set-Cookie header: `slipway-signed-in=1`, over TLS `__Host-slipway-signed-in=1`, for
/// the dashboard's script, which cannot see the session: without it nobody is signed in, and there
/// is nothing to ask for. It grants nothing and is never read here.
std::string set_signed_in_cookie(const Request& request, std::chrono::seconds keep);

/// Value of the Set-Cookie header that makes the browser forget it.
std::string clear_signed_in_cookie(const Request& request);

/// For unsafe methods of requests that a cookie authenticates: what another site makes a browser
/// send is refused. Sec-Fetch-Site must be same-origin; a browser too old for it must send an
/// Origin that is our own: the scheme that the client speaks, and the host it means.
/// errors  throws 403 `cross_site`
void require_same_origin(const Request& request);

}    // namespace slipway
