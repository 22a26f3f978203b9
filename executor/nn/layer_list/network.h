#pragma once

#include <functional>
#include <span>
#include <vector>

#include "api/spec/layer_spec.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"

namespace slipway {

/// A network that a job declares layer by layer (model.arch layers). Layers, parameter names and
/// initial values are those of the torch modules that docs/models.md names.
struct LayerListModel {
    std::function<Tensor(const Tensor& x, ForwardPass& pass)> forward;
    /// The highest rate of its dropout layers: what DropoutInputs::rate must be; 0 without.
    double dropout = 0;

    struct Options {
        Dims sample_dims;               ///< of the features f32, without the batch
        std::int64_t outputs = 10;      ///< of each sample: its result is [outputs]
        std::int64_t batch_size = 1;    ///< samples that a batch norm sees at once
        bool sync_norms = false;        ///< BatchNormalization::sync
        std::span<const std::string> column_names = {};    ///< of a table; empty: they have none
    };
    /// `layers` have been decoded without problems.
    /// errors  invalid_argument when shapes do not fit: names the layer, what it needs and what
    ///         comes in
    static LayerListModel create(ParameterList& parameters, Init& init,
                                 const std::vector<LayerSpec>& layers, const Options& options);
    /// x f32 [n, …] -> f32 [n, outputs]
    Tensor operator()(const Tensor& x, ForwardPass& pass) const { return forward(x, pass); }
};

}    // namespace slipway
