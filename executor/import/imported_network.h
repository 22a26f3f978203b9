#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "executor/checkpoint/safetensors.h"
#include "executor/import/network.h"
#include "executor/nn/forward_pass.h"

namespace slipway::importer {

/// A user's network, ready to train (model.arch imported). What trains is decided by what the file
/// says of each tensor: parameters train unless the module has frozen them; running statistics that
/// a batch norm moves are statistics; all other buffers and constants stay as they are.
struct ImportedNetwork {
    std::function<Tensor(const Tensor& x, ForwardPass& pass)> forward;
    double dropout = 0;    ///< the highest rate: what DropoutInputs::rate must be; 0 without
    /// What a user should know of the file: that it was exported for evaluation; empty: nothing.
    std::string warning;
    std::string head;    ///< the layer whose result is the network's: "fc"; empty: not one layer

    struct Options {
        Dims sample_dims;               ///< of the features f32, without the batch
        std::int64_t outputs = 10;      ///< of each sample: its result is [outputs]
        std::int64_t batch_size = 1;    ///< samples of a core
        bool sync_norms = false;        ///< BatchNormalization::sync
    };
    /// values  of the file, for all inputs but samples; empty: zeros, where a checkpoint has them
    /// errors  invalid_argument: operators that are not in the table (all of them), a batch that is
    ///         not free, samples or outputs that do not fit, with what to change
    static ImportedNetwork create(ParameterList& parameters, std::shared_ptr<const Network> network,
                                  std::span<const NamedArray> values, const Options& options);
    /// x f32 [n, …] -> f32 [n, outputs]
    Tensor operator()(const Tensor& x, ForwardPass& pass) const { return forward(x, pass); }
};

}    // namespace slipway::importer
