#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scheduler/store/pg/values.h"
#include "scheduler/store/store.h"

struct pg_conn;

namespace slipway::store {

/// SQLSTATE: the disk of the database is full.
inline constexpr std::string_view disk_full = "53100";

/// What the database refused. The code of Error tells what to do; `sqlstate` tells why.
class PgError : public Error {
public:
    PgError(ErrorCode code, const std::string& message, std::string sqlstate,
            std::string constraint);
    /// Five characters; empty when the connection itself broke.
    const std::string& sqlstate() const { return sqlstate_; }
    /// Name of the violated constraint, or empty.
    const std::string& constraint() const { return constraint_; }
    /// Running the transaction again may succeed: deadlock, serialisation.
    bool transient() const { return sqlstate_ == "40001" || sqlstate_ == "40P01"; }

private:
    std::string sqlstate_;
    std::string constraint_;
};

/// Throws Error{invalid_argument} when the text is no address that libpq understands.
void check_address(const std::string& database);

/// The address as environment variables of libpq (`PGHOST=…`), for programs of PostgreSQL: on a
/// command line, every user of the machine would read its password.
std::vector<std::string> address_environment(const std::string& database);

/// One session with the database, always in pipeline mode. Used by one thread at a time. Every
/// failure of the connection itself throws Error{unavailable} and leaves it `broken`.
class Connection {
public:
    /// Connects within options.connect_timeout, with every limit of the options set in the session.
    explicit Connection(const StoreOptions& options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// One statement, one round trip. Outside of a Transaction it commits by itself.
    Rows run(const Query& query, std::initializer_list<Param> params = {});

    /// Several statements in one round trip; outside of a Transaction they commit together or not
    /// at all. The first error is thrown, and the statements after it are not executed.
    std::vector<Rows> run(std::span<const Statement> statements);

    /// A script of several statements without parameters, in one transaction: for migrations.
    void execute(const std::string& script);

    /// The connection is of no further use.
    bool broken() const;
    /// It is, because the server said nothing at all: frozen, or cut off without a message.
    bool silent() const { return silent_; }
    /// The server has closed it while it was idle, noticed without a round trip.
    bool stale();

    /// Waits until the server says something or `wake_fd` (-1: none) is readable.
    void wait_readable(std::chrono::milliseconds timeout, int wake_fd);
    /// Payloads of the notifications that came; throws when the connection broke.
    std::vector<std::string> notifications();

private:
    struct Finish {
        void operator()(pg_conn* connection) const;
    };
    /// One message of a pipeline that gets its own answer.
    struct Command {
        const Query* query;
        bool prepares;
    };
    void send(const Statement& statement, std::vector<Command>& expected);
    void flush_and_wait();
    pg_result* next_result();
    std::vector<Rows> receive(const std::vector<Command>& expected);
    [[noreturn]] void throw_broken();

    std::unique_ptr<pg_conn, Finish> connection_;
    std::set<std::string> prepared_;
    std::chrono::milliseconds patience_;    ///< for one answer; zero = without end
    bool broken_ = false;
    bool silent_ = false;
};

/// Statements that happen together. Rolls back when destroyed before commit(). `begin` and `commit`
/// ride with the first and last statements: no round trips of their own.
class Transaction {
public:
    explicit Transaction(Connection& connection) : connection_(connection) {}
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    Rows run(const Query& query, std::initializer_list<Param> params = {});
    std::vector<Rows> run(std::vector<Statement> statements);
    /// Runs `last` and commits, in one round trip. When the connection breaks here, the outcome is
    /// unknown.
    std::vector<Rows> commit(std::vector<Statement> last = {});
    /// commit() was called.
    bool committing() const { return committing_; }
    /// The commit has succeeded.
    bool done() const { return done_; }

private:
    Connection& connection_;
    bool begun_ = false;
    bool failed_ = false;
    bool committing_ = false;
    bool done_ = false;
};

}    // namespace slipway::store
