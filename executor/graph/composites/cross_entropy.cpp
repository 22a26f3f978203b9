#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

/// Losses of logits: cross_entropy, binary_cross_entropy_with_logits.
namespace slipway {

Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
    return make_composite("cross_entropy", {logits, labels});
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets) {
    return make_composite("binary_cross_entropy_with_logits", {logits, targets});
}

namespace {

/// What forward and backward have in common; equal nodes, so that they become one.
struct Rows {
    Tensor logits, is_label, counts;

    Rows(const Tensor& given_logits, const Tensor& labels) : logits(widened(given_logits)) {
        const Tensor classes = iota({labels.dtype(), logits.dims()}, last_dimension(logits));
        is_label = compare(classes, along_rows(labels, logits), Comparison::eq);
        const Tensor first = constant(0, labels.dtype());
        const Tensor end = constant(double(logits.dims().back()), labels.dtype());
        counts = logical_and(compare(labels, first, Comparison::ge),
                             compare(labels, end, Comparison::lt));
    }
};

std::vector<Shape> infer_cross_entropy(const NodeRequest& request) {
    const Shape& logits = request.operands[0].shape();
    const Shape& labels = request.operands[1].shape();
    require_rows(request, logits);
    require(labels.dtype == DType::i32 || labels.dtype == DType::i64, request, 2,
            "labels must be i32 or i64");
    require(labels.dims == row_dims(logits.dims), request, 3,
            "there must be one label per row of logits: {}", to_string(row_dims(logits.dims)));
    const Shape rows{wide_type(logits.dtype), labels.dims};
    return {rows, rows};
}

std::vector<Tensor> decompose_cross_entropy(const Node& node) {
    const Rows rows(node.operands[0], node.operands[1]);
    const Tensor& x = rows.logits;
    const Tensor largest = reduce_rows(x, Reduction::maximum);
    const Tensor powers = exponential(x - along_rows(largest, x));
    const Tensor log_sum = largest + log(reduce_rows(powers, Reduction::add));
    const Tensor picked = reduce_rows(select(rows.is_label, x, number_like(x, 0)), Reduction::add);
    return {select(rows.counts, log_sum - picked, number_like(x, 0)), log_sum};
}

/// Softmax minus one-hot.
std::vector<Tensor> gradient_cross_entropy(const Tensor& y, const Tensor& dy) {
    const Tensor& logits = y.node().operands[0];
    const Rows rows(logits, y.node().operands[1]);
    const Tensor& x = rows.logits;
    const Tensor probabilities = exponential(x - along_rows(get_result(y, 1), x));
    const Tensor one_hot = convert(rows.is_label, x.dtype());
    const Tensor flow = select(rows.counts, dy, number_like(dy, 0));
    return {as((probabilities - one_hot) * along_rows(flow, x), logits.dtype()), Tensor()};
}

std::vector<Shape> infer_binary(const NodeRequest& request) {
    const Shape& logits = request.operands[0].shape();
    require(is_floating(logits.dtype), request, 1, "logits must be floating");
    require(request.operands[1].shape() == logits, request, 2,
            "targets must have the shape of the logits");
    return {{wide_type(logits.dtype), logits.dims}};
}

/// max(x, 0) - x t + log(1 + e^-|x|): nothing overflows.
std::vector<Tensor> decompose_binary(const Node& node) {
    const Tensor x = widened(node.operands[0]);
    const Tensor target = widened(node.operands[1]);
    const Tensor positive = maximum(x, number_like(x, 0));
    return {positive - x * target + log_plus_one(exponential(negate(abs(x))))};
}

std::vector<Tensor> gradient_binary(const Tensor& y, const Tensor& dy) {
    const Tensor x = widened(y.node().operands[0]);
    const Tensor target = widened(y.node().operands[1]);
    const DType dtype = y.node().operands[0].dtype();
    return {as(dy * (logistic(x) - target), dtype), as(negate(dy * x), dtype)};
}

}    // namespace

const CompositeRow composites::cross_entropy{
    "cross_entropy", 2, 2, 0, infer_cross_entropy, decompose_cross_entropy, gradient_cross_entropy};
const CompositeRow composites::binary_cross_entropy_with_logits{
    "binary_cross_entropy_with_logits", 2, 2, 0, infer_binary, decompose_binary, gradient_binary};

}    // namespace slipway
