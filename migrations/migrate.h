#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"

namespace slipway::migrations {

/// One step of the schema, embedded at build time: schema.sql is the first one; later ones are
/// RELEASE/NNNN_name.up.sql, each with its .down.sql.
struct Migration {
    int number = 0;    ///< 1, 2, 3 …
    std::string_view name;
    std::string_view release;    ///< that it belongs to, as "0.1"; a release may have several
    std::string_view up;
    std::string_view down;    ///< empty for schema.sql
};

/// All steps, first to last.
std::span<const Migration> all();

/// SHA-256 of `up`, hexadecimal: what the database remembers of an applied step.
std::string checksum(const Migration& migration);

/// A step, and what the database knows of it.
struct Status {
    int number = 0;
    std::string name;
    std::optional<Instant> applied_at;    ///< nothing: not applied
    /// Empty; or "changed since it was applied", "unknown to this program", or that it is the last
    /// one of a build before the first release.
    std::string problem;
    bool is_older = false;    ///< up() brings the database to the newest schema
};

/// The steps this program has and the steps the database has. Changes nothing.
/// `database` as in StoreOptions. Throws Error{unavailable} when it cannot be reached.
std::vector<Status> status(const std::string& database, std::span<const Migration> steps = all());

/// Called once, under the lock, before the schema of a database that has one changes. What it
/// throws ends the migration before anything is changed.
using Backup = std::function<void()>;

/// Applies what is missing, each step in a transaction of its own, under an advisory lock: several
/// processes may call it at once. A database of a build before the first release is taken over
/// (take_over.sql). Returns the numbers applied. Throws Error{conflict} when an applied step is
/// unknown to this program (newer schema) or its checksum differs, before anything is changed; a
/// step that fails leaves the earlier ones applied and nothing of itself.
std::vector<int> up(const std::string& database, const Backup& backup = {},
                    std::span<const Migration> steps = all());

/// Reverts the steps of the newest applied release, newest first: the schema is that of the release
/// before; of the first release, that of schema.sql. Returns the numbers reverted. Data in dropped
/// columns and tables is lost. Throws Error{conflict} when only schema.sql is applied, and as up().
std::vector<int> down(const std::string& database, const Backup& backup = {},
                      std::span<const Migration> steps = all());

}    // namespace slipway::migrations
