#include "scheduler/store/pg/pool.h"

#include <fmt/core.h>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/store/queries.h"

// Callers share a bounded set of connections and wait for one with a time limit. When a connection
// cannot be made and none lives, or a statement gets no answer in its time, the pool is down: all
// callers fail at once, and one thread tries to connect with growing, jittered pauses. A single
// refusal while another connection lives is no outage. A read is repeated on another connection, a
// write after a deadlock only: whether a lost write was done is not known.
namespace slipway::store {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds pause_first{50};
constexpr milliseconds connect_pause_max{1000};

/// Half to all of `pause`: many processes do not come back in step.
milliseconds jittered(milliseconds pause) {
    std::array<std::uint8_t, 2> bytes{};
    random_bytes(bytes);
    const int share = (bytes[0] * 256 + bytes[1]) % 512;
    return pause / 2 + pause * share / 1024;
}

}    // namespace

Pool::Pool(const StoreOptions& options)
    : options_(options), prober_([this](const std::stop_token& stop) { probe(stop); }) {
    // A wrong address is a mistake to tell at once, not a database that may come back.
    check_address(options.database);
}

Pool::~Pool() {
    prober_.request_stop();
    went_down_.notify_all();
}

Pool::Lease Pool::acquire() {
    std::unique_lock lock(mutex_);
    return {*this, take(lock)};
}

std::unique_ptr<Connection> Pool::take(std::unique_lock<std::mutex>& lock) {
    const Tick deadline = system_clock().tick() + options_.acquire_timeout;
    Tick next_connect{};
    while (true) {
        if (down_) throw Error{ErrorCode::unavailable, last_error_};
        while (!idle_.empty()) {
            std::unique_ptr<Connection> connection = std::move(idle_.back());
            idle_.pop_back();
            if (!connection->stale()) return connection;
            --open_;
            up_since_.reset();
        }
        const Tick now = system_clock().tick();
        if (now >= deadline) {
            throw Error{ErrorCode::unavailable,
                        next_connect == Tick{}
                            ? fmt::format("all {} database connections are busy", open_)
                            : last_error_};
        }
        if (open_ < options_.connections_max && now >= next_connect) {
            if (std::unique_ptr<Connection> made = connect(lock)) return made;
            next_connect = system_clock().tick() + pause_first;
            continue;
        }
        const bool may_connect = open_ < options_.connections_max;
        changed_.wait_until(lock, may_connect ? std::min(deadline, next_connect) : deadline);
    }
}

std::unique_ptr<Connection> Pool::connect(std::unique_lock<std::mutex>& lock) {
    ++open_;
    lock.unlock();
    std::unique_ptr<Connection> made;
    std::string failure;
    try {
        made = std::make_unique<Connection>(options_);
    } catch (const std::exception& error) {    // no memory, too
        // Told below, after the books are in order again.
        failure = error.what();
    }
    lock.lock();
    if (!made) {
        --open_;
        last_error_ = failure;
        // One refusal is no outage while another connection lives: too many are open, perhaps.
        if (open_ == 0) {
            up_since_.reset();
            go_down();
        }
        changed_.notify_all();
        return nullptr;
    }
    if (!up_since_) up_since_ = system_clock().tick();
    return made;
}

void Pool::put_back(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock(mutex_);
    if (connection->broken()) {
        --open_;
        up_since_.reset();
        // A frozen server accepts connections as long as the kernel does: who waits behind this
        // caller, or asks again, shall not wait as long. The prober finds out whether it lives.
        if (connection->silent()) {
            last_error_ = "the database does not answer";
            go_down();
        }
    } else {
        // Another connection was lost, and this one has answered since.
        if (!up_since_ && !down_) up_since_ = system_clock().tick();
        idle_.push_back(std::move(connection));
    }
    changed_.notify_all();
}

/// The mutex is held.
void Pool::go_down() {
    down_ = true;
    went_down_.notify_all();
}

std::optional<milliseconds> Pool::connected_for() const {
    const std::lock_guard lock(mutex_);
    if (!up_since_) return std::nullopt;
    return std::chrono::duration_cast<milliseconds>(system_clock().tick() - *up_since_);
}

void Pool::probe(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (went_down_.wait(lock, stop, [this] { return down_; }) && !stop.stop_requested()) {
        log_warn("the database is down", {{"reason", last_error_}});
        milliseconds pause = pause_first;
        while (down_ && !stop.stop_requested()) {
            went_down_.wait_for(lock, stop, jittered(pause), [] { return false; });
            if (stop.stop_requested()) return;
            pause = std::min(pause * 2, connect_pause_max);
            lock.unlock();
            std::unique_ptr<Connection> made;
            std::string failure;
            try {
                made = std::make_unique<Connection>(options_);
                made->run(queries::probe);
            } catch (const std::exception& error) {    // no memory, too
                // Expected while it is down; the newest reason is what callers are told.
                failure = error.what();
                made.reset();
            }
            lock.lock();
            if (!made) {
                last_error_ = failure;
                continue;
            }
            down_ = false;
            up_since_ = system_clock().tick();
            idle_.push_back(std::move(made));
            ++open_;
            changed_.notify_all();
            log_info("the database is back");
        }
    }
}

namespace {

/// The answer to the last one.
Rows read_last(Pool& pool, std::span<const Statement> statements) {
    for (int tries_left = 1;; --tries_left) {
        const Pool::Lease lease = pool.acquire();
        try {
            return std::move(lease->run(statements).back());
        } catch (const PgError& error) {
            // The connection had died while it was idle: reading again harms nobody.
            if (tries_left == 0 || !error.sqlstate().empty()) throw;
        }
    }
}

/// Likewise. Statements that are sent together are one transaction.
Rows write_last(Pool& pool, std::span<const Statement> statements) {
    for (int tries_left = 2;; --tries_left) {
        const Pool::Lease lease = pool.acquire();
        try {
            return std::move(lease->run(statements).back());
        } catch (const PgError& error) {
            // The deadlock's victim has done nothing.
            if (tries_left == 0 || !error.transient()) throw;
        }
    }
}

}    // namespace

Rows read(Pool& pool, const Statement& statement) {
    return read_last(pool, std::span(&statement, 1));
}

Rows read_with_kept_plan(Pool& pool, const Statement& statement) {
    return read_last(pool, std::vector<Statement>{{&queries::keep_plans, {}}, statement});
}

Rows read_with_own_plan(Pool& pool, const Statement& statement) {
    return read_last(pool, std::vector<Statement>{{&queries::plan_each_time, {}}, statement});
}

Rows write(Pool& pool, const Statement& statement) {
    return write_last(pool, std::span(&statement, 1));
}

Rows write_with_kept_plan(Pool& pool, const Statement& statement) {
    return write_last(pool, std::vector<Statement>{{&queries::keep_plans, {}}, statement});
}

Rows read(Pool& pool, const Query& query, std::initializer_list<Param> params) {
    return read(pool, Statement{&query, params});
}

Rows write(Pool& pool, const Query& query, std::initializer_list<Param> params) {
    return write(pool, Statement{&query, params});
}

Statement check_statement(const LeaderTerm& term) {
    return {&queries::check_leader, {term.name, term.number}};
}

std::vector<Rows> write_as_leader(Pool& pool, const LeaderTerm& term,
                                  std::vector<Statement> statements) {
    if (term.number > 0) statements.push_back(check_statement(term));
    std::vector<Rows> answers =
        transact(pool, [&](Transaction& transaction) { return transaction.commit(statements); });
    if (term.number > 0) answers.pop_back();
    return answers;
}

}    // namespace slipway::store
