#include "scheduler/agent/slice_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/base/check.h"
#include "scheduler/agent/attempt_end.h"

namespace slipway {

MemberOutcome outcome_of(const store::AttemptEnd& end) {
    const bool lost =
        end.exit_kind == member_lost_code || (end.reason && end.reason->code == member_lost_code);
    if (lost) return MemberOutcome::lost;
    const bool own = end.job_state == JobState::failed || end.exit_kind == "crashed" ||
                     end.exit_kind == "not_started" || end.exit_kind == "failed" ||
                     end.exit_kind == wrong_build_code;
    return own ? MemberOutcome::own : MemberOutcome::fine;
}

store::AttemptEnd decide_slice_end(const std::vector<store::AttemptMember>& members) {
    check(!members.empty() && std::ranges::all_of(members,
                                                  [](const store::AttemptMember& member) {
                                                      return member.end.has_value() &&
                                                             member.ended_at.has_value();
                                                  }),
          "all members of an attempt that ends have ended");
    const store::AttemptEnd& reported = *members.front().end;
    if (outcome_of(reported) == MemberOutcome::fine) return reported;
    const auto weight = [](const store::AttemptMember& member) {
        return std::tuple(-int(outcome_of(*member.end)), *member.ended_at, member.rank);
    };
    const auto cause = std::ranges::min_element(members, {}, weight);
    store::AttemptEnd end = *cause->end;
    const auto tell_where = [&](std::string& message) {
        message = fmt::format("rank {} on host {}: {}", cause->rank, cause->host, message);
    };
    tell_where(end.message);
    if (end.reason) tell_where(end.reason->message);
    return end;
}

}    // namespace slipway
