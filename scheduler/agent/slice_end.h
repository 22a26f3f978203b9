#pragma once

#include <vector>

#include "scheduler/store/attempts.h"

namespace slipway {

/// The code of an end that another member has caused.
inline constexpr const char* member_lost_code = "member_lost";

/// What the end of a member says of the others.
enum class MemberOutcome {
    fine,    ///< it has done what was asked, or saved and ended for want of an agent
    lost,    ///< it could not go on without another member
    own      ///< it is a cause: it failed, crashed or never started
};
MemberOutcome outcome_of(const store::AttemptEnd& end);

/// How an attempt on several hosts has ended, all of whose members have: as rank 0 says when it has
/// done what was asked; else as the member that is the root cause: one that failed by itself before
/// one that missed another one, then the first by time, then by rank. Rank and host are part of the
/// message. Pure.
store::AttemptEnd decide_slice_end(const std::vector<store::AttemptMember>& members);

}    // namespace slipway
