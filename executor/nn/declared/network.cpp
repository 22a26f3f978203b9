#include "executor/nn/declared/network.h"

#include <fmt/format.h>

#include "executor/nn/declared/list.h"

namespace slipway {

DeclaredNetwork DeclaredNetwork::create(ParameterList& parameters, Init& init,
                                        const std::vector<LayerSpec>& layers,
                                        const Options& options) {
    declared::Maker maker{parameters,         init,
                          options.outputs,    options.batch_size,
                          options.sync_norms, highest_dropout(layers)};
    const declared::BuiltList list =
        declared::build_list({.maker = maker,
                              .layers = layers,
                              .path = "model.layers",
                              .prefix = "",
                              .input = {options.sample_dims, "the data set"}});
    if (list.dims != Dims{options.outputs}) {
        const std::size_t last = layers.size() - 1;
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("the network needs a result of {} for each sample, got {} from {}; "
                        "let it end with flatten and a linear layer without out_features, "
                        "which then has as many as needed",
                        declared::shown({options.outputs}), declared::shown(list.dims),
                        declared::described(layers.back(), fmt::format("model.layers[{}]", last))));
    }
    return {.forward = list, .dropout = maker.highest_dropout};
}

}    // namespace slipway
