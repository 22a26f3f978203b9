#include "executor/graph/op_table.h"

#include <array>
#include <cstddef>

#include "executor/graph/ops/rules.h"

namespace slipway {

namespace {

using namespace rules;
using enum OpCode;

constexpr std::string_view source = "it has no operands";
constexpr std::string_view predicate = "its result is true or false";

constexpr auto table = std::to_array<OpRow>({
    {leaf, "leaf", infer_leaf, nullptr, nullptr, source},
    {constant, "constant", infer_constant, nullptr, evaluate_constant, source},
    {iota, "iota", infer_iota, nullptr, evaluate_iota, source},
    {broadcast_in_dim, "broadcast_in_dim", infer_broadcast_in_dim, gradient_broadcast_in_dim,
     evaluate_broadcast_in_dim},
    {reshape, "reshape", infer_reshape, gradient_reshape, evaluate_reshape},
    {transpose, "transpose", infer_transpose, gradient_transpose, evaluate_transpose},
    {slice, "slice", infer_slice, gradient_slice, evaluate_slice},
    {pad, "pad", infer_pad, gradient_pad, evaluate_pad},
    {concatenate, "concatenate", infer_concatenate, gradient_concatenate, evaluate_concatenate},
    {reverse, "reverse", infer_reverse, gradient_reverse, evaluate_reverse},
    {convert, "convert", infer_convert, gradient_convert, evaluate_convert},
    {negate, "negate", infer_signed, gradient_negate, evaluate_negate},
    {abs, "abs", infer_signed, gradient_abs, evaluate_abs},
    {sign, "sign", infer_signed, gradient_flat, evaluate_sign},
    {exponential, "exponential", infer_floating, gradient_exponential, evaluate_exponential},
    {log, "log", infer_floating, gradient_log, evaluate_log},
    {sqrt, "sqrt", infer_floating, gradient_sqrt, evaluate_sqrt},
    {rsqrt, "rsqrt", infer_floating, gradient_rsqrt, evaluate_rsqrt},
    {tanh, "tanh", infer_floating, gradient_tanh, evaluate_tanh},
    {logistic, "logistic", infer_floating, gradient_logistic, evaluate_logistic},
    {floor, "floor", infer_floating, gradient_flat, evaluate_floor},
    {add, "add", infer_numbers, gradient_add, evaluate_add},
    {subtract, "subtract", infer_numbers, gradient_subtract, evaluate_subtract},
    {multiply, "multiply", infer_numbers, gradient_multiply, evaluate_multiply},
    {divide, "divide", infer_floats, gradient_divide, evaluate_divide},
    {maximum, "maximum", infer_numbers, gradient_maximum, evaluate_maximum},
    {minimum, "minimum", infer_numbers, gradient_minimum, evaluate_minimum},
    {power, "power", infer_floats, gradient_power, evaluate_power},
    {compare, "compare", infer_compare, nullptr, evaluate_compare, predicate},
    {select, "select", infer_select, gradient_select, evaluate_select},
    {dot_general, "dot_general", infer_dot_general, gradient_dot_general, evaluate_dot_general},
    {convolution, "convolution", infer_convolution, gradient_convolution, evaluate_convolution},
    {reduce, "reduce", infer_reduce, gradient_reduce, evaluate_reduce},
    {reduce_window, "reduce_window", infer_reduce_window, gradient_reduce_window,
     evaluate_reduce_window},
    {select_and_scatter, "select_and_scatter", infer_select_and_scatter, nullptr,
     evaluate_select_and_scatter, "second derivatives of maximum pooling are not built"},
    {stop_gradient, "stop_gradient", infer_stop_gradient, gradient_stop_gradient,
     evaluate_stop_gradient},
    {all_reduce, "all_reduce", infer_all_reduce, gradient_all_reduce, evaluate_all_reduce},
});

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (std::size_t(table[i].op) != i) return false;
    return true;
}
static_assert(table.size() == std::size_t(all_reduce) + 1, "one row for each op");
static_assert(rows_are_in_order(), "a row stands at the index of its op");

}    // namespace

std::span<const OpRow> op_table() {
    return table;
}

const OpRow& row_of(OpCode op) {
    check(std::size_t(op) < table.size(), "an op is one of the table's");
    return table[std::size_t(op)];
}

}    // namespace slipway
