#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "executor/data/dataset.h"

namespace slipway {

/// One opener per format: see open_dataset. Normalisation is added outside.
std::unique_ptr<Dataset> open_idx(const std::filesystem::path& path, const DatasetOptions& options,
                                  ProblemLog& problems);
std::unique_ptr<Dataset> open_csv(const std::filesystem::path& path, const DatasetOptions& options,
                                  ProblemLog& problems);
std::unique_ptr<Dataset> open_image_folder(const std::filesystem::path& path,
                                           const DatasetOptions& options, ProblemLog& problems);
std::unique_ptr<Dataset> open_image_csv(const std::filesystem::path& path,
                                        const DatasetOptions& options, ProblemLog& problems);
std::unique_ptr<Dataset> open_cifar10(const std::filesystem::path& path,
                                      const DatasetOptions& options, ProblemLog& problems);
std::unique_ptr<Dataset> open_tfrecord(const std::filesystem::path& path,
                                       const DatasetOptions& options, ProblemLog& problems);
std::unique_ptr<Dataset> open_webdataset(const std::filesystem::path& path,
                                         const DatasetOptions& options, ProblemLog& problems);

/// Refuses: text has no samples until a tokenizer has cut it (executor/text).
/// errors  DataError without files of text; else invalid_argument
std::unique_ptr<Dataset> open_text(const std::filesystem::path& path, const DatasetOptions& options,
                                   ProblemLog& problems);

/// At most this many bytes are kept in memory: of features by idx, csv, cifar10 and tfrecord; of
/// encoded images out of gzipped files.
inline constexpr std::int64_t table_bytes_max = std::int64_t{8} << 30;

}    // namespace slipway
