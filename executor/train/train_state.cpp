#include "executor/train/train_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "executor/train/resumed_spec.h"
#include "executor/train/train_error.h"

// The values of a state have one order: parameters, the optimizer's states parameter by parameter,
// running statistics. For the first two Layout is the only place that knows it. A checkpoint has
// them by name, so it is read whatever its order, and every name and shape is compared before
// anything is taken. With a moving average the weights in the file are the average and the raw ones
// lie among the optimizer's states: what others load is what was evaluated.
namespace slipway {

namespace {

/// "conv1.weight.exp_avg": the name of a state in optimizer.safetensors. Where the average stands
/// in the other file for the parameter, the parameter stands here for it.
std::string state_name(const Parameter& parameter, std::string_view name) {
    return fmt::format("{}.{}", parameter.name, name == average_state ? "raw" : name);
}

/// The other names of tied tensors: an export has them, too.
nlohmann::json aliases_of(const Model& model) {
    auto names = nlohmann::json::object();
    for (const ParameterAlias& alias : model.parameters.aliases())
        names[alias.name] = alias.parameter;
    return names;
}

/// What belongs to the network's text: an export leaves it out.
nlohmann::json constants_of(const Model& model) {
    auto names = nlohmann::json::array();
    for (const Parameter& parameter : model.parameters.all())
        if (parameter.is_constant) names.push_back(parameter.name);
    return names;
}

/// Where things lie in TrainState::values.
struct Layout {
    std::size_t trained = 0;    ///< parameters
    std::size_t states = 0;     ///< of each of them

    Layout(const Model& model, const UpdatePlan& plan)
        : trained(plan.chosen(model.parameters.inputs(), true).size()),
          states(plan.state_names().size()) {}

