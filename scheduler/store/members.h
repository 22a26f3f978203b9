#pragma once

#include "api/spec/requests.h"
#include "scheduler/store/access.h"
#include "scheduler/store/store.h"

namespace slipway::store {

/// That a member works in a project, and as what.
struct Membership {
    std::string project{};
    std::string member{};
    TokenRole role = TokenRole::viewer;
    std::string changed_by{};    ///< tok_…: who gave the role
    Instant created_at{};
    Instant changed_at{};
};

/// By name.
Page<Membership> list_members(Store& store, std::string_view project, const PageRequest& page);
std::optional<Membership> find_membership(Store& store, std::string_view project,
                                          std::string_view member);

/// True when there is a member of this name, in one of these projects when some are named.
bool has_member(Store& store, std::string_view name, const std::vector<std::string>& projects);

/// Who changes the members of a project, and what is written of it.
struct MemberChange {
    std::string project{};
    std::string member{};
    /// Whose right to do so is asked again when it is done: the token may have lost it meanwhile.
    Right by{};
    /// The project may be left without an admin.
    bool may_take_last_admin = false;
    std::int64_t members_max = 0;    ///< of the project; 0: no limit
    AuditEntry audit{};              ///< its `detail` is set
};

/// Gives the member this role, in place of the one they have; a member who is new is made. Nothing
/// happens when they have it, and nothing is noted then.
/// errors  throws not_found when there is no such project, permission_denied when `by` is lost,
///         LastAdmin, exhausted above `members_max`
Membership set_member(Store& store, const MemberChange& change, TokenRole role);

/// Takes the role away. False when they have none in this project. errors  as set_member
bool remove_member(Store& store, const MemberChange& change);

}    // namespace slipway::store
