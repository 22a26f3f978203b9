#include "executor/train/damaged_images.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "api/base/json.h"
#include "executor/tensor/parallel.h"

namespace slipway {

namespace {

constexpr const char* list_name = "damaged_images.json";

struct DamagedImage {
    std::int64_t sample = 0;
    DataProblem problem;
};
using DamagedImages = std::vector<DamagedImage>;    // by their samples, ascending

DamagedImages examine(const Dataset& dataset, const Split& split, int threads) {
    std::vector<std::int64_t> samples = split.train;
    samples.insert(samples.end(), split.val.begin(), split.val.end());
    std::ranges::sort(samples);
    std::vector<std::optional<DataProblem>> damages(samples.size());
    parallel_for(std::int64_t(samples.size()), threads, [&](std::int64_t i) {
        damages[std::size_t(i)] = dataset.damage(samples[std::size_t(i)]);
    });
    DamagedImages damaged;
    for (std::size_t i = 0; i < samples.size(); ++i)
        if (damages[i]) damaged.push_back({samples[i], std::move(*damages[i])});
    return damaged;
}

std::string to_text(const DamagedImages& damaged, const Dataset& dataset) {
    Json list = Json::array();
    for (const auto& [sample, problem] : damaged) {
        list.push_back({{"sample", sample},
                        {"file", problem.file},
                        {"row", problem.row},
                        {"field", problem.field},
                        {"message", problem.message}});
    }
    return Json{{"samples", dataset.size()}, {"damaged", std::move(list)}}.dump();
}

/// None without a list that fits: then the images are looked at again.
std::optional<DamagedImages> kept_list(const AttemptPlan& plan, const Dataset& dataset) {
    if (!plan.resume_from) return std::nullopt;
    std::ifstream file(*plan.resume_from / list_name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const Json kept = Json::parse(text, nullptr, false);
    DamagedImages damaged;
    try {
        if (!kept.is_object() || kept.at("samples") != dataset.size()) return std::nullopt;
        for (const Json& one : kept.at("damaged")) {
            damaged.push_back({one.at("sample").get<std::int64_t>(),
                               {.file = one.at("file").get<std::string>(),
                                .row = one.at("row").get<std::int64_t>(),
                                .field = one.at("field").get<std::string>(),
                                .message = one.at("message").get<std::string>()}});
        }
    } catch (const Json::exception&) {    // the checkpoint's checksums are judged when it is loaded
        return std::nullopt;
    }
    return damaged;
}

}    // namespace

void leave_damaged_out(const AttemptPlan& plan, TrainData& data) {
    const Dataset& dataset = data.images();
    std::optional<DamagedImages> kept = kept_list(plan, dataset);
    DamagedImages damaged =
        kept ? std::move(*kept) : examine(dataset, data.split, plan.worker_threads);
    data.files.push_back({.name = list_name, .bytes = to_text(damaged, dataset)});
    for (std::vector<std::int64_t>* part : {&data.split.train, &data.split.val}) {
        if (part->empty()) continue;
        std::erase_if(*part, [&](std::int64_t sample) {
            return std::ranges::binary_search(damaged, sample, {}, &DamagedImage::sample);
        });
        if (part->empty()) throw DataError(damaged.front().problem);
    }
    for (DamagedImage& one : damaged)
        data.skipped.push_back(std::move(one.problem));
}

}    // namespace slipway
