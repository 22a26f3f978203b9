#include "executor/nn/layer_list/network.h"

#include <fmt/format.h>

#include <numeric>

#include "executor/nn/layer_list/list.h"

namespace slipway {

namespace {

/// The samples of a table are rows, and each number is of a column.
std::vector<std::size_t> columns_of(const Dims& sample_dims) {
    if (sample_dims.size() != 1) return {};
    std::vector<std::size_t> columns{};
    columns.resize(std::size_t(sample_dims[0]));
    std::iota(columns.begin(), columns.end(), 0);
    return columns;
}

}    // namespace

LayerListModel LayerListModel::create(ParameterList& parameters, Init& init,
                                      const std::vector<LayerSpec>& layers,
                                      const Options& options) {
    layer_list::Maker maker{.parameters = parameters,
                            .init = init,
                            .outputs = options.outputs,
                            .batch_size = options.batch_size,
                            .sync_norms = options.sync_norms,
                            .highest_dropout = highest_dropout(layers),
                            .column_names = options.column_names};
    const layer_list::BuiltList list = layer_list::build_list(
        {.maker = maker,
         .layers = layers,
         .path = "model.layers",
         .prefix = "",
         .input = {options.sample_dims, "the dataset", columns_of(options.sample_dims)}});
    if (list.dims != Dims{options.outputs}) {
        const std::size_t last = layers.size() - 1;
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("the network needs a result of {} for each sample, got {} from {}; "
                                "let it end with flatten and a linear layer without out_features, "
                                "which then has as many as needed",
                                layer_list::shown({options.outputs}), layer_list::shown(list.dims),
                                layer_list::described(layers.back(),
                                                      fmt::format("model.layers[{}]", last))));
    }
    return {.forward = list, .dropout = maker.highest_dropout};
}

}    // namespace slipway
