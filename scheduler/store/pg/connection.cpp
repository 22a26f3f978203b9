// libpq in pipeline mode with a socket that never blocks: statements are sent together and their
// answers read as they come, so a transaction of several statements is one round trip, its begin
// and commit included. Statements are prepared once for each connection. Every wait has an end:
// the server ends a statement that takes too long, and a timeout somewhat longer than that ends
// a connection whose server says nothing at all. An error of the server keeps the connection;
// one of the connection itself breaks it for good, and the pool makes another.
#include "scheduler/store/pg/connection.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <cerrno>

#include "api/base/check.h"
#include "scheduler/store/pg/password.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

using std::chrono::milliseconds;

/// Beyond the server's own statement_timeout: covers a network that swallows packets.
constexpr milliseconds patience_slack{1000};

struct Refusal {
    std::string_view sqlstate;    ///< a class (2) or a state (5)
    ErrorCode code;
};

/// First match wins; anything else is internal: a statement of ours was wrong.
constexpr auto refusals = std::to_array<Refusal>({
    {"22", ErrorCode::invalid_argument},       // data exception: NUL, encoding, out of range
    {"23502", ErrorCode::internal},            // not null
    {"23", ErrorCode::conflict},               // unique, foreign key, check
    {"40", ErrorCode::unavailable},            // deadlock, serialisation
    {"54000", ErrorCode::invalid_argument},    // a limit of the program, e.g. an index row too long
    {"53", ErrorCode::unavailable},            // disk, memory, too many connections
    {"55P03", ErrorCode::unavailable},         // lock_timeout
    {"57", ErrorCode::unavailable},            // cancelled by timeout, shutting down, starting up
    {"58", ErrorCode::unavailable},            // the server's own input and output
    {"25006", ErrorCode::unavailable},         // a standby that only reads
    {"08", ErrorCode::unavailable},
});

ErrorCode code_of(std::string_view sqlstate) {
    for (const Refusal& refusal : refusals) {
        if (sqlstate.starts_with(refusal.sqlstate)) return refusal.code;
    }
    return ErrorCode::internal;
}

/// libpq's messages have line breaks and tabs; ours are one line.
std::string one_line(std::string_view message) {
    std::string line;
    for (const char c : message) {
        const bool space = c == ' ' || c == '\n' || c == '\t';
        if (space && (line.empty() || line.back() == ' ')) continue;
        line += space ? ' ' : c;
    }
    if (line.ends_with(' ')) line.pop_back();
    return line;
}

std::string field(const pg_result* result, int which) {
    const char* text = PQresultErrorField(result, which);
    return text ? text : "";
}

/// SQLSTATEs of the schema's own refusals; see migrations/schema.sql.
constexpr std::string_view illegal_transition = "SW001";
constexpr std::string_view leader_replaced = "SW002";
constexpr std::string_view limit_reached = "SW003";
constexpr std::string_view class_not_allowed = "SW004";

[[noreturn]] void throw_refusal(const pg_result* result, std::string_view statement) {
    const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
    if (sqlstate == illegal_transition) {
        throw IllegalTransition(field(result, PG_DIAG_MESSAGE_DETAIL),
                                field(result, PG_DIAG_MESSAGE_HINT));
    }
    if (sqlstate == leader_replaced) throw LeaderReplaced(field(result, PG_DIAG_MESSAGE_PRIMARY));
    if (sqlstate == class_not_allowed) {
        throw ClassNotAllowed(field(result, PG_DIAG_MESSAGE_PRIMARY),
                              field(result, PG_DIAG_MESSAGE_DETAIL),
                              field(result, PG_DIAG_MESSAGE_HINT));
    }
    if (sqlstate == limit_reached)
        throw Error{ErrorCode::exhausted, field(result, PG_DIAG_MESSAGE_PRIMARY)};
    // Its own message has the name of one of its files.
    const std::string message = sqlstate == disk_full
                                    ? "the disk of the database is full"
                                    : fmt::format("the database refused {}: {} ({})", statement,
                                                  field(result, PG_DIAG_MESSAGE_PRIMARY), sqlstate);
    throw PgError(code_of(sqlstate), message, sqlstate, field(result, PG_DIAG_CONSTRAINT_NAME));
}

