#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "api/base/clock.h"
#include "executor/main/ending.h"

namespace slipway {

/// `slipway-executor run`: a job on this machine, without a service.
struct RunLocalOptions {
    std::filesystem::path job;    ///< a job spec as it would be posted
    std::filesystem::path out;    ///< gets metrics.csv, frames.ndjson, checkpoints/, report.json, …
    std::filesystem::path data;           ///< empty: the spec's data.dataset is a path
    std::string format;                   ///< empty: guessed from what is there
    std::string data_options = "{}";      ///< JSON object: label_column, …
    std::filesystem::path cache = {};     ///< folder of compiled code, shared by runs; empty: none
    std::filesystem::path packed = {};    ///< folder of packed images, shared by runs; empty: none
    int workers = 0;
    bool resume = false;    ///< go on from the newest checkpoint in `out`
};

/// Trains with a progress bar (or one line per epoch) on `output`. The first SIGINT or SIGTERM
/// saves and ends. Returns the exit code; what went wrong is said on `output`.
int run_local(const RunLocalOptions& options, const Trainer& trainer, const Clock& clock,
              std::FILE* output);

/// One of dataset_formats(), by the names in the folder; empty when unclear.
std::string guess_format(const std::filesystem::path& data);

}    // namespace slipway
