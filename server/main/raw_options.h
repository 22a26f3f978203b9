#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/main/options.h"

namespace slipway {

/// The command line as CLI11 reads it: what it does not know of (units, folders, roots) is brought
/// into form afterwards.
struct RawOptions {
    Options options;
    std::vector<std::string> dataset_roots;
    std::string database_file;
    std::string join_token_file;
    std::string executor;
    std::int64_t grace_s = 60;
    std::int64_t start_max_s = 20;
    std::int64_t warm_s = 60;
    std::int64_t decoded_gib = 32;
    std::int64_t job_memory_mib = 0;
    std::int64_t keep_s = 600;
    std::int64_t upload_gib = 16;
    std::int64_t stored_gib = 512;
    std::int64_t log_max_mib = 64;
    std::int64_t buffered_bodies_mib = 64;
    std::int64_t buffered_answers_mib = 256;
    bool print_config = false;
};

/// The words of options whose value is one of a list.
extern const std::map<std::string, LogLevel> log_levels;
extern const std::map<std::string, ConfinementMode> confinement_modes;

}    // namespace slipway
