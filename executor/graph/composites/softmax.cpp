#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

namespace slipway {

Tensor softmax(const Tensor& x) {
    return make_composite("softmax", {x});
}

namespace {

std::vector<Shape> infer(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    require_rows(request, x);
    return {x};
}

std::vector<Tensor> decompose(const Node& node) {
    const Tensor x = widened(node.operands[0]);
    const Tensor largest = reduce_rows(x, Reduction::maximum);
    const Tensor powers = exponential(x - along_rows(largest, x));
    // One division for a row: an element's multiplication takes a sixteenth of its time.
    const Tensor inverse = number_like(largest, 1) / reduce_rows(powers, Reduction::add);
    return {as(powers * along_rows(inverse, x), node.shape.dtype)};
}

std::vector<Tensor> gradient(const Tensor& y, const Tensor& dy) {
    const Tensor p = widened(y);
    const Tensor flow = widened(dy);
    const Tensor common = reduce_rows(flow * p, Reduction::add);
    return {as(p * (flow - along_rows(common, p)), y.dtype())};
}

}    // namespace

const CompositeRow composites::softmax{"softmax", 1, 1, 0, infer, decompose, gradient};

}    // namespace slipway
