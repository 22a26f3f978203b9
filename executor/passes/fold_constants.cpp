#include <algorithm>
#include <cmath>

#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

bool is_elementwise(OpCode op) {
    return op >= OpCode::convert && op <= OpCode::clamp && op != OpCode::bitcast_convert;
}

double first_element(const Array& array) {
    const std::vector<Array> operands{array};
    const Tensor as_f64 = convert(input(array.shape(), Placement::replicated, ""), DType::f64);
    return row_of(OpCode::convert).evaluate(as_f64.node(), operands).as<double>()[0];
}

/// A constant holds its value as f64: whole numbers of i64 beyond 2^53 do not fit.
bool fits_constant(DType dtype, double value) {
    return dtype != DType::i64 || std::abs(value) < 0x1p53;
}

Tensor folded(const Tensor& x) {
    const Node& node = x.node();
    if (!is_elementwise(node.op)) return x;
    std::vector<Tensor> scalars;
    std::vector<Array> values;
    for (const Tensor& operand : node.operands) {
        const std::optional<double> value = uniform_value(operand);
        if (!value) return x;
        scalars.push_back(constant(*value, operand.dtype()));
        values.push_back(row_of(OpCode::constant).evaluate(scalars.back().node(), {}));
    }
    const Tensor scalar = make_node({.op = node.op,
                                     .attributes = node.attributes,
                                     .operands = std::move(scalars),
                                     .result = {node.shape.dtype, {}}});
    const double value = first_element(row_of(node.op).evaluate(scalar.node(), values));
    if (!fits_constant(node.shape.dtype, value)) return x;
    const Tensor result = constant(value, node.shape.dtype);
    return node.shape.dims.empty() ? result : broadcast(result, node.shape.dims);
}

}    // namespace

Graph fold_constants(const Graph& graph, const PassOptions&) {
    return rewrite_nodes(graph, folded);
}

}    // namespace slipway
