#include "executor/nn/layer_list/categorical_columns.h"

#include <fmt/format.h>

#include <numeric>

#include "executor/nn/layer_list/layer.h"

namespace slipway {

namespace {

/// Which columns of the table a result is, as layer_list::Source has them.
using Columns = std::vector<std::size_t>;

struct Search {
    std::span<const std::string> names;
    std::vector<CategoricalColumn> found = {};

    Columns chosen(const LayerSpec& layer, const Columns& read) const {
        Columns columns;
        for (const std::string& name : layer.columns)
            for (const std::size_t column : read)
                if (column < names.size() && names[column] == name) columns.push_back(column);
        return columns;
    }

    void visit(const std::vector<LayerSpec>& list, const std::string& path, const Columns& input) {
        std::vector<Columns> results{input};
        for (std::size_t index = 0; index < list.size(); ++index) {
            const LayerSpec& layer = list[index];
            const Columns read = results[sources_of(list, index).front()];
            const std::string here = fmt::format("{}[{}]", path, index);
            if (layer.type == LayerType::embedding)
                for (const std::size_t column : read)
                    found.push_back(
                        {column, layer.num_embeddings, layer_list::described(layer, here)});
            visit(layer.layers, here + ".layers", read);
            visit(layer.shortcut, here + ".shortcut", read);
            results.push_back(layer.type == LayerType::columns ? chosen(layer, read) : Columns{});
        }
    }
};

}    // namespace

std::vector<CategoricalColumn> categorical_columns(const std::vector<LayerSpec>& layers,
                                                   std::size_t column_count,
                                                   std::span<const std::string> names) {
    Columns all(column_count);
    std::iota(all.begin(), all.end(), 0);
    Search search{names};
    search.visit(layers, "model.layers", all);
    return search.found;
}

}    // namespace slipway
