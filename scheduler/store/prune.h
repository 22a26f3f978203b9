#pragma once

#include "scheduler/store/store.h"

/// Removes rows past their time, one kind per call and `pruned_at_once` rows at most, the oldest
/// first. Each returns how many; as many as that: there may be more.
namespace slipway::store {

/// A batch takes far less than a statement may.
inline constexpr std::int64_t pruned_at_once = 1000;

/// Idempotency keys, after 24 hours.
std::int64_t prune_idempotency_keys(Store& store, const LeaderTerm& term = {});

/// Answered idempotency keys of a token beyond its newest `keep`.
std::int64_t prune_surplus_keys(Store& store, std::int64_t keep, const LeaderTerm& term = {});

/// Entries of the audit log that are older than `keep`.
std::int64_t prune_audit(Store& store, std::chrono::milliseconds keep, const LeaderTerm& term = {});

/// Links that sign in, after their time.
std::int64_t prune_login_tickets(Store& store, const LeaderTerm& term = {});

/// Browsers' sessions, after their time.
std::int64_t prune_sessions(Store& store, const LeaderTerm& term = {});

/// Uploads, after their time, unless a job that has not ended begins with them. Their files become
/// garbage.
std::int64_t prune_uploads(Store& store, const LeaderTerm& term = {});

}    // namespace slipway::store
