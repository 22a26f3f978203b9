#include "executor/nn/parameter.h"

#include <algorithm>

namespace slipway {

namespace {

Parameter make_parameter(const std::string& name, Array initial) {
    Tensor made = input(initial.shape(), Placement::replicated, name);
    return {name, std::move(made), std::move(initial)};
}

}    // namespace

bool ParameterList::is_known(const std::string& name) const {
    const auto has_name = [&](const Parameter& p) { return p.name == name; };
    return std::ranges::any_of(parameters_, has_name) ||
           std::ranges::any_of(statistics_, has_name) ||
           std::ranges::find(batch_counts_, name, &BatchCount::name) != batch_counts_.end() ||
           std::ranges::find(aliases_, name, &ParameterAlias::name) != aliases_.end();
}

Tensor ParameterList::add(const std::string& name, Array initial) {
    check(!is_known(name), "parameter names are unique");
    names_.push_back(name);
    if (const Parameter* same = tied_to(name, initial.shape())) {
        aliases_.push_back({name, same->name});
        return same->input;
    }
    return parameters_.emplace_back(make_parameter(name, std::move(initial))).input;
}

Tensor ParameterList::add_fixed(const std::string& name, Array value, bool is_constant) {
    const std::size_t before = parameters_.size();
    Tensor made = add(name, std::move(value));
    if (parameters_.size() == before) return made;    // another name of a parameter
    parameters_.back().trains = false;
    parameters_.back().is_constant = is_constant;
    return made;
}

Tensor ParameterList::add_statistic(const std::string& name, Array initial) {
    check(!is_known(name), "parameter names are unique");
    return statistics_.emplace_back(make_parameter(name, std::move(initial))).input;
}

void ParameterList::add_batch_count(const std::string& name) {
    check(!is_known(name), "parameter names are unique");
    batch_counts_.push_back({.name = name});
}

void ParameterList::add_alias(const std::string& name, const std::string& parameter) {
    check(!is_known(name) && is_known(parameter), "an alias is another name of a parameter");
    aliases_.push_back({name, parameter});
}

void ParameterList::add_unused(const std::string& name) {
    check(!is_known(name), "parameter names are unique");
    unused_.push_back(name);
}

void ParameterList::tie(const std::string& one, const std::string& other) {
    const std::size_t kept = ties_.try_emplace(one, ties_.size()).first->second;
    const std::size_t merged = ties_.try_emplace(other, ties_.size()).first->second;
    for (auto& [name, group] : ties_)
        if (group == merged) group = kept;
}

const Parameter* ParameterList::tied_to(const std::string& name, const Shape& shape) const {
    const auto own = ties_.find(name);
    if (own == ties_.end()) return nullptr;
    const auto found = std::ranges::find_if(parameters_, [&](const Parameter& parameter) {
        const auto tie = ties_.find(parameter.name);
        return tie != ties_.end() && tie->second == own->second && parameter.input.shape() == shape;
    });
    return found == parameters_.end() ? nullptr : &*found;
}

std::vector<Tensor> ParameterList::inputs() const {
    std::vector<Tensor> inputs;
    inputs.reserve(parameters_.size());
    for (const Parameter& parameter : parameters_)
        inputs.push_back(parameter.input);
    return inputs;
}

std::int64_t ParameterList::element_count() const {
    std::int64_t count = 0;
    for (const Parameter& parameter : parameters_)
        if (is_floating(parameter.input.dtype())) count += parameter.input.shape().element_count();
    return count;
}

void ParameterList::forget_values() {
    for (auto* list : {&parameters_, &statistics_})
        for (Parameter& parameter : *list)
            parameter.value = Array();
}

}    // namespace slipway
