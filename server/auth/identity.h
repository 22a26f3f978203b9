#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/spec/endpoints.h"
#include "api/spec/requests.h"

namespace slipway {

/// viewer reads, editor also writes, admin also manages tokens and cores.
using Role = TokenRole;

/// Who asks. Made by the Authenticator from a token or a browser's session.
struct Identity {
    std::string token_id;    ///< tok_…
    std::string token_name;
    Role role = Role::viewer;
    std::vector<std::string> projects;    ///< empty: all
    bool by_cookie = false;

    bool may(Access access) const;
    /// True when objects of this project exist for them.
    bool sees(std::string_view project) const;
};

/// Throws 403 `permission_denied` naming the role that is needed.
void require_access(const Identity& identity, Access access);

/// Throws 403 when they may not put things into `project`.
void require_project(const Identity& identity, std::string_view project);

}    // namespace slipway
