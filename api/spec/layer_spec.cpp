#include "api/spec/layer_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace slipway {

namespace {

/// "7" as 7; none for names, which never begin with a digit, and for "07".
std::optional<std::size_t> as_place(std::string_view name) {
    std::size_t place = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), place);
    if (error != std::errc{} || fmt::to_string(place) != name) return std::nullopt;
    return place;
}

}    // namespace

std::string name_in(const std::vector<LayerSpec>& list, std::size_t index) {
    return list[index].name.empty() ? fmt::to_string(index) : list[index].name;
}

std::optional<std::size_t> find_source(const std::vector<LayerSpec>& list, std::size_t index,
                                       std::string_view name) {
    if (name.empty()) return std::nullopt;
    if (name == list_input) return 0;
    if (const auto place = as_place(name))
        return *place < index && list[*place].name.empty() ? std::optional(*place + 1)
                                                           : std::nullopt;
    for (std::size_t earlier = 0; earlier < index; ++earlier)
        if (list[earlier].name == name) return earlier + 1;
    return std::nullopt;
}

std::vector<std::size_t> sources_of(const std::vector<LayerSpec>& list, std::size_t index) {
    if (list[index].inputs.empty()) return {index};
    std::vector<std::size_t> sources;
    for (const std::string& name : list[index].inputs)
        if (const auto source = find_source(list, index, name)) sources.push_back(*source);
    return sources;
}

std::vector<std::size_t> reader_counts(const std::vector<LayerSpec>& list) {
    std::vector<std::size_t> counts(list.size() + 1, 0);
    for (std::size_t index = 0; index < list.size(); ++index)
        for (const std::size_t source : sources_of(list, index))
            ++counts[source];
    ++counts.back();
    return counts;
}

double highest_dropout(const std::vector<LayerSpec>& list) {
    double rate = 0;
    for (const LayerSpec& layer : list) {
        if (layer.type == LayerType::dropout) rate = std::max(rate, layer.rate);
        rate = std::max({rate, highest_dropout(layer.layers), highest_dropout(layer.shortcut)});
    }
    return rate;
}

bool has_layer(const std::vector<LayerSpec>& list, LayerType type) {
    return std::any_of(list.begin(), list.end(), [&](const LayerSpec& layer) {
        return layer.type == type || has_layer(layer.layers, type) ||
               has_layer(layer.shortcut, type);
    });
}

}    // namespace slipway
