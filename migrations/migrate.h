#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"

namespace slipway::migrations {

/// One step of the schema, embedded at build time from NNNN_name.up.sql and NNNN_name.down.sql.
struct Migration {
    int number = 0;    ///< 1, 2, 3 …
    std::string_view name;
    std::string_view up;
    std::string_view down;
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
    std::string problem;    ///< empty; or "changed since it was applied", "unknown to this program"
};

/// The steps this program has and the steps the database has. Changes nothing.
/// `database` as in StoreOptions. Throws Error{unavailable} when it cannot be reached.
std::vector<Status> status(const std::string& database, std::span<const Migration> steps = all());

/// Applies what is missing up to and including `to` (all by default), each step in a transaction of
/// its own, under an advisory lock: several processes may call it at once. Returns the numbers
/// applied. Throws Error{conflict} when an applied step is unknown to this program (newer schema)
/// or its checksum differs, before anything is changed; a step that fails leaves the earlier ones
/// applied and nothing of itself.
std::vector<int> up(const std::string& database, std::optional<int> to = std::nullopt,
                    std::span<const Migration> steps = all());

/// Takes back every applied step above `to`, newest first. `to` = 0 leaves an empty database.
/// Returns the numbers taken back. Data in dropped tables is lost.
std::vector<int> down(const std::string& database, int to,
                      std::span<const Migration> steps = all());

}    // namespace slipway::migrations
