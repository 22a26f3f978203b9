#include "executor/codegen/lower.h"

#include <algorithm>
#include <array>

#include "api/base/check.h"
#include "executor/codegen/lowering.h"
#include "executor/graph/op_table.h"

namespace slipway {

namespace {

struct LowerRow {
    OpCode op;
    LowerRule lower;
};

/// Every op that is no elementwise one; leaves have their values from the start.
constexpr std::array lower_rows{
    LowerRow{OpCode::constant, lower_constant},
    LowerRow{OpCode::iota, lower_iota},
    LowerRow{OpCode::broadcast_in_dim, lower_view},
    LowerRow{OpCode::reshape, lower_view},
    LowerRow{OpCode::transpose, lower_view},
    LowerRow{OpCode::slice, lower_view},
    LowerRow{OpCode::reverse, lower_view},
    LowerRow{OpCode::stop_gradient, lower_view},
    LowerRow{OpCode::pad, lower_pad},
    LowerRow{OpCode::concatenate, lower_concatenate},
    LowerRow{OpCode::dot_general, lower_dot_general},
    LowerRow{OpCode::convolution, lower_convolution},
    LowerRow{OpCode::reduce, lower_reduce},
    LowerRow{OpCode::reduce_window, lower_reduce_window},
    LowerRow{OpCode::select_and_scatter, lower_select_and_scatter},
    LowerRow{OpCode::all_reduce, lower_all_reduce},
};

void lower_node(Lowering& lowering, const Tensor& tensor) {
    const OpCode op = tensor.node().op;
    if (op == OpCode::leaf || lowering.facts(tensor).inlined) return;
    if (is_elementwise(op)) return lower_element_group(lowering, tensor);
    const auto row = std::ranges::find(lower_rows, op, &LowerRow::op);
    check(row != lower_rows.end(), "every op has a row");
    row->lower(lowering, tensor);
}

}    // namespace

void Lowering::lower_nodes() {
    for (int stage = 0; stage <= analysis_.last_stage; ++stage)
        for (const Tensor& tensor : analysis_.order)
            if (facts(tensor).stage == stage) lower_node(*this, tensor);
}

Program lower(const Graph& graph, const LowerOptions& options) {
    Program program = Lowering(graph, options).run();
    const std::vector<std::string> problems = find_problems(program);
    check(problems.empty(), problems.empty() ? "" : problems.front());
    return program;
}

}    // namespace slipway
