#include "executor/nn/parameter.h"

#include <algorithm>

namespace slipway {

Tensor ParameterList::add(const std::string& name, Array initial) {
    check(std::ranges::none_of(parameters_, [&](const Parameter& p) { return p.name == name; }),
          "parameter names are unique");
    Tensor made = leaf(initial.shape(), Placement::replicated, name);
    parameters_.push_back({name, made, std::move(initial)});
    return made;
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
        count += parameter.value.element_count();
    return count;
}

}    // namespace slipway
