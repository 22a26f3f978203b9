#pragma once

#include "executor/graph/tensor.h"

/// The passes, one file each; the pipeline is their table.
namespace slipway {

/// Calculates elementwise ops whose operands are all constants, or broadcasts of constants: one
/// scalar instead of an array. By the naive evaluators, so no bit changes.
Graph fold_constants(const Graph& graph);

/// Local rules that leave every value as it is (the table in simplify_algebra.cpp): chains of
/// transpose, reshape, convert, broadcast; ops that do nothing; x * 1, x + 0. The one liberty:
/// -0 + 0 is 0, and becomes -0.
Graph simplify_algebra(const Graph& graph);

/// Nodes with the same op, attributes, shape and operands become one. Leaves are never merged:
/// equal numbers today may differ tomorrow.
Graph merge_common(const Graph& graph);

}    // namespace slipway
