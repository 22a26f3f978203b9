#include "executor/train/trained_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "executor/train/train_error.h"

namespace slipway {

namespace {

constexpr const char* samples_file_name = "samples.json";

}    // namespace

CheckpointFile file_of(const TrainedSamples& samples) {
    const Json json{{"feature_dims", samples.feature_dims},
                    {"names", samples.names},
                    {"columns", samples.columns},
                    {"image_size", samples.image_size},
                    {"channels", samples.channels},
                    {"mean", samples.mean},
                    {"std", samples.deviation}};
    return {samples_file_name, json.dump(2) + "\n"};
}

TrainedSamples read_trained_samples(const std::filesystem::path& checkpoint) {
    std::ifstream file(checkpoint / samples_file_name, std::ios::binary);
    if (!file) {
        throw TrainError(
            "checkpoint_corrupt",
            fmt::format("the checkpoint {} has no {}: it is of an older version, which "
                        "did not keep how its samples were read; train the job again",
                        checkpoint.filename().string(), samples_file_name));
    }
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    try {
        const Json json = parse_json(text, {.bytes_max = text.size() + 1}).value().value;
        return {.feature_dims = json.at("feature_dims").get<Dims>(),
                .names = json.at("names").get<std::vector<std::string>>(),
                .columns = json.at("columns").get<std::vector<std::string>>(),
                .image_size = json.at("image_size").get<std::int64_t>(),
                .channels = json.at("channels").get<std::int64_t>(),
                .mean = json.at("mean").get<std::vector<double>>(),
                .deviation = json.at("std").get<std::vector<float>>()};
    } catch (const Json::exception& error) {
        throw TrainError("checkpoint_corrupt", fmt::format("{} of the checkpoint is damaged: {}",
                                                           samples_file_name, error.what()));
    } catch (const Error& error) {
        throw TrainError("checkpoint_corrupt", fmt::format("{} of the checkpoint is damaged: {}",
                                                           samples_file_name, error.what()));
    }
}

std::optional<TrainedSamples> find_trained_samples(const std::filesystem::path& from) {
    if (!std::filesystem::exists(from / samples_file_name)) return std::nullopt;
    return read_trained_samples(from);
}

void order_columns(const TrainedSamples& trained, const std::vector<std::string>& columns,
                   DatasetOptions& options) {
    if (trained.columns == columns || !std::ranges::is_permutation(trained.columns, columns))
        return;
    const auto reorder = [&](auto& numbers) {
        if (numbers.size() != columns.size()) return;    // one for all, or none
        auto ordered = numbers;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto place = std::ranges::find(columns, trained.columns[i]) - columns.begin();
            ordered[i] = numbers[std::size_t(place)];
        }
        numbers = std::move(ordered);
    };
    reorder(options.mean);
    reorder(options.deviation);
    options.feature_columns = trained.columns;
}

void apply(const TrainedSamples& samples, DatasetOptions& options) {
    if (!samples.columns.empty()) options.feature_columns = samples.columns;
    if (samples.image_size > 0) options.image_size = samples.image_size;
    if (samples.channels > 0) options.channels = samples.channels;
    options.mean = samples.mean;
    options.deviation = samples.deviation;
}

}    // namespace slipway
