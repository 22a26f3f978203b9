#include "migrations/migrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "api/base/error.h"
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
using AppliedSteps = std::map<int, Applied>;

// The builds before the first release had migrations of their own, which began with `access`.
constexpr int first_build = 4;
constexpr int last_build = 75;    // its schema is that of release 0.1
constexpr std::string_view first_name_of_builds = "access";

/// A step may rewrite a table: no limit on statements, a long one on waiting for others.
store::StoreOptions options_for(const std::string& database) {
    return {.database = database,
            .application_name = "slipwayd migrate",
            .connections_max = 1,
            .statement_timeout = std::chrono::milliseconds{0},
            .lock_timeout = std::chrono::seconds{60},
            .idle_in_transaction_timeout = std::chrono::seconds{60}};
}

AppliedSteps list_applied(Connection& connection) {
    AppliedSteps applied;
    if (!connection.run(queries::has_bookkeeping)[0].flag("found")) return applied;
    for (const Row row : connection.run(queries::list_applied)) {
        applied[row.small("number")] = {row.text("name"), row.text("checksum"),
                                        row.time("applied_at")};
    }
    return applied;
}

bool is_unreleased(const AppliedSteps& applied) {
    return !applied.empty() && applied.begin()->second.name == first_name_of_builds;
}

bool can_be_taken_over(const AppliedSteps& applied) {
    const int number = applied.rbegin()->first;
    return number >= first_build && number <= last_build;
}

/// What is wrong between the steps of this program and those of the database.
std::string problem_of(int number, const Applied& applied, std::span<const Migration> steps) {
    const auto step = std::ranges::find(steps, number, &Migration::number);
    if (step == steps.end()) return "unknown to this program";
    if (checksum(*step) != applied.checksum) return "changed since it was applied";
    return {};
}

void refuse_problems(const AppliedSteps& applied, std::span<const Migration> steps) {
    for (const auto& [number, step] : applied) {
        const std::string problem = problem_of(number, step, steps);
        if (problem.empty()) continue;
        throw Error{ErrorCode::conflict,
                    fmt::format("migration {} ({}) of this database is {}: use the program that "
                                "belongs to this database, or restore a backup",
                                number, step.name, problem)};
    }
}

void apply(Connection& connection, const Migration& step) {
    Transaction transaction(connection);
    transaction.run(queries::record_step, {step.number, step.name, checksum(step)});
    connection.execute(std::string(step.up));
    transaction.commit();
}

/// Upgrades a database of a build before the first release: `baseline` is its only step then.
void take_over(Connection& connection, const AppliedSteps& applied, const Migration& baseline) {
    if (!can_be_taken_over(applied)) {
        throw Error{ErrorCode::conflict,
                    fmt::format("this database is of a build before release 0.1, with migration {} "
                                "as its last one; only {} to {} can be upgraded: use the program "
                                "that belongs to this database",
                                applied.rbegin()->first, first_build, last_build)};
    }
    Transaction transaction(connection);
    if (applied.rbegin()->first == last_build) {
        transaction.run(queries::forget_all_steps);
    } else {
        transaction.run(queries::create_unreleased);
        connection.execute(queries::set_tables_aside.sql);
        transaction.run(queries::create_bookkeeping);
        connection.execute(std::string(baseline.up));
        connection.execute(queries::compute_missing_columns.sql);
        connection.execute(queries::copy_tables.sql);
    }
    transaction.run(queries::record_step, {baseline.number, baseline.name, checksum(baseline)});
    transaction.commit();
}

}    // namespace

std::string checksum(const Migration& migration) {
    return sha256_hex(migration.up);
}

std::vector<Status> status(const std::string& database, std::span<const Migration> steps) {
    Connection connection(options_for(database));
    AppliedSteps applied = list_applied(connection);
    std::vector<Status> statuses;
    if (is_unreleased(applied)) {
        const auto& [number, last] = *applied.rbegin();
        statuses.push_back({.number = number,
                            .name = last.name,
                            .applied_at = last.at,
                            .problem = "of a build before release 0.1",
                            .is_older = can_be_taken_over(applied)});
        applied.clear();
    }
    std::map<int, Status> all_steps;
    for (const Migration& step : steps)
        all_steps[step.number] = {step.number, std::string(step.name), std::nullopt, "", true};
    for (const auto& [number, step] : applied)
        all_steps[number] = {number, step.name, step.at, problem_of(number, step, steps), false};
    for (const auto& [number, step] : all_steps)
        statuses.push_back(step);
    return statuses;
}

std::vector<int> up(const std::string& database, const Backup& backup,
                    std::span<const Migration> steps) {
    Connection connection(options_for(database));
    connection.run(queries::lock_migrations);
    AppliedSteps applied = list_applied(connection);
    const bool unreleased = is_unreleased(applied);
    if (!unreleased) refuse_problems(applied, steps);
    const bool is_newest = !unreleased && applied.size() == steps.size();
    if (!applied.empty() && !is_newest && backup) backup();
    std::vector<int> numbers;
    if (unreleased) {
        take_over(connection, applied, steps.front());
        numbers.push_back(steps.front().number);
        applied = list_applied(connection);
    }
    connection.run(queries::create_bookkeeping);
    for (const Migration& step : steps) {
        if (applied.contains(step.number)) continue;
        apply(connection, step);
        numbers.push_back(step.number);
    }
    return numbers;
}

std::vector<int> down(const std::string& database, const Backup& backup,
                      std::span<const Migration> steps) {
    Connection connection(options_for(database));
    connection.run(queries::lock_migrations);
    const AppliedSteps applied = list_applied(connection);
    if (!is_unreleased(applied)) refuse_problems(applied, steps);
    std::vector<const Migration*> reverted;
    for (const Migration& step : steps | std::views::reverse) {
        if (!applied.contains(step.number) || step.down.empty()) continue;
        if (reverted.empty() || reverted.front()->release == step.release)
            reverted.push_back(&step);
    }
    if (is_unreleased(applied) || reverted.empty()) {
        throw Error{ErrorCode::conflict,
                    fmt::format("this database has the first schema of release {}, so there is "
                                "none to go back to",
                                steps.front().release)};
    }
    if (backup) backup();
    std::vector<int> numbers;
    for (const Migration* const step : reverted) {
        Transaction transaction(connection);
        transaction.run(queries::forget_step, {step->number});
        connection.execute(std::string(step->down));
        transaction.commit();
        numbers.push_back(step->number);
    }
    return numbers;
}

}    // namespace slipway::migrations
