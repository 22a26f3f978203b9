#include "executor/train/codes.h"

#include <fmt/format.h>

#include <cmath>

#include "executor/data/moments.h"

namespace slipway {

namespace {

[[noreturn]] void refuse(const Dataset& dataset, std::int64_t sample, const CodeColumn& code,
                         float value) {
    const std::vector<std::string>& names = dataset.index().feature_names;
    DataProblem problem = dataset.place(sample);
    problem.field =
        code.column < names.size() ? names[code.column] : fmt::format("{}", code.column);
    problem.message = fmt::format(
        "{} is no code that {} has a row for: these are the whole numbers from 0 to "
        "{}; correct the table, or train with a larger num_embeddings",
        value, code.layer, code.count - 1);
    throw DataError(std::move(problem));
}

}    // namespace

std::vector<CodeColumn> codes_read(const ModelSpec& model, const DatasetIndex& index) {
    if (!has_embedding(model) || index.feature_dims.size() != 1) return {};
    return code_columns(model.layers, std::size_t(index.feature_count()), index.feature_names);
}

void require_codes(const Dataset& dataset, const Split& split, std::span<const CodeColumn> codes) {
    if (codes.empty()) return;
    std::vector<float> features(std::size_t(dataset.index().feature_count()));
    for (const auto* part : {&split.train, &split.val}) {
        for (const std::int64_t sample : *part) {
            dataset.read(sample, features);
            for (const CodeColumn& code : codes) {
                const float value = features[code.column];
                if (value >= 0 && value < float(code.count) && value == std::floor(value)) continue;
                refuse(dataset, sample, code, value);
            }
        }
    }
}

Moments without_codes(Moments moments, const Dims& feature_dims,
                      std::span<const CodeColumn> codes) {
    moments = of_each_channel(std::move(moments), feature_dims);
    for (const CodeColumn& code : codes) {
        moments.mean[code.column] = 0;
        moments.deviation[code.column] = 1;
    }
    return moments;
}

}    // namespace slipway
