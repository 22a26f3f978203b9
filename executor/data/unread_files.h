#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "executor/data/problem.h"

namespace slipway {

/// A warning about the files and links to folders below `path` that are neither among `read` nor
/// named by `problems`, themselves or by their folder: a dataset that leaves files out without a
/// message is smaller than its owner believes. None where there is no such file, or `path` is a
/// file.
std::optional<DataProblem> unread_files(const std::filesystem::path& path,
                                        std::span<const std::string> read,
                                        const ProblemLog& problems);

}    // namespace slipway
