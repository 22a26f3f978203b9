#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/spec/layer_spec.h"

namespace slipway {

/// A column of the dataset's table that an embedding reads: whole numbers from 0 to `count` - 1.
struct CategoricalColumn {
    std::size_t column = 0;
    std::int64_t count = 0;
    std::string layer = {};    ///< in words: "model.layers[0] (embedding "city")"
};

/// What embeddings ask of a table of so many columns. `names` are the columns', or empty where they
/// have none; one that is not there is left out here, and refused when the network is built.
std::vector<CategoricalColumn> categorical_columns(const std::vector<LayerSpec>& layers,
                                                   std::size_t column_count,
                                                   std::span<const std::string> names);

}    // namespace slipway