/// True when the socket became ready; false when the time is over.
bool wait_socket(int socket, short events, milliseconds timeout) {
    pollfd entry{socket, events, 0};
    int ready = -1;
    do {
        ready = poll(&entry, 1, int(timeout.count()));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

struct FreeOptions {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

using ParsedAddress = std::unique_ptr<PQconninfoOption, FreeOptions>;

ParsedAddress parse_address(const std::string& database) {
    char* message = nullptr;
    ParsedAddress parsed{PQconninfoParse(database.c_str(), &message)};
    if (!parsed) {
        const std::string text = message ? message : "out of memory";
        PQfreemem(message);
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("the database address cannot be used: {}",
                                may_hold_password(database) ? "it is not written as libpq reads it "
                                                              "(not repeated, as it has a password)"
                                                            : one_line(text))};
    }
    return parsed;
}

/// `options` of the user's own connection text, to which ours are added.
std::string own_settings(const std::string& database) {
    const ParsedAddress parsed = parse_address(database);
    for (const PQconninfoOption* option = parsed.get(); option->keyword; ++option) {
        if (std::string_view(option->keyword) == "options" && option->val) return option->val;
    }
    return {};
}

/// jit=off: a compilation costs 8 ms and more, and no statement of ours runs long enough to win
/// that back. The cores of a fresh cluster, which has no statistics, were compiled with every tick.
std::string session_settings(const StoreOptions& options) {
    return fmt::format(
        "{} -c timezone=UTC -c datestyle=ISO -c intervalstyle=iso_8601 -c statement_timeout={} "
        "-c lock_timeout={} -c idle_in_transaction_session_timeout={} -c jit=off",
        own_settings(options.database), options.statement_timeout.count(),
        options.lock_timeout.count(), options.idle_in_transaction_timeout.count());
}

pg_conn* start_connecting(const StoreOptions& options) {
    const std::string settings = session_settings(options);
    const auto pairs = std::to_array<std::pair<const char*, const char*>>({
        {"dbname", options.database.c_str()},
        {"application_name", options.application_name.c_str()},
        {"options", settings.c_str()},
        {"client_encoding", "UTF8"},
        {"keepalives", "1"},
        {"keepalives_idle", "10"},
        {"keepalives_interval", "5"},
        {"keepalives_count", "3"},
        {"tcp_user_timeout", "10000"},
    });
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : pairs) {
        keywords.push_back(keyword);
        values.push_back(value);
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    return PQconnectStartParams(keywords.data(), values.data(), 1);
}

void finish_connecting(pg_conn* connection, milliseconds timeout) {
    const Tick deadline = system_clock().tick() + timeout;
    PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
    while (wants != PGRES_POLLING_OK) {
        const auto left =
            std::chrono::duration_cast<milliseconds>(deadline - system_clock().tick());
        const bool failed = PQstatus(connection) == CONNECTION_BAD || wants == PGRES_POLLING_FAILED;
        if (failed || left <= milliseconds{0}) {
            throw Error{
                ErrorCode::unavailable,
                fmt::format("the database does not answer: {}",
                            failed ? one_line(PQerrorMessage(connection)) : "no answer in time")};
        }
        wait_socket(PQsocket(connection), wants == PGRES_POLLING_READING ? POLLIN : POLLOUT, left);
        wants = PQconnectPoll(connection);
    }
}

}    // namespace

PgError::PgError(ErrorCode code, const std::string& message, std::string sqlstate,
                 std::string constraint)
    : Error(code, message), sqlstate_(std::move(sqlstate)), constraint_(std::move(constraint)) {}

void check_address(const std::string& database) {
    own_settings(database);
}

std::vector<std::string> address_environment(const std::string& database) {
    const ParsedAddress parsed = parse_address(database);
    std::vector<std::string> environment;
    for (const PQconninfoOption* option = parsed.get(); option->keyword; ++option)
        if (option->envvar && option->val)
            environment.push_back(fmt::format("{}={}", option->envvar, option->val));
    return environment;
}

void Connection::Finish::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

Connection::Connection(const StoreOptions& options)
    : connection_(start_connecting(options)),
      patience_(options.statement_timeout.count() == 0
                    ? milliseconds{0}
                    : options.statement_timeout + patience_slack) {
    if (connection_ == nullptr)
        throw Error{ErrorCode::exhausted, "no memory is left for a connection to the database"};
    finish_connecting(connection_.get(), options.connect_timeout);
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    PQsetnonblocking(connection_.get(), 1);
    PQenterPipelineMode(connection_.get());
}

Connection::~Connection() = default;

bool Connection::broken() const {
    return broken_ || PQstatus(connection_.get()) == CONNECTION_BAD;
}

bool Connection::stale() {
    // An idle connection has nothing to read, except when the server says goodbye (or announces a
    // changed setting: a new connection is then as good).
    if (!broken() && wait_socket(PQsocket(connection_.get()), POLLIN, milliseconds{0})) {
        broken_ = true;
    }
    return broken();
}

Rows Connection::run(const Query& query, std::initializer_list<Param> params) {
    const Statement statement{&query, params};
    return std::move(run(std::span(&statement, 1)).front());
}

std::vector<Rows> Connection::run(std::span<const Statement> statements) {
    for (const Statement& statement : statements) {
        for (const Param& param : statement.params) {
            if (param.has_nul()) {
                throw Error{ErrorCode::invalid_argument, "text must not hold a NUL character"};
            }
        }
    }
    std::vector<Command> expected;
    for (const Statement& statement : statements)
        send(statement, expected);
    if (PQpipelineSync(connection_.get()) == 0) throw_broken();
    return receive(expected);
}

void Connection::send(const Statement& statement, std::vector<Command>& expected) {
    const Query& query = *statement.query;
    if (prepared_.insert(query.name).second) {
        if (PQsendPrepare(connection_.get(), query.name, query.sql, 0, nullptr) == 0) {
            throw_broken();
        }
        expected.push_back({&query, true});
    }
    std::vector<const char*> values;
    values.reserve(statement.params.size());
    for (const Param& param : statement.params)
        values.push_back(param.text());
    if (PQsendQueryPrepared(connection_.get(), query.name, int(values.size()), values.data(),
                            nullptr, nullptr, 0) == 0) {
        throw_broken();
    }
    expected.push_back({&query, false});
}

std::vector<Rows> Connection::receive(const std::vector<Command>& expected) {
    std::vector<Rows> answers;
    std::optional<Rows> refusal;
    const Query* refused = nullptr;
    for (const auto& [query, prepares] : expected) {
        Rows answer{next_result()};
        if (answer.raw() == nullptr) throw_broken();
        if (Rows{next_result()}.raw() != nullptr) throw_broken();
        const ExecStatusType status = PQresultStatus(answer.raw());
        // A preparation after an error was skipped by the server: it is to be sent again.
        if (prepares && status != PGRES_COMMAND_OK) prepared_.erase(query->name);
        if (status == PGRES_FATAL_ERROR && !refusal) {
            refusal = std::move(answer);
            refused = query;
        } else if (!prepares && !refusal) {
            answers.push_back(std::move(answer));
        }
    }
    const bool lost = PQstatus(connection_.get()) == CONNECTION_BAD;
    if (!lost) {
        const Rows sync{next_result()};
        check(PQresultStatus(sync.raw()) == PGRES_PIPELINE_SYNC, "the pipeline ends with its sync");
    }
    if (refusal && (lost || *PQresultErrorField(refusal->raw(), PG_DIAG_SQLSTATE) == '\0')) {
        throw_broken();
    }
    if (refusal) throw_refusal(refusal->raw(), refused->name);
    return answers;
}

void Connection::flush_and_wait() {
    const int unsent = PQflush(connection_.get());
    if (unsent < 0) throw_broken();
    const short events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
    const milliseconds limit = patience_.count() == 0 ? milliseconds{-1} : patience_;
    if (!wait_socket(PQsocket(connection_.get()), events, limit)) {
        silent_ = true;
        throw_broken();
    }
    if (PQconsumeInput(connection_.get()) == 0) throw_broken();
}

pg_result* Connection::next_result() {
    while (PQisBusy(connection_.get()) != 0)
        flush_and_wait();
    return PQgetResult(connection_.get());
}

void Connection::throw_broken() {
    broken_ = true;
    const std::string message = one_line(PQerrorMessage(connection_.get()));
    throw PgError(ErrorCode::unavailable,
                  fmt::format("the connection to the database broke: {}",
                              message.empty() ? "no answer" : message),
                  {}, {});
}

void Connection::execute(const std::string& script) {
    // A script of many statements needs the simple protocol, which pipeline mode does not have.
    if (PQexitPipelineMode(connection_.get()) == 0) throw_broken();
    if (PQsendQuery(connection_.get(), script.c_str()) == 0) throw_broken();
    std::optional<Rows> refusal;
    while (pg_result* result = next_result()) {
        Rows answer{result};
        if (PQresultStatus(result) == PGRES_FATAL_ERROR && !refusal) refusal = std::move(answer);
    }
    if (PQenterPipelineMode(connection_.get()) == 0) throw_broken();
    if (refusal) throw_refusal(refusal->raw(), "the script");
}

void Connection::wait_readable(milliseconds timeout, int wake_fd) {
    std::array<pollfd, 2> entries{{{PQsocket(connection_.get()), POLLIN, 0}, {wake_fd, POLLIN, 0}}};
    poll(entries.data(), entries.size(), int(timeout.count()));
}

std::vector<std::string> Connection::notifications() {
    if (PQconsumeInput(connection_.get()) == 0) throw_broken();
    std::vector<std::string> payloads;
    while (pgNotify* notify = PQnotifies(connection_.get())) {
        payloads.emplace_back(notify->extra);
        PQfreemem(notify);
    }
    if (PQstatus(connection_.get()) == CONNECTION_BAD) throw_broken();
    return payloads;
}

Transaction::~Transaction() {
    if (!begun_ || done_ || connection_.broken()) return;
    try {
        connection_.run(queries::rollback_transaction);
    } catch (const Error&) {
        // The connection is broken now, and the server has rolled back by itself.
    }
}

Rows Transaction::run(const Query& query, std::initializer_list<Param> params) {
    return std::move(run(std::vector<Statement>{{&query, params}}).front());
}

std::vector<Rows> Transaction::run(std::vector<Statement> statements) {
    const bool begins = !begun_;
    if (begins) statements.insert(statements.begin(), {&queries::begin_transaction, {}});
    begun_ = true;
    failed_ = true;    // until the answers are here
    std::vector<Rows> answers = connection_.run(statements);
    failed_ = false;
    if (begins) answers.erase(answers.begin());
    return answers;
}

std::vector<Rows> Transaction::commit(std::vector<Statement> last) {
    check(!done_ && !failed_, "a transaction is committed once, and not after an error");
    committing_ = true;
    if (!begun_ && last.empty()) return {};
    last.push_back({&queries::commit_transaction, {}});
    std::vector<Rows> answers = run(std::move(last));
    done_ = true;
    answers.pop_back();
    return answers;
}

}    // namespace slipway::store
