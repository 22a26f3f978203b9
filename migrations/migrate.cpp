#include "migrations/migrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "api/base/sha256.h"
#include "migrations/queries.h"
#include "scheduler/store/pg/connection.h"

namespace slipway::migrations {

namespace {

using store::Connection;
using store::Row;
using store::Transaction;

struct Applied {
    std::string name;
    std::string checksum;
    Instant at;
};

/// A step may rewrite a table: no limit on statements, a long one on waiting for others.
store::StoreOptions options_for(const std::string& database) {
    return {.database = database,
            .application_name = "slipwayd migrate",
            .connections_max = 1,
            .statement_timeout = std::chrono::milliseconds{0},
            .lock_timeout = std::chrono::seconds{60},
            .idle_in_transaction_timeout = std::chrono::seconds{60}};
}

std::map<int, Applied> list_applied(Connection& connection) {
    std::map<int, Applied> applied;
    if (!connection.run(queries::has_bookkeeping)[0].flag("found")) return applied;
    for (const Row row : connection.run(queries::list_applied)) {
        applied[row.small("number")] = {row.text("name"), row.text("checksum"),
                                        row.time("applied_at")};
    }
    return applied;
}

/// What is wrong between the steps of this program and those of the database.
std::string problem_of(int number, const Applied& applied, std::span<const Migration> steps) {
    const auto step = std::ranges::find(steps, number, &Migration::number);
    if (step == steps.end()) return "unknown to this program";
    if (checksum(*step) != applied.checksum) return "changed since it was applied";
    return {};
}

void refuse_problems(const std::map<int, Applied>& applied, std::span<const Migration> steps) {
    for (const auto& [number, step] : applied) {
        const std::string problem = problem_of(number, step, steps);
        if (problem.empty()) continue;
        throw Error{ErrorCode::conflict,
                    fmt::format("migration {} ({}) of this database is {}: use the program that "
                                "belongs to this database, or restore a backup",
                                number, step.name, problem)};
    }
}

}    // namespace

std::string checksum(const Migration& migration) {
    return sha256_hex(migration.up);
}

std::vector<Status> status(const std::string& database, std::span<const Migration> steps) {
    Connection connection(options_for(database));
    std::map<int, Status> all_steps;
    for (const Migration& step : steps)
        all_steps[step.number] = {step.number, std::string(step.name), std::nullopt, {}};
    for (const auto& [number, applied] : list_applied(connection))
        all_steps[number] = {number, applied.name, applied.at, problem_of(number, applied, steps)};
    std::vector<Status> statuses;
    for (const auto& [number, step] : all_steps)
        statuses.push_back(step);
    return statuses;
}

std::vector<int> up(const std::string& database, std::optional<int> to,
                    std::span<const Migration> steps) {
    Connection connection(options_for(database));
    connection.run(queries::lock_migrations);
    const std::map<int, Applied> applied = list_applied(connection);
    refuse_problems(applied, steps);
    connection.run(queries::create_bookkeeping);
    std::vector<int> numbers;
    for (const Migration& step : steps) {
        if (applied.contains(step.number) || (to && step.number > *to)) continue;
        Transaction transaction(connection);
        transaction.run(queries::record_step, {step.number, step.name, checksum(step)});
        connection.execute(std::string(step.up));
        transaction.commit();
        numbers.push_back(step.number);
    }
    return numbers;
}

std::vector<int> down(const std::string& database, int to, std::span<const Migration> steps) {
    Connection connection(options_for(database));
    connection.run(queries::lock_migrations);
    const std::map<int, Applied> applied = list_applied(connection);
    refuse_problems(applied, steps);
    std::vector<int> numbers;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (!applied.contains(step->number) || step->number <= to) continue;
        Transaction transaction(connection);
        transaction.run(queries::forget_step, {step->number});
        connection.execute(std::string(step->down));
        transaction.commit();
        numbers.push_back(step->number);
    }
    if (to <= 0 && !applied.empty()) connection.run(queries::drop_bookkeeping);
    return numbers;
}

}    // namespace slipway::migrations
