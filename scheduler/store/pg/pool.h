#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "scheduler/store/pg/connection.h"

namespace slipway::store {

/// Connections shared by threads. When a connection cannot be made and no other lives, or a
/// statement got no answer at all in its time, the pool is *down*: callers get Error{unavailable}
/// at once, while one thread tries to connect, with growing jittered pauses, until the database
/// answers again.
class Pool {
public:
    explicit Pool(const StoreOptions& options);
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    /// A borrowed connection; goes back when it is destroyed. The pool outlives it.
    class Lease {
    public:
        Lease(Pool& pool, std::unique_ptr<Connection> connection)
            : pool_(&pool), connection_(std::move(connection)) {}
        Lease(Lease&& other) noexcept = default;
        ~Lease() {
            if (connection_) pool_->put_back(std::move(connection_));
        }
        Connection& operator*() const { return *connection_; }
        Connection* operator->() const { return connection_.get(); }

    private:
        Pool* pool_;
        std::unique_ptr<Connection> connection_;
    };

    /// Waits up to options.acquire_timeout for a free connection; not at all while down.
    Lease acquire();

    /// See Store::connected_for.
    std::optional<std::chrono::milliseconds> connected_for() const;

private:
    std::unique_ptr<Connection> take(std::unique_lock<std::mutex>& lock);
    /// None when it is refused.
    std::unique_ptr<Connection> connect(std::unique_lock<std::mutex>& lock);
    void put_back(std::unique_ptr<Connection> connection);
    void go_down();
    void probe(const std::stop_token& stop);

    const StoreOptions& options_;    // the Store's, which outlives its pool
    mutable std::mutex mutex_;
    std::condition_variable changed_;    ///< a connection may be had, or there is none
    /// The prober's own: a connection that is put back shall not wake it.
    std::condition_variable_any went_down_;
    // Guarded by mutex_:
    std::vector<std::unique_ptr<Connection>> idle_;
    int open_ = 0;    ///< idle, borrowed and being made
    bool down_ = false;
    std::optional<Tick> up_since_;
    std::string last_error_;

    std::jthread prober_;
};

/// Runs `body(Transaction&)` and commits unless it did so itself (to save a round trip). Again, at
/// most twice, after a deadlock or when the connection broke before the commit was sent: so `body`
/// must be free of other effects.
template <class Body>
auto transact(Pool& pool, const Body& body) {
    for (int tries_left = 2;; --tries_left) {
        const Pool::Lease lease = pool.acquire();
        Transaction transaction(*lease);
        try {
            if constexpr (std::is_void_v<decltype(body(transaction))>) {
                body(transaction);
                if (!transaction.done()) transaction.commit();
                return;
            } else {
                auto answer = body(transaction);
                if (!transaction.done()) transaction.commit();
                return answer;
            }
        } catch (const PgError& error) {
            // The two failures that say nothing about the statements themselves.
            const bool lost = error.sqlstate().empty() && !transaction.committing();
            if (tries_left == 0 || !(error.transient() || lost)) throw;
        }
    }
}

/// One statement that only reads: sent again when the connection turns out to be dead.
Rows read(Pool& pool, const Statement& statement);
Rows read(Pool& pool, const Query& query, std::initializer_list<Param> params = {});

/// The same with the plan that the connection has kept (queries::keep_plans): for statements that
/// run at each pass of a loop, whose planning takes as long as they do.
Rows read_with_kept_plan(Pool& pool, const Statement& statement);

/// The same with a plan for these values (queries::plan_each_time): for statements that may read
/// much or little.
Rows read_with_own_plan(Pool& pool, const Statement& statement);

/// One statement that writes, in a transaction of its own: sent again only after a deadlock.
/// With a kept plan: as read_with_kept_plan.
Rows write(Pool& pool, const Statement& statement);
Rows write(Pool& pool, const Query& query, std::initializer_list<Param> params = {});
Rows write_with_kept_plan(Pool& pool, const Statement& statement);

/// The statement that ends a transaction of a leader: it fails when the term is over, and with it
/// everything before it.
Statement check_statement(const LeaderTerm& term);

/// `statements`, then the check of the term, in one transaction and one round trip. Their answers.
std::vector<Rows> write_as_leader(Pool& pool, const LeaderTerm& term,
                                  std::vector<Statement> statements);

}    // namespace slipway::store
