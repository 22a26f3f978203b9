#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "executor/data/dataset.h"

namespace slipway {

/// open_<name> for each row of dataset_formats.def: see open_dataset. Normalisation is added
/// outside. open_text refuses: text has no samples until a tokenizer has cut it (executor/text).
#define DATASET_FORMAT(name, ...)                                           \
    std::unique_ptr<Dataset> open_##name(const std::filesystem::path& path, \
                                         const DatasetOptions& options, ProblemLog& problems);
#include "api/spec/dataset_formats.def"
#undef DATASET_FORMAT

/// At most this many bytes are kept in memory: of features by the formats that keep them there; of
/// encoded images out of gzipped files.
inline constexpr std::int64_t table_bytes_max = std::int64_t{8} << 30;

}    // namespace slipway
