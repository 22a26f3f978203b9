#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

namespace slipway {

/// The throw-away PostgreSQL of this test process: a copy of a template that the first test on this
/// machine makes, in memory where there is room, without fsync, on a Unix socket only; started at
/// first use, ended with the process, even when that is killed. Takes well under a second. Used by
/// one thread.
class TempPostgres {
public:
    /// The one of this process.
    static TempPostgres& instance();
    ~TempPostgres();
    TempPostgres(const TempPostgres&) = delete;
    TempPostgres& operator=(const TempPostgres&) = delete;

    /// For StoreOptions::database.
    std::string url(const std::string& database) const;
    /// A new database; with the newest schema unless `empty`. Returns its name.
    std::string create_database(bool empty = false);

    /// The postmaster, 0 while stopped.
    pid_t pid() const;
    /// For tests of a database that is down: fast shutdown, SIGKILL of every process, start.
    void stop();
    void kill();
    void start();
    /// Every process of it is stopped in its tracks, and let go again.
    void freeze();
    void thaw();

private:
    TempPostgres();
    struct State;
    std::unique_ptr<State> state_;
};

/// A database of its own for one test.
class TempDatabase {
public:
    explicit TempDatabase(bool empty = false);

    /// For StoreOptions::database.
    const std::string& url() const { return url_; }
    /// Runs a script of SQL as the superuser; fails the test when it is refused. Returns the first
    /// column of the last answer's first row, or "".
    std::string sql(const std::string& script) const;

private:
    std::string url_;
};

}    // namespace slipway
