#include "scheduler/store/backup.h"

#include <poll.h>

#include "api/base/error.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

// A host that lists garbage has the lock shared for the time of one statement.
constexpr int tries_max = 50;
constexpr int pause_ms = 100;

bool hold(Connection& connection) {
    for (int tries = 1;; ++tries) {
        if (connection.run(queries::hold_garbage)[0].flag("held")) return true;
        if (tries == tries_max) return false;
        poll(nullptr, 0, pause_ms);
    }
}

/// A dump of a large database takes hours.
StoreOptions options_for(const std::string& database) {
    return {.database = database,
            .application_name = "slipwayd backup",
            .connections_max = 1,
            .statement_timeout = std::chrono::milliseconds{0},
            .idle_in_transaction_timeout = std::chrono::milliseconds{0}};
}

}    // namespace

struct BackupHold::State {
    explicit State(const std::string& database) : connection(options_for(database)) {}
    Connection connection;
};

BackupHold::BackupHold(const std::string& database) : state_(std::make_unique<State>(database)) {
    if (!hold(state_->connection))
        throw Error{ErrorCode::conflict, "another backup of this database runs: wait for its end"};
}

BackupHold::~BackupHold() = default;

std::string BackupHold::open_snapshot() {
    state_->connection.run(queries::begin_snapshot);
    return state_->connection.run(queries::export_snapshot)[0].text("snapshot");
}

std::vector<NamedFile> BackupHold::list_named_files() {
    std::vector<NamedFile> files;
    for (const Row row : state_->connection.run(queries::list_named_files))
        files.push_back({.path = row.text("path"), .sha256 = row.text("sha256")});
    return files;
}

void BackupHold::close_snapshot() {
    state_->connection.run(queries::commit_transaction);
}

void BackupHold::check_held() {
    state_->connection.run(queries::ping);
}

}    // namespace slipway::store
