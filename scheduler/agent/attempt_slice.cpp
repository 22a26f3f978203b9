// What is different about an attempt that has members on several hosts. The agents speak to each
// other through the attempt's rows in the database, under its fence, so that nothing more has to be
// reachable than the database: each stores what its member offers to the others (its addresses),
// brings what they offer, and stores how its own member has ended. When one has ended, the others
// get a short while to notice by themselves, since they know best in what they were interrupted,
// and are killed then. Rank 0 reports for all and is asked to stop or to save; its agent ends the
// attempt when every member has ended, so that no core is given away while a process still has it.
// A member that has ended keeps its leases until then.
#include <algorithm>

#include "api/base/log.h"
#include "api/base/sha256.h"
#include "scheduler/agent/attempt_reconciler.h"
#include "scheduler/agent/slice_end.h"
#include "scheduler/agent/slice_rendezvous.h"

namespace slipway {

namespace {

constexpr double meeting_max_s = 60;

bool is_relayed_of_other_ranks(std::string_view type) {
    return type == "log" || type == "warning";
}

}    // namespace

MemberOrder AttemptReconciler::member_order(const store::HostAttempt& found,
                                            const Live& live) const {
    MemberOrder order{.rank = found.rank,
                      .hosts = {},
                      .rendezvous_folder = (live.folder / rendezvous_folder).string(),
                      // The fence itself is for agents.
                      .secret = sha256_hex("members of " + found.attempt.fence),
                      .bind_address = options_.slice_address,
                      .timeout_s = meeting_max_s};
    for (const store::AttemptMember& member : found.attempt.members)
        order.hosts.push_back(member.host);
    return order;
}

bool AttemptReconciler::is_asked(const Live& live, Intent intent) {
    return live.rank == 0 || !meaning_of(intent).saves;
}

/// Another member has ended, so that this one cannot go on.
bool AttemptReconciler::is_left_alone(const store::HostAttempt& found) {
    return std::ranges::any_of(found.attempt.members, [&](const store::AttemptMember& member) {
        if (member.rank == found.rank || !member.end) return false;
        return member.rank == 0 || outcome_of(*member.end) != MemberOutcome::fine;
    });
}

void AttemptReconciler::update_member(const store::HostAttempt& found, Live& live) {
    const std::vector<store::AttemptMember>& members = found.attempt.members;
    const bool all_ended = std::ranges::all_of(
        members, [](const store::AttemptMember& member) { return member.end.has_value(); });
    if (all_ended) live.ended_members = members;
    if (live.ended) return;
    if (found.member().rendezvous.empty()) {
        if (const auto offer = read_offer(live.folder, live.rank))
            store::offer_rendezvous(store_, live.key, live.rank, *offer);
    }
    for (const store::AttemptMember& other : members) {
        if (other.rank == live.rank || other.rendezvous.empty()) continue;
        if (live.met.contains(other.rank)) continue;
        bring_offer(live.folder, other.rank, other.rendezvous);
        live.met.insert(other.rank);
    }
    if (!is_left_alone(found)) return;
    const Tick now = clock_.tick();
    if (!live.alone_since) live.alone_since = now;
    if (now - *live.alone_since >= options_.stop_term)
        supervisor_.kill(live.name(), EndCause::member_lost);
}

/// Its log lines, with the rank; rank 0 reports everything else.
void AttemptReconciler::keep_member_frames(const Live& live,
                                           std::vector<store::RelayedFrame>& frames) {
    if (live.rank == 0) return;
    for (store::RelayedFrame& frame : frames) {
        store::RelayedFrame kept{.number = frame.number};
        for (store::RelayedEvent& event : frame.events) {
            if (!is_relayed_of_other_ranks(event.type)) continue;
            Json body = Json::parse(event.body, nullptr, false);
            if (!body.is_object()) continue;
            body["rank"] = live.rank;
            event.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
            kept.events.push_back(std::move(event));
        }
        frame = std::move(kept);
    }
}

/// Stores how the member has ended; the agent of rank 0 ends the attempt when all have.
void AttemptReconciler::finish_member(Live& live) {
    try {
        if (!live.member_stored) {
            const store::AttemptEnd end = own_end(live);
            note_start(live, end);
            store::end_member(store_, live.key, live.rank, end);
            live.member_stored = true;
            log_info("a member of a slice ended", {{"job_id", live.key.job_id},
                                                   {"attempt", live.key.attempt},
                                                   {"rank", live.rank},
                                                   {"how", end.exit_kind},
                                                   {"message", end.message}});
        }
        if (live.rank != 0 || live.ended_members.empty()) return;
    } catch (const store::Fenced&) {
        give_up(live);
        return;
    }
    store::AttemptEnd end = decide_slice_end(live.ended_members);
    if (live.stepped && end.crash_key == member_lost_code) end.crash_key.clear();    // they had met
    finish_with(live, end);
}

}    // namespace slipway
