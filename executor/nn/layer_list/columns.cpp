#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "executor/nn/embedding.h"
#include "executor/nn/layer_list/builders.h"

namespace slipway::layer_list {

namespace {

/// Where the named column lies among the input's.
std::size_t place_of(const LayerRequest& request, const std::string& name) {
    constexpr std::size_t shown_max = 20;
    const std::span<const std::string> names = request.maker.column_names;
    const std::vector<std::size_t>& columns = request.inputs.front().columns;
    const auto found =
        std::ranges::find_if(columns, [&](std::size_t column) { return names[column] == name; });
    if (found != columns.end()) return std::size_t(found - columns.begin());
    std::vector<std::string> shown;
    for (const std::size_t column : std::span(columns).first(std::min(columns.size(), shown_max)))
        shown.push_back(names[column]);
    if (shown.size() < columns.size()) shown.emplace_back("…");
    refuse(request, fmt::format("a column \"{}\" in the table that it reads, which has {}", name,
                                fmt::join(shown, ", ")));
}

/// Columns `places` of x [n, …] side by side: [n, places]. Neighbours are cut out together.
Tensor chosen(const Tensor& x, const std::vector<std::size_t>& places) {
    const std::int64_t n = x.dims()[0];
    std::vector<Tensor> parts;
    for (std::size_t begin = 0, end = 0; begin < places.size(); begin = end) {
        end = begin + 1;
        while (end < places.size() && places[end] == places[end - 1] + 1)
            ++end;
        parts.push_back(slice(x, {0, std::int64_t(places[begin])},
                              {n, std::int64_t(places[end - 1]) + 1}, {1, 1}));
    }
    return parts.size() == 1 ? parts[0] : concatenate(parts, 1);
}

Array initial_table(const LayerSpec& spec, Init& init) {
    Array table = init.normal({spec.num_embeddings, spec.embedding_dim}, 1);
    if (!spec.padding_idx) return table;
    const auto width = std::size_t(spec.embedding_dim);
    std::ranges::fill(table.as<float>().subspan(std::size_t(*spec.padding_idx) * width, width),
                      0.0F);
    return table;
}

}    // namespace

BuiltLayer build_columns(const LayerRequest& request) {
    const Source& input = request.inputs.front();
    if (input.columns.empty() || request.maker.column_names.empty())
        refuse(request, "the columns of a csv dataset, or of another columns layer");
    std::vector<std::size_t> places, columns;
    for (const std::string& name : request.spec.columns) {
        places.push_back(place_of(request, name));
        columns.push_back(input.columns[places.back()]);
    }
    return {forward_of([places](const Tensor& x) { return chosen(x, places); }),
            {std::int64_t(places.size())},
            std::move(columns)};
}

BuiltLayer build_embedding(const LayerRequest& request) {
    const LayerSpec& spec = request.spec;
    Maker& maker = request.maker;
    if (request.inputs.front().columns.empty())
        refuse(request,
               "whole numbers: columns of a table, as the dataset or a columns layer has "
               "them");
    require_trainable(request, {spec.num_embeddings, spec.embedding_dim});
    const auto table =
        Embedding::create(maker.parameters, request.name, initial_table(spec, maker.init));
    Dims dims = request.input();
    dims.push_back(spec.embedding_dim);
    return {forward_of([table, padding = spec.padding_idx](const Tensor& x) {
                const Tensor categories = convert(x, DType::i32);
                const Tensor rows = table(categories);
                if (!padding) return rows;
                const Tensor is_trained =
                    compare(categories,
                            broadcast(constant(double(*padding), DType::i32), categories.dims()),
                            Comparison::ne);
                return select(broadcast_in_dim(is_trained, rows.dims(), {0, 1}), rows,
                              stop_gradient(rows));
            }),
            std::move(dims)};
}

}    // namespace slipway::layer_list
