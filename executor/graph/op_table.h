#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "executor/graph/node.h"
#include "executor/tensor/array.h"

namespace slipway {

/// Checks the numbered constraints of docs/ops.md and gives the result's shape.
/// errors  invalid_argument
using InferRule = Shape (*)(const NodeRequest& request);

/// What flows to each operand of y when dy flows into y: one entry per operand, empty where nothing
/// does (the derivative is zero everywhere, or the operand is no number one can differentiate by).
using GradientRule = std::vector<Tensor> (*)(const Tensor& y, const Tensor& dy);

/// The op by plain loops over indices: slow, obvious, the judge of every kernel. Floating sums are
/// kept in f64 and rounded once. `operands` have the shapes of the node's operands; all_reduce is
/// given its one operand's value on each core, by core number.
using EvaluateRule = Array (*)(const Node& node, std::span<const Array> operands);

/// Everything the code knows about one op; its text is the section of the same name in docs/ops.md.
struct OpRow {
    OpCode op;
    std::string_view name;    ///< as printed, as in StableHLO, as the enumerator
    InferRule infer;
    GradientRule gradient;    ///< null when there is none, and then no_gradient says why
    EvaluateRule evaluate;    ///< null for leaf: its value is bound, not computed
    std::string_view no_gradient = {};
};

/// All ops, at the index of their OpCode.
std::span<const OpRow> op_table();
const OpRow& row_of(OpCode op);
inline std::string_view name_of(OpCode op) {
    return row_of(op).name;
}

}    // namespace slipway
