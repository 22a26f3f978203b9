#include "executor/data/formats/shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/base/letter_case.h"
#include "api/spec/dataset_format.h"
#include "executor/data/formats/distinct_parts.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/problem.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// Beside those that the rows of the formats have as marks.
constexpr auto more_endings = std::to_array<std::string_view>({".gz", ".tfrecords", ".tfrecord"});

/// As CIFAR-10's files are called.
constexpr auto usual_names = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"data_batch", "train"}, {"test_batch", "test"}});

/// Of an ending that `name` has; 0: it has none.
std::size_t ending_bytes(std::string_view any_case) {
    const std::string name = lower_case(any_case);
    for (const std::string_view ending : more_endings)
        if (name.ends_with(ending)) return ending.size();
    for (const DatasetFormatTraits& format : dataset_format_traits)
        for (const std::string_view mark : format.marks)
            if (mark.starts_with('.') && name.ends_with(mark)) return mark.size();
    return 0;
}

/// `name` without one of: an ending, a number, "-of" between two numbers, a separator.
std::string_view shortened(std::string_view name) {
    const std::size_t bytes = ending_bytes(name);
    if (bytes > 0) return name.substr(0, name.size() - bytes);
    if (name.ends_with("-of")) return name.substr(0, name.size() - 3);
    const std::size_t last = name.find_last_not_of("0123456789-_./");
    return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}    // namespace

std::string part_of_shard(std::string_view name) {
    for (std::string_view shorter = shortened(name); shorter != name; shorter = shortened(name)) {
        name = shorter;
    }
    if (name.empty()) return "all";
    const auto usual = std::find_if(usual_names.begin(), usual_names.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    return std::string(usual == usual_names.end() ? name : usual->second);
}

Shards find_shards(const fs::path& path, bool (*is_shard)(std::string_view name),
                   std::string_view wanted) {
    const bool single = fs::is_regular_file(path);
    Shards shards{Folder(single ? path.parent_path() / "." : path), {}, {}, {}};
    if (single) {
        shards.files = {path.filename().string()};
    } else {
        shards.files = shards.folder.list();
        if (shards.files.size() != 1) {
            std::erase_if(shards.files,
                          [&](const std::string& name) { return !is_shard(lower_case(name)); });
        }
    }
    if (shards.files.empty()) {
        throw DataError({.message = fmt::format("the folder has no {}", wanted)});
    }
    require_distinct_parts(shards.files, without_compression);
    NameTable parts;
    for (const std::string& name : shards.files)
        shards.parts.push_back(parts.number(part_of_shard(name)));
    shards.part_names = parts.names();
    return shards;
}

}    // namespace slipway
