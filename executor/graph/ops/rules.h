#pragma once

#include <type_traits>

#include "executor/graph/op_table.h"

/// The three rules of each op, made in the file of its family and listed in op_table.cpp.
namespace slipway::rules {

using Infer = std::remove_pointer_t<InferRule>;
using Gradient = std::remove_pointer_t<GradientRule>;
using Evaluate = std::remove_pointer_t<EvaluateRule>;

// source.cpp
Infer infer_leaf, infer_constant, infer_iota, infer_convert, infer_stop_gradient;
Gradient gradient_convert, gradient_stop_gradient;
Evaluate evaluate_constant, evaluate_iota, evaluate_convert, evaluate_stop_gradient;

// shape.cpp
Infer infer_broadcast_in_dim, infer_reshape, infer_transpose, infer_reverse;
Gradient gradient_broadcast_in_dim, gradient_reshape, gradient_transpose, gradient_reverse;
Evaluate evaluate_broadcast_in_dim, evaluate_reshape, evaluate_transpose, evaluate_reverse;

// slice.cpp
Infer infer_slice, infer_pad, infer_concatenate;
Gradient gradient_slice, gradient_pad, gradient_concatenate;
Evaluate evaluate_slice, evaluate_pad, evaluate_concatenate;

// unary.cpp
Infer infer_signed, infer_floating;    ///< operand: a signed number; a floating number
Gradient gradient_negate, gradient_abs, gradient_flat, gradient_exponential, gradient_log,
    gradient_sqrt, gradient_rsqrt, gradient_tanh, gradient_logistic;
Evaluate evaluate_negate, evaluate_abs, evaluate_sign, evaluate_exponential, evaluate_log,
    evaluate_sqrt, evaluate_rsqrt, evaluate_tanh, evaluate_logistic, evaluate_floor;

// binary.cpp
Infer infer_numbers, infer_floats;    ///< two equal shapes: of numbers; of floating numbers
Gradient gradient_add, gradient_subtract, gradient_multiply, gradient_divide, gradient_maximum,
    gradient_minimum, gradient_power;
Evaluate evaluate_add, evaluate_subtract, evaluate_multiply, evaluate_divide, evaluate_maximum,
    evaluate_minimum, evaluate_power;

// compare.cpp
Infer infer_compare, infer_select;
Gradient gradient_select;
Evaluate evaluate_compare, evaluate_select;

// matmul.cpp
Infer infer_dot_general;
Gradient gradient_dot_general;
Evaluate evaluate_dot_general;

// convolution.cpp
Infer infer_convolution;
Gradient gradient_convolution;
Evaluate evaluate_convolution;

// reduce.cpp
Infer infer_reduce;
Gradient gradient_reduce;
Evaluate evaluate_reduce;

// window.cpp
Infer infer_reduce_window, infer_select_and_scatter;
Gradient gradient_reduce_window;
Evaluate evaluate_reduce_window, evaluate_select_and_scatter;

// collective.cpp
Infer infer_all_reduce;
Gradient gradient_all_reduce;
Evaluate evaluate_all_reduce;

}    // namespace slipway::rules
