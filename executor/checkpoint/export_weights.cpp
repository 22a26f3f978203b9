#include "executor/checkpoint/export_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "executor/checkpoint/checkpoint.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {

namespace {

/// What the trainer has said of names, by the member that holds it; nothing when it is absent.
template <class Names>
Names names_in(const TrainingState& state, const char* member) {
    const auto details = nlohmann::json::parse(state.details, nullptr, false);
    if (!details.is_object() || !details.contains(member)) return {};
    try {
        return details.at(member).get<Names>();
    } catch (const nlohmann::json::exception& problem) {
        throw Error{
            ErrorCode::data_loss,
            fmt::format("the names of its tensors ({}) are damaged: {}", member, problem.what())};
    }
}

/// Tensors that no state dict has.
void drop_constants(std::vector<NamedArray>& weights, const std::vector<std::string>& names) {
    std::erase_if(weights, [&](const NamedArray& weight) {
        return std::ranges::find(names, weight.name) != names.end();
    });
}

void take_raw(std::vector<NamedArray>& weights, const std::vector<NamedArray>& optimizer) {
    for (NamedArray& weight : weights) {
        const auto raw = std::ranges::find(optimizer, weight.name + ".raw", &NamedArray::name);
        if (raw != optimizer.end()) weight.array = raw->array;
    }
}

void add_aliases(std::vector<NamedArray>& weights,
                 const std::map<std::string, std::string>& aliases) {
    for (const auto& [alias, name] : aliases) {
        const auto stored = std::ranges::find(weights, name, &NamedArray::name);
        const bool there = std::ranges::find(weights, alias, &NamedArray::name) != weights.end();
        if (stored == weights.end() || there)
            throw Error{ErrorCode::data_loss, "the names of tied tensors do not fit its tensors"};
        weights.push_back({alias, stored->array});
    }
}

Array rounded(const Array& array) {
    if (array.shape().dtype != DType::f32) return array;
    Array result({DType::bf16, array.shape().dims});
    std::ranges::transform(array.as<float>(), result.as<BFloat16>().begin(),
                           [](float value) { return BFloat16(value); });
    return result;
}

}    // namespace

WrittenFile export_weights(const std::filesystem::path& checkpoint,
                           const std::filesystem::path& file, const ExportOptions& options) {
    check(options.dtype == DType::f32 || options.dtype == DType::bf16, "weights are f32 or bf16");
    Checkpoint loaded = load_checkpoint(checkpoint).value();
    if (options.raw) take_raw(loaded.weights, loaded.optimizer);
    loaded.optimizer.clear();
    drop_constants(loaded.weights, names_in<std::vector<std::string>>(loaded.state, "constants"));
    if (options.dtype == DType::bf16)
        for (NamedArray& weight : loaded.weights)
            weight.array = rounded(weight.array);
    // Other names of tensors, each with the name it is stored under.
    add_aliases(loaded.weights,
                names_in<std::map<std::string, std::string>>(loaded.state, "aliases"));
    return write_safetensors(file, loaded.weights, {{"format", "pt"}});
}

}    // namespace slipway
