#include "executor/nn/forward_pass.h"

#include <unordered_map>

namespace slipway {

std::vector<Tensor> new_statistics(const ParameterList& parameters, const ForwardPass& pass) {
    std::unordered_map<const Node*, Tensor> updates;
    for (const ForwardPass::StatisticUpdate& update : pass.updates)
        updates.emplace(update.statistic.get(), update.value);
    std::vector<Tensor> values;
    for (const Parameter& statistic : parameters.statistics())
        values.push_back(updates.at(statistic.input.get()));
    return values;
}

Tensor dropped(const Tensor& x, ForwardPass& pass) {
    if (pass.dropout.rate.empty()) return x;
    return dropout(x, pass.dropout.rate, pass.dropout.key, pass.dropout_count++,
                   pass.dropout.first_sample);
}

}    // namespace slipway
