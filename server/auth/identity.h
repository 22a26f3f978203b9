#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/endpoints.h"
#include "api/spec/requests.h"
#include "scheduler/store/rights.h"

namespace slipway {

/// viewer reads, editor also writes, admin also manages members and tokens; of all projects also
/// projects and cores.
using Role = TokenRole;

/// Who asks. Made by the Authenticator from a token or a browser's session.
struct Identity {
    std::string token_id;    ///< tok_…
    std::string token_name;
    std::string member;                  ///< whose token it is; empty: nobody's
    std::vector<store::Grant> grants;    ///< none: it may nothing
    bool by_cookie = false;

    /// The most that it may in any project; none when it may nothing.
    std::optional<Role> role() const;
    /// In some project at least.
    bool may(Access access) const;
    bool may(Access access, std::string_view project) const;
    /// True when objects of this project exist for them.
    bool sees(std::string_view project) const { return may(Access::read, project); }
    /// True when it is of named projects, or of none: it has no say in what is of all.
    bool is_bound() const { return !store::is_of_all_projects(grants); }
    /// The projects in which they may, as list filters have them: empty means all.
    /// errors  throws 403 `permission_denied` when there is none
    std::vector<std::string> projects(Access access = Access::read) const;
};

/// Throws 403 `permission_denied` naming the role that is needed, when they have it in no project.
void require_access(const Identity& identity, Access access);

/// Throws 403 when they may not do this in `project`.
void require_project(const Identity& identity, Access access, std::string_view project);

}    // namespace slipway
