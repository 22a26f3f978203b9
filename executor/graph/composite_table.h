#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "executor/graph/op_table.h"

namespace slipway {

/// Checks a composite's constraints and gives the shapes of its results, at least one.
using CompositeInferRule = std::vector<Shape> (*)(const NodeRequest& request);

/// Everything the code knows about one composite: an op made of others that a backend may take
/// whole. Its value is that of its decomposition; its text is in docs/contributing/ops.md.
struct CompositeRow {
    std::string_view name;
    std::size_t operands_min, operands_max;
    std::size_t number_count;
    CompositeInferRule infer;
    DecomposeRule decompose;
    GradientRule gradient = nullptr;    ///< null: through the decomposition
};

std::span<const CompositeRow> composite_table();
/// Null when no row has this name.
const CompositeRow* find_composite(std::string_view name);
/// The row of a composite node.
const CompositeRow& composite_row(const Node& node);

/// Makes a composite node: its value is its first result.
Tensor make_composite(std::string_view name, std::vector<Tensor> operands,
                      std::vector<double> numbers = {});

/// The numbers of a composite node or request.
template <class Parts>
const std::vector<double>& numbers_of(const Parts& parts) {
    return std::get<CompositeAttributes>(parts.attributes).numbers;
}

}    // namespace slipway
