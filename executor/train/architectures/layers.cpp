#include "executor/train/architectures/architecture.h"

#include "executor/nn/layer_list/network.h"
#include "executor/train/train_error.h"

namespace slipway {

void build_layers(Model& model, Init& init, const NetworkRequest& request) {
    try {
        const LayerListModel network =
            LayerListModel::create(model.parameters, init, request.spec.model.layers,
                                   {.sample_dims = request.sample_dims,
                                    .outputs = request.classes,
                                    .batch_size = normalized_together(request.spec),
                                    .sync_norms = normalizes_together(request.spec),
                                    .column_names = request.details.column_names});
        model.dropout = network.dropout;
        model.forward = network;
    } catch (const Error& error) {    // layers that do not fit are the user's to fix
        if (error.code() != ErrorCode::invalid_argument) throw;
        throw TrainError("spec_error", error.what());
    }
}

}    // namespace slipway
