#include "executor/data/preview.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "executor/data/base64.h"
#include "executor/data/formats/jpeg_writer.h"
#include "executor/data/formats/text.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::json;

constexpr std::int64_t thumbnail_side = 96;
constexpr int thumbnail_quality = 85;
constexpr std::size_t values_max = 64;
constexpr std::size_t characters_max = 500;

Image thumbnail(Image image) {
    const std::int64_t longest = std::max(image.height, image.width);
    if (longest <= thumbnail_side) return image;
    const auto shrunk = [&](std::int64_t side) {
        return std::max<std::int64_t>(1, side * thumbnail_side / longest);
    };
    return resized(image, shrunk(image.height), shrunk(image.width));
}

Json name_or_null(const std::vector<std::string>& names, const std::vector<std::int32_t>& numbers,
                  std::int64_t sample) {
    if (numbers.empty() || names.empty()) return {};
    return names[std::size_t(numbers[std::size_t(sample)])];
}

Json empty_item(std::int64_t sample, const DataProblem& place) {
    return {{"sample", sample},
            {"file", place.file},
            {"row", place.row > 0 ? Json(place.row) : Json()},
            {"part", nullptr},
            {"class", nullptr},
            {"labels", nullptr},
            {"group", nullptr},
            {"shape", nullptr},
            {"image", nullptr},
            {"values", nullptr},
            {"text", nullptr},
            {"problem", nullptr}};
}

/// Of the columns whose values are shown.
std::vector<std::string> first_names(std::vector<std::string> names) {
    names.resize(std::min(names.size(), values_max));
    return names;
}

void show_image(const Dataset& dataset, std::int64_t sample, Json& item) {
    Image image = dataset.image(sample);
    item["shape"] = {image.channels, image.height, image.width};
    item["image"] = "data:image/jpeg;base64," +
                    base64(encode_jpeg(thumbnail(std::move(image)), thumbnail_quality));
}

void show_values(const Dataset& dataset, std::int64_t sample, Json& item) {
    std::vector<float> features(std::size_t(dataset.index().feature_count()));
    dataset.read(sample, features);
    item["shape"] = dataset.index().feature_dims;
    features.resize(std::min(features.size(), values_max));
    item["values"] = features;
}

Json show(const Dataset& dataset, std::int64_t sample) {
    const DatasetIndex& index = dataset.index();
    Json item = empty_item(sample, dataset.place(sample));
    item["part"] = name_or_null(index.part_names, index.parts, sample);
    item["group"] = name_or_null(index.group_names, index.groups, sample);
    if (index.target_names.empty()) {
        item["class"] = name_or_null(index.class_names, index.labels, sample);
    } else {
        const auto targets = dataset.targets(sample);
        for (std::size_t i = 0; i < targets.size(); ++i)
            item["labels"][index.target_names[i]] = targets[i];
    }
    try {
        const bool is_image = index.feature_dims.size() == 3;
        is_image ? show_image(dataset, sample, item) : show_values(dataset, sample, item);
    } catch (const DataError& error) {    // of this sample: the others are shown
        item["problem"] = error.problem().message;
    }
    return item;
}

/// Whole characters of well-formed UTF-8.
std::string first_characters(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
        if (begins && count-- == 0) break;
    }
    return std::string(text.substr(0, end));
}

Json preview_text(const fs::path& path) {
    const Folder folder = text_folder(path);
    ProblemLog problems(ProblemLog::Mode::collect);
    Json preview{{"samples", 0}, {"columns", Json::array()}, {"items", Json::array()}};
    std::int64_t number = 0;
    for (const std::string& file : text_files(path)) {
        const TextPart part = read_text_part(folder, file, problems);
        const TextCounts counts = count_text(part.text);
        preview["samples"] = preview["samples"].get<std::int64_t>() + counts.lines;
        if (number == preview_samples_max) continue;
        Json item = empty_item(number++, {.file = file});
        item["part"] = part.name;
        item["shape"] = {counts.bytes};
        item["text"] = first_characters(part.text, characters_max);
        preview["items"].push_back(std::move(item));
    }
    return preview;
}

}    // namespace

std::vector<std::int64_t> spread_samples(std::int64_t samples, std::int64_t count_max) {
    std::vector<std::int64_t> chosen;
    std::set<std::int64_t> seen;
    const std::int64_t count = std::min(samples, count_max);
    for (std::uint32_t i = 0; std::int64_t(chosen.size()) < count; ++i) {
        double place = 0;    // the digits of i in base 2, behind the point and reversed
        double digit = 0.5;
        for (std::uint32_t rest = i; rest > 0; rest >>= 1, digit /= 2)
            place += (rest & 1U) != 0 ? digit : 0;
        const auto sample = std::int64_t(place * double(samples));
        if (seen.insert(sample).second) chosen.push_back(sample);
    }
    return chosen;
}

Json preview_dataset(std::string_view format, const fs::path& path, const DatasetOptions& options) {
    if (format == "text") return preview_text(path);
    DatasetOptions raw = options;
    raw.mean.clear();
    raw.deviation.clear();
    raw.cache_bytes_max = 0;
    raw.truncated_images = TruncatedImages::fail;      // to be named
    ProblemLog problems(ProblemLog::Mode::collect);    // the first image may be a damaged one
    const auto dataset = open_dataset(format, path, raw, problems);
    Json preview{{"samples", dataset->size()},
                 {"columns", first_names(dataset->index().feature_names)},
                 {"items", Json::array()}};
    for (const std::int64_t sample : spread_samples(dataset->size(), preview_samples_max))
        preview["items"].push_back(show(*dataset, sample));
    return preview;
}

}    // namespace slipway
