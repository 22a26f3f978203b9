#include "executor/nn/parameter.h"

#include <algorithm>

namespace slipway {

namespace {

Parameter make_parameter(const std::string& name, Array initial) {
    Tensor made = leaf(initial.shape(), Placement::replicated, name);
    return {name, std::move(made), std::move(initial)};
}

}    // namespace

bool ParameterList::is_known(const std::string& name) const {
    const auto has_name = [&](const Parameter& p) { return p.name == name; };
    return std::ranges::any_of(parameters_, has_name) ||
           std::ranges::any_of(statistics_, has_name) ||
           std::ranges::find(batch_counts_, name, &BatchCount::name) != batch_counts_.end();
}

Tensor ParameterList::add(const std::string& name, Array initial) {
    check(!is_known(name), "parameter names are unique");
    return parameters_.emplace_back(make_parameter(name, std::move(initial))).leaf;
}

Tensor ParameterList::add_statistic(const std::string& name, Array initial) {
    check(!is_known(name), "parameter names are unique");
    return statistics_.emplace_back(make_parameter(name, std::move(initial))).leaf;
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

std::vector<Tensor> ParameterList::leaves() const {
    std::vector<Tensor> leaves;
    leaves.reserve(parameters_.size());
    for (const Parameter& parameter : parameters_)
        leaves.push_back(parameter.leaf);
    return leaves;
}

std::int64_t ParameterList::element_count() const {
    std::int64_t count = 0;
    for (const Parameter& parameter : parameters_)
        count += parameter.leaf.shape().element_count();
    return count;
}

void ParameterList::forget_values() {
    for (auto* list : {&parameters_, &statistics_})
        for (Parameter& parameter : *list)
            parameter.value = Array();
}

}    // namespace slipway
