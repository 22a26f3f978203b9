#pragma once

#include <type_traits>

#include "executor/graph/op_table.h"

/// The three rules of each op, made in the file of its family and listed in op_table.cpp.
namespace slipway::rules {

using Infer = std::remove_pointer_t<InferRule>;
using Gradient = std::remove_pointer_t<GradientRule>;
using Evaluate = std::remove_pointer_t<EvaluateRule>;
using MoreShapes = std::remove_pointer_t<MoreShapesRule>;
using EvaluateResult = std::remove_pointer_t<EvaluateResultRule>;
using EvaluateCores = std::remove_pointer_t<EvaluateCoresRule>;
using Decompose = std::remove_pointer_t<DecomposeRule>;

// source.cpp
Infer infer_input, infer_constant, infer_iota, infer_convert, infer_stop_gradient;
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
Gradient gradient_negate, gradient_abs, gradient_flat, gradient_exponential,
    gradient_exponential_minus_one, gradient_log_plus_one, gradient_erf, gradient_log,
    gradient_sqrt, gradient_rsqrt, gradient_tanh, gradient_logistic, gradient_sine, gradient_cosine;
Evaluate evaluate_negate, evaluate_abs, evaluate_sign, evaluate_exponential,
    evaluate_exponential_minus_one, evaluate_log_plus_one, evaluate_erf, evaluate_log,
    evaluate_sqrt, evaluate_rsqrt, evaluate_tanh, evaluate_logistic, evaluate_sine, evaluate_cosine,
    evaluate_floor;

// binary.cpp
Infer infer_numbers, infer_floats;    ///< two equal shapes: of numbers; of floating numbers
Gradient gradient_add, gradient_subtract, gradient_multiply, gradient_divide, gradient_maximum,
    gradient_minimum, gradient_power, gradient_remainder;
Evaluate evaluate_add, evaluate_subtract, evaluate_multiply, evaluate_divide, evaluate_maximum,
    evaluate_minimum, evaluate_power, evaluate_remainder;

// compare.cpp
Infer infer_compare, infer_select, infer_clamp, infer_is_finite;
Gradient gradient_select, gradient_clamp;
Evaluate evaluate_compare, evaluate_select, evaluate_clamp, evaluate_is_finite;

// bits.cpp
Infer infer_not, infer_bits, infer_integers, infer_bitcast_convert;
Evaluate evaluate_not, evaluate_and, evaluate_or, evaluate_xor, evaluate_shift_left,
    evaluate_shift_right_logical, evaluate_bitcast_convert;

// indexed.cpp
Infer infer_gather, infer_scatter_add;
Gradient gradient_gather, gradient_scatter_add;
Evaluate evaluate_gather, evaluate_scatter_add;

// dynamic.cpp
Infer infer_dynamic_slice, infer_dynamic_update_slice;
Gradient gradient_dynamic_slice, gradient_dynamic_update_slice;
Evaluate evaluate_dynamic_slice, evaluate_dynamic_update_slice;

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

// batch_norm.cpp
Infer infer_batch_norm_training, infer_batch_norm_inference, infer_batch_norm_grad;
MoreShapes more_of_batch_norm;
Gradient gradient_batch_norm_training, gradient_batch_norm_inference;
Evaluate evaluate_batch_norm_training, evaluate_batch_norm_inference, evaluate_batch_norm_grad;
EvaluateResult evaluate_batch_norm_training_result, evaluate_batch_norm_grad_result;
Decompose decompose_batch_norm_training, decompose_batch_norm_inference, decompose_batch_norm_grad;

// results.cpp
Infer infer_get_result;
Gradient gradient_optimization_barrier;
Evaluate evaluate_get_result;

// composite_table.cpp
Infer infer_composite;
MoreShapes more_of_composite;
Gradient gradient_composite;
Evaluate evaluate_composite;
EvaluateResult evaluate_composite_result;
Decompose decompose_composite;

// collective.cpp
Infer infer_all_reduce;
Gradient gradient_all_reduce;
EvaluateCores evaluate_all_reduce;

}    // namespace slipway::rules
