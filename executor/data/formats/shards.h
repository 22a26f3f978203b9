#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/files.h"

namespace slipway {

/// The files of a dataset that is cut into pieces of many samples each.
struct Shards {
    Folder folder;
    std::vector<std::string> files;         ///< as Folder::list() has them; at least one
    std::vector<std::int32_t> parts;        ///< per file, index of part_names
    std::vector<std::string> part_names;    ///< see part_of_shard
};

/// The file at `path`, or all files below it that `is_shard` accepts by their names in lower case;
/// the only file
/// of a folder whatever its name, for that is what an upload of one file becomes.
/// errors  DataError "the folder has no `wanted`", or for a file beside its own gzipped one;
///         not_found without `path`
Shards find_shards(const std::filesystem::path& path, bool (*is_shard)(std::string_view name),
                   std::string_view wanted);

/// What the name says without its ending and its number: "train" of "train-00017-of-00128",
/// "train/0017.tar", "train.tfrecord.gz" and "data_batch_1.bin"; "all" where nothing is left.
std::string part_of_shard(std::string_view name);

}    // namespace slipway
