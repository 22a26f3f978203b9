#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "executor/graph/node.h"
#include "executor/tensor/array.h"

namespace slipway {

/// Checks the numbered constraints of docs/contributing/ops.md and gives the result's shape.
/// errors  invalid_argument
using InferRule = Shape (*)(const NodeRequest& request);

/// What flows to each operand of y when dy flows into y: one entry per operand, empty where nothing
/// does (the derivative is zero everywhere, or the operand is no number one can differentiate by).
using GradientRule = std::vector<Tensor> (*)(const Tensor& y, const Tensor& dy);

/// Shapes of the results after the first. The shape rule has held.
using MoreShapesRule = std::vector<Shape> (*)(const NodeRequest& request);

/// The op by plain loops over indices: slow, obvious, the judge of every kernel. Floating sums are
/// kept in f64 and rounded once. `operands` have the shapes of the node's operands; get_result is
/// given the operands of the node whose result it takes.
using EvaluateRule = Array (*)(const Node& node, std::span<const Array> operands);

/// Result `index` of an op with several; 0 is the first.
using EvaluateResultRule = Array (*)(const Node& node, std::span<const Array> operands,
                                     std::int64_t index);

/// An op over all cores, whose result is replicated: `values` are its one operand's on each core.
using EvaluateCoresRule = Array (*)(const Node& node, std::span<const Array> values);

/// The op in terms of simpler ones: one tensor per result.
using DecomposeRule = std::vector<Tensor> (*)(const Node& node);

/// Everything the code knows about one op; its text is the section of the same name in
/// docs/contributing/ops.md.
struct OpRow {
    OpCode op;
    std::string_view name;    ///< as printed, as in StableHLO; the enumerator but for logical_*
    InferRule infer;
    GradientRule gradient;    ///< null when there is none, and then no_gradient says why
    EvaluateRule evaluate;    ///< null for input, which is bound, and where over_cores is not
    std::string_view no_gradient = {};
    MoreShapesRule more_shapes = nullptr;               ///< null when there is one result
    EvaluateResultRule evaluate_result = nullptr;       ///< set when more_shapes is
    EvaluateCoresRule evaluate_over_cores = nullptr;    ///< set for ops over all cores
    DecomposeRule decompose = nullptr;                  ///< null when there is nothing simpler
};

/// All ops, at the index of their OpCode.
std::span<const OpRow> op_table();
const OpRow& row_of(OpCode op);
inline std::string_view name_of(OpCode op) {
    return row_of(op).name;
}
/// The op's name, for a composite its own: what errors and claims call it by.
std::string_view name_of(const Node& node);
std::string_view name_of(const NodeRequest& request);

}    // namespace slipway
