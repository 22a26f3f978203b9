// One row says who leads, until when, and in which term. Its clock is the database's alone. A lease
// by itself would leave the work undone for seconds after every restart of the service; so the
// leader also holds an advisory lock, named by its term, on a connection of its own: a lock that
// can be had says at once that its process has ended. The lock alone is not enough, because a
// frozen process keeps its connection, and with it the lock, without end.

#include "scheduler/store/pg/leader.h"

#include "api/base/id.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

constexpr std::size_t holder_bytes = 16;

}    // namespace

struct Leader::State {
    StoreOptions options;
    LeaderTerm term;    ///< 0: we do not lead
    std::chrono::milliseconds lease;
    std::string holder = random_hex(holder_bytes);
    std::unique_ptr<Connection> connection = nullptr;
    std::int64_t locked_term = 0;    ///< by this connection
};

Leader::Leader(const StoreOptions& options, std::string name, std::chrono::milliseconds lease)
    : state_(std::make_unique<State>(
          State{.options = options, .term = {.name = std::move(name)}, .lease = lease})) {
    state_->options.application_name += " leader";
}

Leader::~Leader() = default;

std::optional<LeaderTerm> Leader::lead() {
    try {
        // The lock went with a connection that the server has closed; the lease has not.
        if (!state_->connection || state_->connection->stale()) {
            state_->connection.reset();
            state_->locked_term = 0;
            state_->connection = std::make_unique<Connection>(state_->options);
        }
        const Rows rows = state_->connection->run(
            queries::lead, {state_->term.name, state_->holder, state_->lease, state_->locked_term});
        state_->term.number = rows.empty() ? 0 : rows[0].integer("term");
        state_->locked_term = !rows.empty() && rows[0].flag("locked") ? state_->term.number : 0;
    } catch (const Error&) {
        // Whether we lead is not known: the next call begins again.
        state_->connection.reset();
        state_->term.number = 0;
    }
    if (state_->term.number == 0) return std::nullopt;
    return state_->term;
}

void Leader::resign() {
    state_->connection.reset();
    state_->locked_term = 0;
    state_->term.number = 0;
}

}    // namespace slipway::store
