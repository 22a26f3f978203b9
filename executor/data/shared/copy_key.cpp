#include "executor/data/shared/copy_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <string_view>
#include <vector>

#include "executor/data/files.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// A name may hold anything: its length says where it ends.
void add_word(std::string& text, std::string_view name, const std::string& word) {
    text += fmt::format("{} {} {}\n", name, word.size(), word);
}

void add_words(std::string& text, std::string_view name, const std::vector<std::string>& words) {
    text += fmt::format("{} {}\n", name, words.size());
    for (const std::string& word : words)
        add_word(text, name, word);
}

template <class Number>
void add_numbers(std::string& text, std::string_view name, const std::vector<Number>& numbers) {
    text += fmt::format("{} {}\n", name, fmt::join(numbers, " "));
}

}    // namespace

std::string describe(const DatasetOptions& options) {
    // Named one by one: an option that is added is a compile error here.
    const auto& [label, labels, group, file, table, features, image, raw, raw_shape, shape_columns,
                 classes, image_size, channels, mean, deviation, truncated, cache_bytes_max,
                 excluded, shares] = options;
    std::string text;
    add_word(text, "label", label);
    add_words(text, "labels", labels);
    add_word(text, "group", group);
    add_word(text, "file", file);
    add_word(text, "table", table);
    add_words(text, "features", features);
    add_word(text, "image", image);
    text += fmt::format("raw {}\n", raw ? int(*raw) : -1);
    add_numbers(text, "raw_shape", raw_shape);
    add_words(text, "shape_columns", shape_columns);
    add_words(text, "classes", classes);
    text += fmt::format("image_size {} channels {} truncated {} cache {} shares {}\n", image_size,
                        channels, int(truncated), cache_bytes_max, shares);
    add_numbers(text, "mean", mean);
    add_numbers(text, "deviation", deviation);
    add_words(text, "excluded", excluded);
    return text;
}

FileFacts facts_of_files(const fs::path& path, std::chrono::seconds settled_after) {
    const Instant now = system_clock().now();
    std::vector<std::string> names;
    if (!fs::is_regular_file(path)) names = Folder(path).list();
    return facts_of_files(path, names, settled_after, now);
}

FileFacts facts_of_files(const fs::path& path, std::span<const std::string> names,
                         std::chrono::seconds settled_after, Instant read_since) {
    const Instant settled_until = read_since - settled_after;
    FileFacts found;
    const auto look_at = [&](const fs::path& file) {
        struct stat facts {};
        if (stat(file.c_str(), &facts) != 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("{} cannot be looked at", file.string())};
        }
        add_word(found.text, "path", file.string());
        found.text += fmt::format("{} {} {} {}.{:09} {}.{:09}\n", facts.st_dev, facts.st_ino,
                                  facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
                                  facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec);
        const Instant changed{std::chrono::seconds(facts.st_ctim.tv_sec)};
        if (settled_after.count() > 0 && changed >= floor<std::chrono::seconds>(settled_until))
            found.is_fresh = true;
    };
    if (fs::is_regular_file(path)) {
        look_at(path);
    } else {
        for (const std::string& name : names)
            look_at(path / name);
    }
    return found;
}

}    // namespace slipway
