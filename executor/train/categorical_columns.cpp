#include "executor/train/categorical_columns.h"

#include <fmt/format.h>

#include <cmath>

#include "executor/data/moments.h"

namespace slipway {

namespace {

[[noreturn]] void refuse(const Dataset& dataset, std::int64_t sample,
                         const CategoricalColumn& column, float value) {
    const std::vector<std::string>& names = dataset.index().feature_names;
    DataProblem problem = dataset.place(sample);
    problem.field =
        column.column < names.size() ? names[column.column] : fmt::format("{}", column.column);
    problem.message = fmt::format(
        "{} is not a category of {}: its categories are the whole numbers from 0 to "
        "{}; correct the table, or train with a larger num_embeddings",
        value, column.layer, column.count - 1);
    throw DataError(std::move(problem));
}

}    // namespace

std::vector<CategoricalColumn> categorical_columns_read(const ModelSpec& model,
                                                        const DatasetIndex& index) {
    if (!has_embedding(model) || index.feature_dims.size() != 1) return {};
    return categorical_columns(model.layers, std::size_t(index.feature_count()),
                               index.feature_names);
}

void require_categories(const Dataset& dataset, const Split& split,
                        std::span<const CategoricalColumn> columns) {
    if (columns.empty()) return;
    std::vector<float> features(std::size_t(dataset.index().feature_count()));
    for (const auto* part : {&split.train, &split.val}) {
        for (const std::int64_t sample : *part) {
            dataset.read(sample, features);
            for (const CategoricalColumn& column : columns) {
                const float value = features[column.column];
                if (value >= 0 && value < float(column.count) && value == std::floor(value))
                    continue;
                refuse(dataset, sample, column, value);
            }
        }
    }
}

Moments without_categorical(Moments moments, const Dims& feature_dims,
                            std::span<const CategoricalColumn> columns) {
    moments = of_each_channel(std::move(moments), feature_dims);
    for (const CategoricalColumn& column : columns) {
        moments.mean[column.column] = 0;
        moments.deviation[column.column] = 1;
    }
    return moments;
}

}    // namespace slipway
