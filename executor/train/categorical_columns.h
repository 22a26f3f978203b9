#pragma once

#include <span>
#include <vector>

#include "api/spec/job_spec.h"
#include "executor/data/dataset.h"
#include "executor/data/split.h"
#include "executor/nn/layer_list/categorical_columns.h"

/// Categorical columns of a table: indices of rows of an embedding, not quantities.
namespace slipway {

/// Those that the network's embeddings read; none of images.
std::vector<CategoricalColumn> categorical_columns_read(const ModelSpec& model,
                                                        const DatasetIndex& index);

/// Reads the split's samples once, where there are such columns. `dataset` is as stored.
/// errors  DataError naming file, row and column of the first number that the embedding that reads
///         it has no row for
void require_categories(const Dataset& dataset, const Split& split,
                        std::span<const CategoricalColumn> columns);

/// One of `moments` for each column, those of categories such that normalising leaves them as they
/// are. errors  invalid_argument as of_each_channel
Moments without_categorical(Moments moments, const Dims& feature_dims,
                            std::span<const CategoricalColumn> columns);

}    // namespace slipway
