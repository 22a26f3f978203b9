#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "executor/data/dataset.h"
#include "executor/data/formats/raw_pixels.h"

namespace slipway {

namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(std::string_view key, std::string_view wanted, const Json& got) {
    throw Error{ErrorCode::invalid_argument,
                fmt::format("dataset option {} must be {}, got {}", key, wanted,
                            got.dump(-1, ' ', false, Json::error_handler_t::replace))};
}

void read_text(std::string_view key, const Json& value, std::string& out) {
    if (!value.is_string()) refuse(key, "a text", value);
    out = value.get<std::string>();
}

void read_name(std::string_view key, const Json& value, std::string& out) {
    read_text(key, value, out);
    if (out.empty()) refuse(key, "a text of at least one character", value);
}

void read_texts(std::string_view key, const Json& value, std::vector<std::string>& out) {
    if (!value.is_array()) refuse(key, "a list of texts", value);
    for (const Json& item : value) {
        if (!item.is_string()) refuse(key, "a list of texts", value);
        out.push_back(item.get<std::string>());
    }
    std::vector<std::string> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
        refuse(key, "a list without repetitions", value);
    }
}

template <class Number>
void read_number(std::string_view key, const Json& value, Number& out) {
    if (!value.is_number()) refuse(key, "a number or a list of numbers", value);
    out = value.get<Number>();
    if (!std::isfinite(float(out))) refuse(key, "a finite number", value);
}

template <class Number>
void read_numbers(std::string_view key, const Json& value, std::vector<Number>& out) {
    if (!value.is_array()) return read_number(key, value, out.emplace_back());
    for (const Json& item : value)
        read_number(key, item, out.emplace_back());
}

void read_positive_numbers(std::string_view key, const Json& value, std::vector<float>& out) {
    read_numbers(key, value, out);
    for (const float number : out) {
        if (number <= 0) refuse(key, "greater than 0", value);
    }
}

void read_image_size(std::string_view key, const Json& value, std::int64_t& out) {
    if (!value.is_number_integer() || value < 1 || value > 4096) {
        refuse(key, "a whole number from 1 to 4096", value);
    }
    out = value.get<std::int64_t>();
}

void read_channels(std::string_view key, const Json& value, std::int64_t& out) {
    if (!value.is_number_integer() || (value != 1 && value != 3)) refuse(key, "1 or 3", value);
    out = value.get<std::int64_t>();
}

void read_truncated_images(std::string_view key, const Json& value, TruncatedImages& out) {
    std::string word;
    read_text(key, value, word);
    const auto known = parse_word<TruncatedImages>(word);
    if (!known) {
        refuse(key, fmt::format("one of {}", fmt::join(all_words<TruncatedImages>(), ", ")), value);
    }
    out = *known;
}

void read_raw_pixels(std::string_view key, const Json& value, std::optional<PixelLayout>& out) {
    std::string word;
    read_text(key, value, word);
    out = parse_word<PixelLayout>(word);
    if (out) return;
    refuse(key, fmt::format("one of {}", fmt::join(all_words<PixelLayout>(), ", ")), value);
}

void read_raw_shape(std::string_view key, const Json& value, std::vector<std::int64_t>& out) {
    constexpr std::string_view wanted = "a list of height, width and depth";
    if (!value.is_array() || value.size() != 3) refuse(key, wanted, value);
    for (const Json& item : value) {
        if (!item.is_number_integer()) refuse(key, wanted, value);
        out.push_back(item.get<std::int64_t>());
    }
    if (const auto wrong = shape_problem({out[0], out[1], out[2]}))
        refuse(key, fmt::format("such that it is an image: {}", *wrong), value);
}

void read_shape_columns(std::string_view key, const Json& value, std::vector<std::string>& out) {
    out.clear();
    read_texts(key, value, out);
    if (out.size() != 3) refuse(key, "the names of height, width and depth", value);
}

struct Key {
    std::string_view name;
    void (*read)(std::string_view key, const Json& value, DatasetOptions& options);
};

constexpr auto keys = std::to_array<Key>({
    {"label_column", [](auto key, auto& value, auto& o) { read_name(key, value, o.label_column); }},
    {"label_columns",
     [](auto key, auto& value, auto& o) { read_texts(key, value, o.label_columns); }},
    {"group_column", [](auto key, auto& value, auto& o) { read_text(key, value, o.group_column); }},
    {"file_column", [](auto key, auto& value, auto& o) { read_name(key, value, o.file_column); }},
    {"image_column", [](auto key, auto& value, auto& o) { read_name(key, value, o.image_column); }},
    {"raw_pixels",
     [](auto key, auto& value, auto& o) { read_raw_pixels(key, value, o.raw_pixels); }},
    {"raw_shape", [](auto key, auto& value, auto& o) { read_raw_shape(key, value, o.raw_shape); }},
    {"shape_columns",
     [](auto key, auto& value, auto& o) { read_shape_columns(key, value, o.shape_columns); }},
    {"labels_file", [](auto key, auto& value, auto& o) { read_name(key, value, o.labels_file); }},
    {"feature_columns",
     [](auto key, auto& value, auto& o) { read_texts(key, value, o.feature_columns); }},
    {"class_names", [](auto key, auto& value, auto& o) { read_texts(key, value, o.class_names); }},
    {"image_size",
     [](auto key, auto& value, auto& o) { read_image_size(key, value, o.image_size); }},
    {"channels", [](auto key, auto& value, auto& o) { read_channels(key, value, o.channels); }},
    {"truncated_images",
     [](auto key, auto& value, auto& o) { read_truncated_images(key, value, o.truncated_images); }},
    {"mean", [](auto key, auto& value, auto& o) { read_numbers(key, value, o.mean); }},
    {"std", [](auto key, auto& value, auto& o) { read_positive_numbers(key, value, o.deviation); }},
});

}    // namespace

DatasetOptions parse_dataset_options(const Json& options) {
    DatasetOptions parsed;
    if (options.is_null()) return parsed;
    if (!options.is_object()) refuse("object", "a JSON object", options);
    for (const auto& [name, value] : options.items()) {
        const auto key = std::find_if(keys.begin(), keys.end(),
                                      [&](const Key& candidate) { return candidate.name == name; });
        if (key == keys.end()) {
            std::vector<std::string_view> names;
            for (const Key& candidate : keys)
                names.push_back(candidate.name);
            throw Error{ErrorCode::invalid_argument,
                        fmt::format("dataset option {} is unknown; known are {}", name,
                                    fmt::join(names, ", "))};
        }
        key->read(name, value, parsed);
    }
    return parsed;
}

}    // namespace slipway