    std::size_t state(std::size_t parameter, std::size_t number) const {
        return trained + parameter * states + number;
    }
    std::size_t average(std::size_t parameter) const { return state(parameter, states - 1); }
};

/// Nothing is wrong with a checkpoint whose job has changed: an older one would not fit either.
TrainError other_network(const std::string& what, const std::vector<std::string>& changes) {
    const std::string message = what + ": it is of another model or optimizer";
    if (changes.empty()) return TrainError("checkpoint_corrupt", message);
    return TrainError("spec_error", fmt::format("{}; since it was saved the spec has changed: {}",
                                                message, fmt::join(changes, "; ")));
}

/// The arrays by the names and shapes expected, in that order.
std::vector<Array> in_order(std::vector<NamedArray> arrays,
                            const std::vector<std::pair<std::string, Shape>>& expected,
                            const TrainState& state) {
    if (arrays.size() != expected.size())
        throw other_network(fmt::format("the checkpoint has {} tensors where this job has {}",
                                        arrays.size(), expected.size()),
                            state.spec_changes);
    std::vector<Array> ordered;
    for (const auto& [name, shape] : expected) {
        const auto found = std::ranges::find(arrays, name, &NamedArray::name);
        if (found == arrays.end() || found->array.shape() != shape) {
            throw other_network(
                fmt::format("the checkpoint has no tensor {} of shape {}", name, to_string(shape)),
                state.spec_changes);
        }
        ordered.push_back(std::move(found->array));
    }
    return ordered;
}

}    // namespace

TrainState initial_state(const Model& model, const UpdatePlan& plan) {
    TrainState state;
    for (std::size_t i = 0; i < model.parameters.all().size(); ++i) {
        auto& values = plan.rule(i).trained ? state.values : state.frozen;
        values.push_back(model.parameters.all()[i].value.clone());
    }
    const std::size_t trained = state.values.size();
    for (std::size_t i = 0; i < trained; ++i) {
        for (const std::string_view name : plan.state_names()) {
            state.values.push_back(name == average_state ? state.values[i].clone()
                                                         : Array(state.values[i].shape()));
        }
    }
    for (const Parameter& statistic : model.parameters.statistics())
        state.values.push_back(statistic.value.clone());
    for (const BatchCount& count : model.parameters.batch_counts())
        state.batch_counts.push_back(count.value);
    return state;
}

std::vector<Array> network_values(const TrainState& state, const Model& model,
                                  const UpdatePlan& plan) {
    const Layout layout(model, plan);
    std::vector<Array> network;
    std::size_t trained = 0, frozen = 0;
    for (std::size_t i = 0; i < model.parameters.all().size(); ++i) {
        if (!plan.rule(i).trained) {
            network.push_back(state.frozen[frozen++]);
            continue;
        }
        network.push_back(state.values[plan.averages ? layout.average(trained) : trained]);
        ++trained;
    }
    const auto statistics =
        std::span<const Array>(state.values).last(model.parameters.statistics().size());
    network.insert(network.end(), statistics.begin(), statistics.end());
    return network;
}

Checkpoint to_checkpoint(const TrainState& state, const Model& model, const UpdatePlan& plan,
                         const TrainSettings& settings, const JobSpec& spec) {
    Checkpoint checkpoint;
    checkpoint.state = {.step = state.step,
                        .epoch = state.step / settings.steps_per_epoch,
                        .samples = state.samples,
                        .seed = std::uint64_t(spec.train.seed),
                        .sampler_epoch = state.position.epoch,
                        .sampler_batch = state.position.batch,
                        .schedule = settings.schedule_name,
                        .learning_rate = lr_at(settings.schedule, settings.hyper.lr, state.step),
                        .details = nlohmann::json{{"kept", to_json(state.kept)},
                                                  {"early_stopping", to_json(state.early_stopping)},
                                                  {"aliases", aliases_of(model)},
                                                  {"constants", constants_of(model)},
                                                  {"spec", trained_spec(spec)}}
                                       .dump()};
    const std::vector<Array> network = network_values(state, model, plan);
    auto value = network.begin();
    for (const auto* list : {&model.parameters.all(), &model.parameters.statistics()})
        for (const Parameter& parameter : *list)
            checkpoint.weights.push_back({parameter.name, *value++});
    const auto trained = plan.chosen(model.parameters.all(), true);
    const auto names = plan.state_names();
    const Layout layout(model, plan);
    for (std::size_t i = 0; i < trained.size(); ++i) {
        for (std::size_t j = 0; j < names.size(); ++j) {
            const std::size_t at = names[j] == average_state ? i : layout.state(i, j);
            checkpoint.optimizer.push_back({state_name(trained[i], names[j]), state.values[at]});
        }
    }
    for (std::size_t i = 0; i < state.batch_counts.size(); ++i) {
        const std::array count{state.batch_counts[i]};
        checkpoint.weights.push_back(
            {model.parameters.batch_counts()[i].name, array_of<std::int64_t>({}, count)});
    }
    return checkpoint;
}

TrainState from_checkpoint(const std::filesystem::path& folder, const JobSpec& spec,
                           const Model& model, const UpdatePlan& plan) {
    Result<Checkpoint> loaded = load_checkpoint(folder);
    if (!loaded) throw TrainError(unusable_reason(loaded.error()), loaded.error().what());
    Checkpoint checkpoint = std::move(loaded).value();
    const auto details = nlohmann::json::parse(checkpoint.state.details, nullptr, false);
    TrainState state;
    state.writer = checkpoint.writer;
    if (details.is_object() && details.contains("spec"))
        state.spec_changes = spec_changes(details.at("spec"), spec);

    std::vector<std::pair<std::string, Shape>> weights, states;
    for (const auto* list : {&model.parameters.all(), &model.parameters.statistics()})
        for (const Parameter& parameter : *list)
            weights.emplace_back(parameter.name, parameter.input.shape());
    for (const BatchCount& count : model.parameters.batch_counts())
        weights.emplace_back(count.name, Shape{DType::i64, {}});
    for (const Parameter& parameter : plan.chosen(model.parameters.all(), true))
        for (const std::string_view name : plan.state_names())
            states.emplace_back(state_name(parameter, name), parameter.input.shape());

    const std::vector<Array> saved = in_order(std::move(checkpoint.weights), weights, state);
    const std::vector<Array> state_values =
        in_order(std::move(checkpoint.optimizer), states, state);
    const auto statistics = saved.begin() + std::ptrdiff_t(model.parameters.all().size());
    const auto counts = statistics + std::ptrdiff_t(model.parameters.statistics().size());
    for (std::size_t i = 0; i < model.parameters.all().size(); ++i)
        (plan.rule(i).trained ? state.values : state.frozen).push_back(saved[i]);
    state.values.insert(state.values.end(), state_values.begin(), state_values.end());
    const Layout layout(model, plan);
    for (std::size_t i = 0; plan.averages && i < layout.trained; ++i)
        std::swap(state.values[i], state.values[layout.average(i)]);
    state.values.insert(state.values.end(), statistics, counts);
    for (auto count = counts; count != saved.end(); ++count)
        state.batch_counts.push_back(count->as<std::int64_t>()[0]);
    state.step = checkpoint.state.step;
    state.samples = checkpoint.state.samples;
    state.position = {checkpoint.state.sampler_epoch, checkpoint.state.sampler_batch};
    if (details.is_object() && details.contains("kept")) {
        state.kept = kept_from_json(details.at("kept"));
    }
    if (details.is_object() && details.contains("early_stopping")) {
        state.early_stopping = early_stopping_from_json(details.at("early_stopping"));
    }
    return state;
}

}    // namespace slipway
