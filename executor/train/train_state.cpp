#include "executor/train/train_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "executor/train/run.h"

namespace slipway {

namespace {

/// "conv1.weight.exp_avg": a slot's name in optimizer.safetensors.
std::string slot_name(const Parameter& parameter, std::string_view slot) {
    return fmt::format("{}.{}", parameter.name, slot);
}

/// The arrays by the names and shapes expected, in that order.
std::vector<Array> in_order(std::vector<NamedArray> arrays,
                            const std::vector<std::pair<std::string, Shape>>& expected) {
    if (arrays.size() != expected.size()) {
        throw TrainError(
            "checkpoint_corrupt",
            fmt::format("the checkpoint has {} tensors where this job has {}: it is of "
                        "another model or optimizer",
                        arrays.size(), expected.size()));
    }
    std::vector<Array> ordered;
    for (const auto& [name, shape] : expected) {
        const auto found = std::ranges::find(arrays, name, &NamedArray::name);
        if (found == arrays.end() || found->array.shape() != shape) {
            throw TrainError("checkpoint_corrupt",
                             fmt::format("the checkpoint has no tensor {} of shape {}: it is of "
                                         "another model or optimizer",
                                         name, to_string(shape)));
        }
        ordered.push_back(std::move(found->array));
    }
    return ordered;
}

}    // namespace

TrainState initial_state(const Model& model, const Optimizer& optimizer) {
    TrainState state;
    for (const Parameter& parameter : model.parameters.all()) {
        state.values.push_back(parameter.value.clone());
    }
    for (const Parameter& parameter : model.parameters.all()) {
        for (std::size_t slot = 0; slot < optimizer.slots.size(); ++slot) {
            state.values.emplace_back(parameter.leaf.shape());
        }
    }
    for (const Parameter& statistic : model.parameters.statistics())
        state.values.push_back(statistic.value.clone());
    for (const BatchCount& count : model.parameters.batch_counts())
        state.batch_counts.push_back(count.value);
    return state;
}

std::vector<Array> network_values(const TrainState& state, const Model& model) {
    const std::span<const Array> values(state.values);
    const auto parameters = values.first(model.parameters.all().size());
    const auto statistics = values.last(model.parameters.statistics().size());
    std::vector<Array> network(parameters.begin(), parameters.end());
    network.insert(network.end(), statistics.begin(), statistics.end());
    return network;
}

Checkpoint to_checkpoint(const TrainState& state, const Model& model, const TrainSettings& settings,
                         std::uint64_t seed) {
    Checkpoint checkpoint;
    checkpoint.state = {.step = state.step,
                        .epoch = state.step / settings.steps_per_epoch,
                        .samples = state.samples,
                        .seed = seed,
                        .sampler_epoch = state.position.epoch,
                        .sampler_batch = state.position.batch,
                        .schedule = settings.schedule_name,
                        .learning_rate = lr_at(settings.schedule, settings.hyper.lr, state.step),
                        .details = nlohmann::json{{"kept", to_json(state.kept)}}.dump()};
    std::size_t at = 0;
    for (const Parameter& parameter : model.parameters.all()) {
        checkpoint.weights.push_back({parameter.name, state.values[at++]});
    }
    for (const Parameter& parameter : model.parameters.all()) {
        for (const std::string_view slot : settings.optimizer->slots) {
            checkpoint.optimizer.push_back({slot_name(parameter, slot), state.values[at++]});
        }
    }
    for (const Parameter& statistic : model.parameters.statistics())
        checkpoint.weights.push_back({statistic.name, state.values[at++]});
    for (std::size_t i = 0; i < state.batch_counts.size(); ++i) {
        const std::array count{state.batch_counts[i]};
        checkpoint.weights.push_back(
            {model.parameters.batch_counts()[i].name, array_of<std::int64_t>({}, count)});
    }
    return checkpoint;
}

TrainState from_checkpoint(const std::filesystem::path& folder, const Model& model,
                           const TrainSettings& settings) {
    Result<Checkpoint> loaded = load_checkpoint(folder);
    if (!loaded) throw TrainError("checkpoint_corrupt", loaded.error().what());
    Checkpoint checkpoint = std::move(loaded).value();

    std::vector<std::pair<std::string, Shape>> weights, slots;
    for (const Parameter& parameter : model.parameters.all()) {
        weights.emplace_back(parameter.name, parameter.leaf.shape());
        for (const std::string_view slot : settings.optimizer->slots) {
            slots.emplace_back(slot_name(parameter, slot), parameter.leaf.shape());
        }
    }
    for (const Parameter& statistic : model.parameters.statistics())
        weights.emplace_back(statistic.name, statistic.leaf.shape());
    for (const BatchCount& count : model.parameters.batch_counts())
        weights.emplace_back(count.name, Shape{DType::i64, {}});

    const std::vector<Array> saved = in_order(std::move(checkpoint.weights), weights);
    const std::vector<Array> slot_values = in_order(std::move(checkpoint.optimizer), slots);
    const auto statistics = saved.begin() + std::ptrdiff_t(model.parameters.all().size());
    const auto counts = statistics + std::ptrdiff_t(model.parameters.statistics().size());
    TrainState state;
    state.values.assign(saved.begin(), statistics);
    state.values.insert(state.values.end(), slot_values.begin(), slot_values.end());
    state.values.insert(state.values.end(), statistics, counts);
    for (auto count = counts; count != saved.end(); ++count)
        state.batch_counts.push_back(count->as<std::int64_t>()[0]);
    state.step = checkpoint.state.step;
    state.samples = checkpoint.state.samples;
    state.position = {checkpoint.state.sampler_epoch, checkpoint.state.sampler_batch};
    const auto details = nlohmann::json::parse(checkpoint.state.details, nullptr, false);
    if (details.is_object() && details.contains("kept")) {
        state.kept = kept_from_json(details.at("kept"));
    }
    return state;
}

}    // namespace slipway
