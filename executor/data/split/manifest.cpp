#include "executor/data/split/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/base/sha256.h"
#include "api/spec/documents.h"
#include "executor/data/content_hash.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr int manifest_version = 1;

[[noreturn]] void refuse_manifest(const std::string& why) {
    throw Error{ErrorCode::data_loss, "it is not a manifest of a split: " + why};
}

FoldTraining training_from(const std::string& word) {
    for (const FoldTraining training : {FoldTraining::others, FoldTraining::earlier})
        if (to_string(training) == word) return training;
    refuse_manifest(fmt::format("training is {}", word));
}

/// JSON numbers of 64 bits become folds only where they are some.
std::vector<std::vector<std::int32_t>> folds_from(const Json& json) {
    std::vector<std::vector<std::int32_t>> rows;
    for (const Json& row : json) {
        auto& folds = rows.emplace_back();
        for (const auto fold : row.get<std::vector<std::int64_t>>()) {
            if (fold < Folds::nowhere || fold >= split_folds_max)
                refuse_manifest(fmt::format("there is no fold {}", fold));
            folds.push_back(std::int32_t(fold));
        }
    }
    return rows;
}

void check_folds(const Folds& folds, std::int64_t samples) {
    const bool divisible = folds.repeats() > 0 && folds.count >= folds.repeats() &&
                           folds.count <= split_folds_max && folds.count % folds.repeats() == 0;
    if (!divisible) {
        refuse_manifest(fmt::format("{} folds in {} repeats", folds.count, folds.repeats()));
    }
    const std::int64_t each = folds.count / folds.repeats();
    for (std::int64_t repeat = 0; repeat < folds.repeats(); ++repeat) {
        const auto& row = folds.validates_in[std::size_t(repeat)];
        if (std::int64_t(row.size()) != samples) {
            refuse_manifest(
                fmt::format("repeat {} has {} samples of {}", repeat, row.size(), samples));
        }
        const bool fits = std::ranges::all_of(row, [&](std::int32_t fold) {
            return fold == Folds::nowhere || fold / each == repeat;
        });
        if (!fits) refuse_manifest(fmt::format("repeat {} has a fold of another", repeat));
    }
}

SplitManifest manifest_from(const Json& json) {
    if (json.at("version").get<int>() != manifest_version) {
        refuse_manifest("its version is unknown to this program");
    }
    const Json& dataset = json.at("dataset");
    auto request = decode_split_create(ParsedJson{.value = json.at("request"), .duplicates = {}});
    if (!request.ok()) refuse_manifest(joined_messages(request.problems));
    SplitManifest manifest{
        .request = std::move(request.value),
        .content_hash = dataset.at("content_hash").get<std::string>(),
        .sample_list_hash = dataset.at("sample_list_hash").get<std::string>(),
        .folds = {.count = json.at("folds").get<std::int64_t>(),
                  .training = training_from(json.at("training").get<std::string>()),
                  .validates_in = folds_from(json.at("validation"))}};
    check_folds(manifest.folds, dataset.at("samples").get<std::int64_t>());
    return manifest;
}

[[noreturn]] void refuse_file(const SplitFile& file, const std::string& message) {
    throw DataError({.file = file.path.filename().string(), .message = message});
}

}    // namespace

std::string write_manifest(const SplitManifest& manifest) {
    const Folds& folds = manifest.folds;
    const Json json{{"version", manifest_version},
                    {"request", encode(manifest.request)},
                    {"dataset",
                     {{"content_hash", manifest.content_hash},
                      {"sample_list_hash", manifest.sample_list_hash},
                      {"samples", folds.validates_in.at(0).size()}}},
                    {"folds", folds.count},
                    {"training", to_string(folds.training)},
                    {"validation", folds.validates_in}};
    return json.dump() + "\n";
}

SplitManifest parse_manifest(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) refuse_manifest("it is not a JSON object");
    try {
        return manifest_from(json);
    } catch (const Json::exception& error) {
        refuse_manifest(error.what());
    }
}

std::string manifest_hash(const std::string& text) {
    return "sha256:" + sha256_hex(text);
}

SplitManifest read_manifest(const SplitFile& file) {
    std::ifstream stream(file.path, std::ios::binary);
    if (!stream)
        refuse_file(file, "the manifest of the split cannot be read; make the split again");
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    if (!file.hash.empty() && manifest_hash(text) != file.hash) {
        refuse_file(file, fmt::format("the manifest of the split is not the one that was made "
                                      "({}); make the split again",
                                      file.hash));
    }
    try {
        return parse_manifest(text);
    } catch (const Error& error) {    // with the name of the file
        refuse_file(file, error.what());
    }
}

Split read_fold(const SplitFile& file, std::int64_t fold, const Dataset& dataset,
                const fs::path& dataset_path) {
    const SplitManifest manifest = read_manifest(file);
    if (!file.content_hash.empty() && manifest.content_hash != file.content_hash) {
        refuse_file(file, fmt::format("the split was made of a dataset with the content hash {}, "
                                      "and this one has {}; make a split of this dataset",
                                      manifest.content_hash, file.content_hash));
    }
    if (manifest.sample_list_hash != hash_sample_list(dataset_path, dataset)) {
        refuse_file(file, fmt::format("the dataset's files have changed since the split was made "
                                      "of {} samples; now there are {}. Create the dataset and "
                                      "the split again",
                                      manifest.folds.validates_in[0].size(), dataset.size()));
    }
    return split_of_fold(manifest.folds, fold);
}

}    // namespace slipway
