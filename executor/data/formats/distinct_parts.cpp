#include "executor/data/formats/distinct_parts.h"

#include <fmt/core.h>

#include <unordered_map>

#include "api/base/letter_case.h"
#include "executor/data/problem.h"

namespace slipway {

void require_distinct_parts(const std::vector<std::string>& files,
                            std::string (*part)(std::string_view file)) {
    std::unordered_map<std::string, std::string> seen;
    for (const std::string& file : files) {
        const auto [earlier, added] = seen.try_emplace(part(file), file);
        if (added) continue;
        throw DataError(
            {.file = file,
             .message = fmt::format("{} is the same part; keep one of them", earlier->second)});
    }
}

std::string without_compression(std::string_view file) {
    const std::string lower = lower_case(file);
    if (lower.ends_with(".tgz")) return std::string(file.substr(0, file.size() - 4)) + ".tar";
    if (lower.ends_with(".gz")) file.remove_suffix(3);
    return std::string(file);
}

std::string without_ending(std::string_view file, std::string_view ending) {
    std::string plain = without_compression(file);
    if (lower_case(plain).ends_with(ending)) plain.resize(plain.size() - ending.size());
    return plain;
}

}    // namespace slipway
