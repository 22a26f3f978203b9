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
constexpr std::string_view bits = "it looks at bits, not at numbers";
constexpr std::string_view first_only =
    "gradients flow through an op's first result only; stop_gradient says that none is wanted";

constexpr auto table = std::to_array<OpRow>({
    {input, "input", infer_input, nullptr, nullptr, source},
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
    {dynamic_slice, "dynamic_slice", infer_dynamic_slice, gradient_dynamic_slice,
     evaluate_dynamic_slice},
    {dynamic_update_slice, "dynamic_update_slice", infer_dynamic_update_slice,
     gradient_dynamic_update_slice, evaluate_dynamic_update_slice},
    {gather, "gather", infer_gather, gradient_gather, evaluate_gather},
    {scatter_add, "scatter_add", infer_scatter_add, gradient_scatter_add, evaluate_scatter_add},
    {convert, "convert", infer_convert, gradient_convert, evaluate_convert},
    {bitcast_convert, "bitcast_convert", infer_bitcast_convert, nullptr, evaluate_bitcast_convert,
     bits},
    {negate, "negate", infer_signed, gradient_negate, evaluate_negate},
    {abs, "abs", infer_signed, gradient_abs, evaluate_abs},
    {sign, "sign", infer_signed, gradient_flat, evaluate_sign},
    {exponential, "exponential", infer_floating, gradient_exponential, evaluate_exponential},
    {exponential_minus_one, "exponential_minus_one", infer_floating, gradient_exponential_minus_one,
     evaluate_exponential_minus_one},
    {log, "log", infer_floating, gradient_log, evaluate_log},
    {log_plus_one, "log_plus_one", infer_floating, gradient_log_plus_one, evaluate_log_plus_one},
    {sqrt, "sqrt", infer_floating, gradient_sqrt, evaluate_sqrt},
    {rsqrt, "rsqrt", infer_floating, gradient_rsqrt, evaluate_rsqrt},
    {tanh, "tanh", infer_floating, gradient_tanh, evaluate_tanh},
    {logistic, "logistic", infer_floating, gradient_logistic, evaluate_logistic},
    {erf, "erf", infer_floating, gradient_erf, evaluate_erf},
    {sine, "sine", infer_floating, gradient_sine, evaluate_sine},
    {cosine, "cosine", infer_floating, gradient_cosine, evaluate_cosine},
    {floor, "floor", infer_floating, gradient_flat, evaluate_floor},
    {is_finite, "is_finite", infer_is_finite, nullptr, evaluate_is_finite, predicate},
    {logical_not, "not", infer_not, nullptr, evaluate_not, bits},
    {add, "add", infer_numbers, gradient_add, evaluate_add},
    {subtract, "subtract", infer_numbers, gradient_subtract, evaluate_subtract},
    {multiply, "multiply", infer_numbers, gradient_multiply, evaluate_multiply},
    {divide, "divide", infer_floats, gradient_divide, evaluate_divide},
    {maximum, "maximum", infer_numbers, gradient_maximum, evaluate_maximum},
    {minimum, "minimum", infer_numbers, gradient_minimum, evaluate_minimum},
    {power, "power", infer_floats, gradient_power, evaluate_power},
    {remainder, "remainder", infer_numbers, gradient_remainder, evaluate_remainder},
    {logical_and, "and", infer_bits, nullptr, evaluate_and, bits},
    {logical_or, "or", infer_bits, nullptr, evaluate_or, bits},
    {logical_xor, "xor", infer_bits, nullptr, evaluate_xor, bits},
    {shift_left, "shift_left", infer_integers, nullptr, evaluate_shift_left, bits},
    {shift_right_logical, "shift_right_logical", infer_integers, nullptr,
     evaluate_shift_right_logical, bits},
    {compare, "compare", infer_compare, nullptr, evaluate_compare, predicate},
    {select, "select", infer_select, gradient_select, evaluate_select},
    {clamp, "clamp", infer_clamp, gradient_clamp, evaluate_clamp},
    {dot_general, "dot_general", infer_dot_general, gradient_dot_general, evaluate_dot_general},
    {convolution, "convolution", infer_convolution, gradient_convolution, evaluate_convolution},
    {reduce, "reduce", infer_reduce, gradient_reduce, evaluate_reduce},
    {reduce_window, "reduce_window", infer_reduce_window, gradient_reduce_window,
     evaluate_reduce_window},
    {select_and_scatter, "select_and_scatter", infer_select_and_scatter, nullptr,
     evaluate_select_and_scatter, "second derivatives of maximum pooling are not built"},
    {batch_norm_training,
     "batch_norm_training",
     infer_batch_norm_training,
     gradient_batch_norm_training,
     evaluate_batch_norm_training,
     {},
     more_of_batch_norm,
     evaluate_batch_norm_training_result,
     nullptr,
     decompose_batch_norm_training},
    {batch_norm_inference,
     "batch_norm_inference",
     infer_batch_norm_inference,
     gradient_batch_norm_inference,
     evaluate_batch_norm_inference,
     {},
     nullptr,
     nullptr,
     nullptr,
     decompose_batch_norm_inference},
    {batch_norm_grad, "batch_norm_grad", infer_batch_norm_grad, nullptr, evaluate_batch_norm_grad,
     "second derivatives of batch norm are not built", more_of_batch_norm,
     evaluate_batch_norm_grad_result, nullptr, decompose_batch_norm_grad},
    {stop_gradient, "stop_gradient", infer_stop_gradient, gradient_stop_gradient,
     evaluate_stop_gradient},
    {optimization_barrier, "optimization_barrier", infer_stop_gradient,
     gradient_optimization_barrier, evaluate_stop_gradient},
    {get_result, "get_result", infer_get_result, nullptr, evaluate_get_result, first_only},
    {composite,
     "composite",
     infer_composite,
     gradient_composite,
     evaluate_composite,
     {},
     more_of_composite,
     evaluate_composite_result,
     nullptr,
     decompose_composite},
    {all_reduce,
     "all_reduce",
     infer_all_reduce,
     gradient_all_reduce,
     nullptr,
     {},
     nullptr,
     nullptr,
     evaluate_all_reduce},
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

std::string_view name_of(const Node& node) {
    if (const auto* a = std::get_if<CompositeAttributes>(&node.attributes)) return a->name;
    return name_of(node.op);
}

std::string_view name_of(const NodeRequest& request) {
    if (const auto* a = std::get_if<CompositeAttributes>(&request.attributes)) return a->name;
    return name_of(request.op);
}

}    // namespace slipway
