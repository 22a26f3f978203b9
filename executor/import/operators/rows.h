#pragma once

#include <span>

#include "executor/import/operator_table.h"

/// The rows of each family of operators: a file each.
namespace slipway::importer {

std::span<const OperatorRow> activation_rows();
std::span<const OperatorRow> arithmetic_rows();
std::span<const OperatorRow> attention_rows();
std::span<const OperatorRow> comparison_rows();
std::span<const OperatorRow> convolution_rows();
std::span<const OperatorRow> creation_rows();
std::span<const OperatorRow> index_rows();
std::span<const OperatorRow> normalization_rows();
std::span<const OperatorRow> number_rows();
std::span<const OperatorRow> pool_rows();
std::span<const OperatorRow> product_rows();
std::span<const OperatorRow> random_rows();
std::span<const OperatorRow> recurrent_rows();
std::span<const OperatorRow> reduction_rows();
std::span<const OperatorRow> resize_rows();
std::span<const OperatorRow> shape_rows();
std::span<const OperatorRow> view_rows();

/// aten.batch_norm whose only reader is a relu: as one operation it moves less memory.
Tensor batch_norm_then_relu(const Call& call);

}    // namespace slipway::importer
