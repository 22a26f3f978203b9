#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"

/// Functions made of other ops; the graph holds only those.
namespace slipway {

namespace {

void require_last_axis(const char* op, const Tensor& x) {
    if (!is_floating(x.dtype()) || x.dims().empty() || x.dims().back() == 0) {
        refuse(op, 1, {&x, 1}, "the operand must be floating, with a last axis that is not empty");
    }
}

/// Dimensions 0..rank-2: all but the last axis.
Dims leading(const Tensor& x) {
    return identity_permutation(x.shape().rank() - 1);
}

/// The reduction of each row, repeated along the row.
Tensor reduced_rows(const Tensor& x, Reduction reduction) {
    return broadcast_in_dim(reduce(x, {x.shape().rank() - 1}, reduction), x.dims(), leading(x));
}

}    // namespace

Tensor relu(const Tensor& x) {
    return maximum(x, constant(0, x.dtype()));
}

Tensor log_softmax(const Tensor& x) {
    require_last_axis("log_softmax", x);
    // Any shift gives the same result; no gradient need flow through this one.
    const Tensor largest = stop_gradient(reduce(x, {x.shape().rank() - 1}, Reduction::maximum));
    const Tensor shifted = x - broadcast_in_dim(largest, x.dims(), leading(x));
    const Tensor sums = reduce(exponential(shifted), {x.shape().rank() - 1}, Reduction::add);
    return shifted - broadcast_in_dim(log(sums), x.dims(), leading(x));
}

Tensor one_hot(const Tensor& labels, std::int64_t classes, DType dtype) {
    if (labels.dtype() != DType::i32 && labels.dtype() != DType::i64)
        refuse("one_hot", 1, {&labels, 1}, "labels must be i32 or i64");
    if (classes < 1)
        refuse("one_hot", 2, {&labels, 1},
               fmt::format("classes must be at least 1, got {}", classes));
    Dims dims = labels.dims();
    dims.push_back(classes);
    const std::int64_t rank = labels.shape().rank();
    const Tensor repeated = broadcast_in_dim(labels, dims, identity_permutation(rank));
    const Tensor numbers = iota({labels.dtype(), dims}, rank);
    return convert(compare(repeated, numbers, Comparison::eq), dtype);
}

Tensor argmax(const Tensor& x) {
    require_last_axis("argmax", x);
    const std::int64_t last = x.shape().rank() - 1;
    const Tensor is_largest = compare(x, reduced_rows(x, Reduction::maximum), Comparison::eq);
    const Tensor place = select(is_largest, iota({DType::i32, x.dims()}, last),
                                constant(double(x.dims().back()), DType::i32));
    return reduce(place, {last}, Reduction::minimum);
}

}    // namespace slipway
