#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/base/error.h"
#include "api/spec/layer_spec.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"

/// What one layer of a layer-list model is made from, and what comes of it. Shapes are of one
/// sample: without the batch, which is the first dimension of every tensor.
namespace slipway::layer_list {

/// What all layers of a network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;
    std::int64_t outputs;                         ///< of the whole network
    std::int64_t batch_size;                      ///< samples that a batch norm sees at once
    bool sync_norms;                              ///< BatchNormalization::sync
    double highest_dropout;                       ///< the rate that the pass's input has
    std::span<const std::string> column_names;    ///< of the table; empty: they have none
};

/// Something that a layer reads.
struct Source {
    Dims dims;
    std::string origin;    ///< in words: "model.layers[2] (flatten)"
    /// Which columns of the dataset's table it is, unchanged; empty: it is something else.
    std::vector<std::size_t> columns = {};
};

struct LayerRequest {
    Maker& maker;
    const LayerSpec& spec;
    std::string path;    ///< in the job: "model.layers[3].layers[1]"
    std::string name;    ///< of its parameters, up to their own: "stem.1"
    std::vector<Source> inputs;
    bool relu_follows = false;    ///< its only reader is a relu, which a batch norm can do at once

    const Dims& input() const { return inputs.front().dims; }
};

using Forward = std::function<Tensor(std::span<const Tensor> inputs, ForwardPass& pass)>;

struct BuiltLayer {
    Forward forward;
    Dims dims;                                ///< of its result
    std::vector<std::size_t> columns = {};    ///< as Source::columns
};

/// A function of one tensor as a Forward.
template <class Function>
Forward forward_of(Function function) {
    return [function = std::move(function)](std::span<const Tensor> inputs, ForwardPass&) {
        return function(inputs[0]);
    };
}

/// "model.layers[3] (conv2d "down")".
std::string described(const LayerSpec& spec, const std::string& path);
/// "[3, 28, 28]".
std::string shown(const Dims& dims);

/// errors  always invalid_argument: the layer, what it needs, what comes in and from where
[[noreturn]] void refuse(const LayerRequest& request, const std::string& needs);

/// Channels, height and width of the one input.
struct ImageShape {
    std::int64_t channels, height, width;
};
/// errors  invalid_argument when it is no image
ImageShape image_of(const LayerRequest& request);

/// errors  invalid_argument when a weight of these dims is larger than any machine of today trains
void require_trainable(const LayerRequest& request, const Dims& dims);

}    // namespace slipway::layer_list
