#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/error.h"

/// Everything the service remembers, in domain words. Plain structs and free functions that take a
/// Store&; one header per resource: jobs.h queue.h attempts.h relay.h events.h metrics/
/// checkpoints.h datasets.h hosts.h access.h idempotency.h prune.h.
///
/// What holds for every function here, unless it says otherwise:
/// - safe from every thread; blocks the caller for one or two round trips to the database;
/// - one call is one transaction: it happened wholly or not at all;
/// - text from users is only ever a parameter, never part of a statement;
/// - throws Error{unavailable} when the database is down (within 50 ms once that is known), busy or
///   too slow; Error{invalid_argument} for text that the database cannot hold (NUL, broken UTF-8);
/// - time is the database's: no leases, no deadlines are compared with this machine's clock.
namespace slipway::store {

/// Well-formed JSON text, of the kind the comment beside it says. Parse it with parse_json.
using JsonText = std::string;

class Pool;
class Transaction;
template <class Item>
class GroupCommit;
struct EndedOne;
struct SubmittedOne;
struct SharedReads;

/// How to reach the database, and what every session of it is bound by.
struct StoreOptions {
    std::string database{};    ///< libpq URL or key=value text: postgresql:///slipway?host=/run/x
    std::string application_name = "slipwayd";
    int connections_max = 8;
    std::chrono::milliseconds connect_timeout{2000};
    std::chrono::milliseconds statement_timeout{5000};
    std::chrono::milliseconds lock_timeout{2000};
    std::chrono::milliseconds idle_in_transaction_timeout{10000};
    /// How long a caller waits for a free connection before Error{unavailable}.
    std::chrono::milliseconds acquire_timeout{2000};
};

/// What has become of a dataset, a split or, deleted, a job.
struct ObjectChange {
    std::string id{};
    std::string project{};
    std::string state{};    ///< "deleted": it is gone
    bool operator==(const ObjectChange&) const = default;
};

/// The door to the database: a pool of connections, and the voice that says "this job changed".
/// Making one does not connect: it never throws because the database is down.
class Store {
public:
    /// Throws Error{invalid_argument} when options.database cannot be an address.
    explicit Store(StoreOptions options);
    ~Store();
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    /// One round trip; throws Error{unavailable} when the database does not answer. For /readyz.
    void ping();
    /// How long the database has answered without a break; nothing while it is down. Another
    /// host's leases are rescued only after this exceeds one lease time.
    std::optional<std::chrono::milliseconds> connected_for() const;

    const StoreOptions& options() const { return options_; }
    /// For the functions of this module.
    Pool& pool() { return *pool_; }
    GroupCommit<SubmittedOne>& submissions() { return *submissions_; }
    GroupCommit<EndedOne>& ends() { return *ends_; }
    SharedReads& shared_reads() { return *shared_reads_; }

    /// Tells every Listener (of every process) that something about `topic` changed: a job id, or
    /// one of the words in `topics`. Coalesced (a job id waits up to 25 ms for others), sent from a
    /// thread of its own, never in a caller's transaction; lost while the database is down: whoever
    /// waits polls as well. The functions of this module call it themselves after each commit.
    void announce(std::string_view topic);
    /// As announce, of an object with its new state: readers need not ask for it.
    void announce(const ObjectChange& change);

private:
    struct Announcer;
    const StoreOptions options_;
    std::unique_ptr<Pool> pool_;
    std::unique_ptr<Announcer> announcer_;
    std::unique_ptr<GroupCommit<SubmittedOne>> submissions_;
    std::unique_ptr<GroupCommit<EndedOne>> ends_;
    std::unique_ptr<SharedReads> shared_reads_;
};

/// Payloads other than a job id that a Listener can hear.
namespace topics {
inline constexpr std::string_view queue = "queue";    ///< a job was queued or a core became free
inline constexpr std::string_view datasets =
    "datasets";                                         ///< a dataset or a split waits for an agent
inline constexpr std::string_view tokens = "tokens";    ///< a token lost rights
}    // namespace topics

/// The change that a topic of Store::announce(ObjectChange) tells; none for other topics.
std::optional<ObjectChange> parse_object_change(std::string_view topic);

/// Why a job is in its state: {"code": "nan_loss", "message": "…"}.
struct Reason {
    std::string code{};
    std::string message{};
};

/// Names one attempt and proves the right to write for it.
struct AttemptKey {
    std::string job_id{};
    int attempt = 0;        ///< 1, 2, 3 … within the job
    std::string fence{};    ///< 32 hexadecimal characters
    bool operator==(const AttemptKey&) const = default;
};

/// The right to do the periodic work of a database: what a Leader has (pg/leader.h). What is
/// written with it is written in this term or not at all.
struct LeaderTerm {
    std::string name{};
    std::int64_t number = 0;    ///< 0: without a term, so nothing is checked; for tests and tools
};

/// Another process has become the leader: nothing was written.
class LeaderReplaced : public Error {
public:
    explicit LeaderReplaced(const std::string& message);
};

/// The attempt has ended or another one has taken its place: stop the executor, write nothing.
class Fenced : public Error {
public:
    explicit Fenced(const AttemptKey& key);
};

/// The job may not go where it was sent (conflict; "illegal_transition" on the wire).
class IllegalTransition : public Error {
public:
    IllegalTransition(std::string from, std::string to);
    const std::string& from() const { return from_; }    ///< the job's present state
    const std::string& to() const { return to_; }

private:
    std::string from_;
    std::string to_;
};

/// The job's project has no right to its class (invalid_argument).
class ClassNotAllowed : public Error {
public:
    ClassNotAllowed(const std::string& message, std::string wanted, std::string allowed);
    const std::string& wanted() const { return wanted_; }
    const std::string& allowed() const {
        return allowed_;
    }    ///< the most urgent class it may have

private:
    std::string wanted_;
    std::string allowed_;
};

/// A project would be left without an admin (conflict).
class LastAdmin : public Error {
public:
    LastAdmin(std::string_view project, std::string_view member);
};

/// A part of a list: what to ask for. `cursor` is empty or a Page's `next_cursor`, as the client
/// sent it: one that was damaged, or made for another order or filter, is Error{invalid_argument}.
struct PageRequest {
    int limit = 50;    ///< 1 to 200
    std::string cursor{};
};

/// A part of a list. `next_cursor` is empty at the end.
template <class T>
struct Page {
    std::vector<T> items;
    std::string next_cursor;
};

}    // namespace slipway::store
