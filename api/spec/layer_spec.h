#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/spelling.h"

namespace slipway {

// The layers of a layer-list model (model.arch layers) as plain data. Bounds, documentation and
// what belongs to which type are in layer_tables.cpp.

/// Each is a module or an expression of torch (docs/models.md says which).
enum class LayerType {
    linear,
    conv2d,
    batch_norm,
    layer_norm,
    relu,
    gelu,
    tanh,
    sigmoid,
    softmax,
    dropout,
    max_pool,
    avg_pool,
    global_avg_pool,
    flatten,
    sequence,
    residual,
    add,
    concat,
    columns,
    embedding,
    sinusoidal_position
};
/// none: by the error function; tanh: the usual approximation of it.
enum class GeluApproximation { none, tanh };

/// One layer of a list. It reads the layer before it unless `inputs` says otherwise.
struct LayerSpec {
    LayerType type = LayerType::relu;
    std::string name = {};    ///< empty: its place in the list, "0" for the first
    /// Names of earlier layers of its list, or "input" for what the list itself reads.
    std::vector<std::string> inputs = {};
    std::optional<std::int64_t> out_features = {};    ///< absent: as many as the task needs
    std::int64_t out_channels = 1;
    std::int64_t kernel_size = 1;               ///< side of a square
    std::optional<std::int64_t> stride = {};    ///< absent: 1 for conv2d, kernel_size for pools
    std::int64_t padding = 0;                   ///< on each side
    std::int64_t groups = 1;
    bool bias = true;
    double eps = 1e-5;
    double momentum = 0.1;
    double rate = 0.5;    ///< of a dropout
    GeluApproximation approximate = GeluApproximation::none;
    std::vector<std::string> columns = {};    ///< of the dataset's table, by name
    std::int64_t num_embeddings = 1;          ///< rows of an embedding's table
    std::int64_t embedding_dim = 1;           ///< numbers of a row
    std::optional<std::int64_t> padding_idx =
        {};                                ///< its row that begins as zeros and gets no gradient
    std::vector<LayerSpec> layers = {};    ///< of a sequence or a residual block
    std::vector<LayerSpec> shortcut =
        {};    ///< of a residual block; empty: what it reads, unchanged
    bool operator==(const LayerSpec&) const = default;
};

/// The name of what a list of layers reads.
constexpr std::string_view list_input = "input";

/// What inputs and parameters call layer `index` of a list: its name, or else its place.
std::string name_in(const std::vector<LayerSpec>& list, std::size_t index);

/// What layer `index` may read by this name: 0 for the input of the list, i + 1 for layer i before
/// it. None when there is no such name there.
std::optional<std::size_t> find_source(const std::vector<LayerSpec>& list, std::size_t index,
                                       std::string_view name);

/// What layer `index` reads, as find_source numbers it; names that are not there are left out.
std::vector<std::size_t> sources_of(const std::vector<LayerSpec>& list, std::size_t index);

/// How many layers read each source, as find_source numbers them; the list's own result is read.
std::vector<std::size_t> reader_counts(const std::vector<LayerSpec>& list);

/// The highest rate of a dropout, blocks included; 0 without.
double highest_dropout(const std::vector<LayerSpec>& list);

/// Whether there is a layer of this type, blocks included.
bool has_layer(const std::vector<LayerSpec>& list, LayerType type);

template <>
struct Spelling<LayerType> {
    static constexpr std::array<std::string_view, 21> words{"linear",
                                                            "conv2d",
                                                            "batch_norm",
                                                            "layer_norm",
                                                            "relu",
                                                            "gelu",
                                                            "tanh",
                                                            "sigmoid",
                                                            "softmax",
                                                            "dropout",
                                                            "max_pool",
                                                            "avg_pool",
                                                            "global_avg_pool",
                                                            "flatten",
                                                            "sequence",
                                                            "residual",
                                                            "add",
                                                            "concat",
                                                            "columns",
                                                            "embedding",
                                                            "sinusoidal_position"};
};
template <>
struct Spelling<GeluApproximation> {
    static constexpr std::array<std::string_view, 2> words{"none", "tanh"};
};

}    // namespace slipway
