#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "executor/data/dataset.h"

namespace slipway {

class CopyReader;

/// open_<name> for each row of dataset_formats.def: see open_dataset. Normalisation is added
/// outside. open_text refuses: text has no samples until a tokenizer has cut it (executor/text).
#define DATASET_FORMAT(name, ...)                                           \
    std::unique_ptr<Dataset> open_##name(const std::filesystem::path& path, \
                                         const DatasetOptions& options, ProblemLog& problems);
#include "api/spec/dataset_formats.def"
#undef DATASET_FORMAT

/// What write_copy() of the formats' datasets wrote.
/// errors  throw data_loss when it is not whole
std::unique_ptr<Dataset> read_idx_copy(CopyReader& from);
std::unique_ptr<Dataset> read_cifar10_copy(CopyReader& from);
std::unique_ptr<Dataset> read_table_copy(CopyReader& from);
std::unique_ptr<Dataset> read_npz_copy(CopyReader& from);

/// At most this many bytes are kept in memory: of features by the formats that keep them there; of
/// encoded images out of gzipped files.
inline constexpr std::int64_t table_bytes_max = std::int64_t{8} << 30;

}    // namespace slipway
