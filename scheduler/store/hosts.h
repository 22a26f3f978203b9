#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// Why a host takes no new job.
struct HostDrain {
    Instant at;
    std::string reason;
    std::string by;    ///< tok_… or empty
};

struct Host {
    std::string name{};
    std::string pool = "local";    ///< jobs may name it
    int cores = 8;
    int physical_cpus = 0;
    std::int64_t memory_bytes = 0;
    std::int64_t job_memory_bytes = 0;    ///< of all its jobs together; 0: no limit
    std::string instance{};        ///< of the process that speaks for it: random at each start
    std::string home{};            ///< id of its home folder, which one process has at a time
    std::vector<int> drained{};    ///< cores that take no new job
    std::optional<HostDrain> drain{};    ///< none: it takes jobs
    Instant heartbeat_at{};
    /// How long ago the heartbeat was, by database time.
    std::chrono::milliseconds silent_for{0};
};

/// How the database sees this process.
struct DatabaseClient {
    Instant now{};            ///< by the database's clock
    std::string address{};    ///< from which we reach it, or a proxy does; empty: a Unix socket
};
DatabaseClient find_client(Store& store);

/// Makes the host known or updates what it offers; drained cores stay drained. Counts as a
/// heartbeat. Error{conflict} while a process with another home folder speaks for the host: one
/// that sent a heartbeat within `silence_max`. A host that was removed, under this name or with
/// this home folder, joins again with a join token, and Error{conflict} without a good one; a new
/// one that names a token needs a good one. A host that has joined uses none.
///   join_token  sha256 of its text; empty: none
void register_host(Store& store, const Host& host,
                   std::chrono::milliseconds silence_max = std::chrono::seconds{10},
                   std::string_view join_token = {});

/// A heartbeat. False when another process has registered the host since: write nothing more for
/// it.
bool record_heartbeat(Store& store, std::string_view name, std::string_view instance);

std::vector<Host> list_hosts(Store& store);

/// One virtual core, and who holds it.
struct Core {
    std::string host;
    std::string pool{};    ///< of its host
    int core = 1;
    bool drained = false;          ///< by itself, whatever its host is
    std::string drain_reason{};    ///< why the service drained it, or would have; may be empty
    std::optional<HostDrain> host_drain;
    bool alive = true;                    ///< its host sent a heartbeat within `silence_max`
    std::int64_t job_memory_bytes = 0;    ///< Host's
    std::string job_id;                   ///< empty: free
    /// That this job asks for; none: the share of its cores.
    std::optional<std::int64_t> memory_bytes;
    int attempt = 0;
    std::optional<Instant> leased_at;
    std::optional<Instant> lease_expires_at;
};

/// Every core of every host, by host and number.
std::vector<Core> list_cores(Store& store,
                             std::chrono::milliseconds silence_max = std::chrono::seconds{10});

/// Stops or lets new jobs onto a core; a running one is not touched. What the service has found
/// about it is forgotten: failures count from now on. `reason` is shown with it. False when there
/// is none.
bool drain_core(Store& store, std::string_view host, int core, bool drained,
                std::string_view reason = {});

/// A core on which job after job crashes while the same work goes well elsewhere.
struct FailingCore {
    std::string host{};
    int core = 1;
    bool drained = false;    ///< false: it is the last one that takes jobs
    std::string reason{};
};
/// Drains the core on which `failures_min` or more jobs have crashed in a row, one core at a time,
/// unless no other one would be left; what is news is audited as core.drain. Returns it when it is
/// news.
std::optional<FailingCore> drain_failing_core(Store& store, int failures_min,
                                              const LeaderTerm& term = {});

/// Stops new jobs on all cores of a host; running ones are not touched. A host that is drained
/// already stays so from then on, for the new reason. False when there is none.
bool drain_host(Store& store, std::string_view name, std::string_view reason, std::string_view by);
/// Lets jobs onto the host again, but for its drained cores. False when there is none.
bool undrain_host(Store& store, std::string_view name);

/// Takes the host out of the service: it is listed no more, and its agent runs no jobs until it
/// joins again. False when there is none. Error{conflict} while attempts run there, naming their
/// jobs, or while it is neither drained nor silent for `silence_max`.
bool remove_host(Store& store, std::string_view name, std::string_view by,
                 std::chrono::milliseconds silence_max = std::chrono::seconds{10});

/// Lets hosts join. Ends with its last use, its time and the token that made it.
struct JoinToken {
    std::string id{};        ///< hjt_…
    std::string sha256{};    ///< of its text
    std::string host{};      ///< that it is for; empty: any
    int uses = 1;
    std::string created_by{};    ///< tok_…
    Instant expires_at{};
};
void create_join_token(Store& store, const JoinToken& token);
/// Forgets those that ended more than a day ago.
std::int64_t prune_join_tokens(Store& store);

/// Which user a project's executors run as: a number from 1 on that never changes. None after
/// 60,000 projects.
std::optional<int> executor_number(Store& store, std::string_view project);

/// A folder or file that no row names any more: checkpoints/<job_id>[/<name>], runs/<job_id>,
/// datasets/<id>, uploads/<id>, relative to the kind's root. Remove it, then forget it.
struct Garbage {
    std::int64_t id = 0;
    std::string path;
    int tries = 0;    ///< that did not remove it
    /// False: it was on a host that has been silent for an hour. It is gone only where it was
    /// found.
    bool own = true;
};

/// What `host` may remove now, the longest due first: its own, what hosts share, and that of hosts
/// that are gone.
std::vector<Garbage> list_garbage(Store& store, std::string_view host, int limit = 100);

/// Could not be removed: due again in 10 s, 20 s, 40 s … up to an hour.
void postpone_garbage(Store& store, const std::vector<std::int64_t>& ids);

void forget_garbage(Store& store, const std::vector<std::int64_t>& ids);

}    // namespace slipway::store
