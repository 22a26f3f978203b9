#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/json.h"
#include "api/base/result.h"

namespace slipway {

// Sweep files of other services as the body of POST /v1/sweeps: those of Weights & Biases
// (`method`) and the experiments of Determined AI (`searcher`). What maps to what, and why, is in
// docs/decisions/0053.

struct SweepImportOptions {
    /// Name of a parameter in the file -> path into the job spec, or skipped_path.
    std::map<std::string, std::string> places = {};
    /// The job spec that the values are put into. None: trials run elsewhere, and parameters keep
    /// their names.
    std::optional<Json> job = {};
    std::optional<std::int64_t> max_trials = {};    ///< in place of the file's
    std::string metric = {};                        ///< in place of the file's
};

/// In place of a path: the parameter is not wanted.
inline constexpr std::string_view skipped_path = "-";

struct ImportedSweep {
    Json body;
    /// What was left out, and what is not quite the same: a sentence each.
    std::vector<std::string> notes = {};
};

/// Pure. What the service would refuse in `body` is left to it.
/// errors  invalid_argument: what has no equal here, all of it, a line each
Result<ImportedSweep> import_sweep(std::string_view yaml, const SweepImportOptions& options);

}    // namespace slipway
