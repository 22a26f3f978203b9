#include <limits>

#include "executor/graph/composites/parts.h"
#include "executor/graph/composites/rows.h"

namespace slipway {

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale, bool causal,
                 const Tensor& mask) {
    std::vector<Tensor> operands{q, k, v};
    if (!mask.empty()) operands.push_back(mask);
    return make_composite("attention", std::move(operands), {scale, causal ? 1.0 : 0.0});
}

namespace {

/// Far below every score, and finite: a row without any key to look at is no NaN.
constexpr double hidden_score = -1e30;

/// [b, h, m, k] times [b, h, n, k] or [b, h, k, n], by which dimensions are contracted.
Tensor product(const Tensor& lhs, std::int64_t lhs_dimension, const Tensor& rhs,
               std::int64_t rhs_dimension, std::optional<DType> result = std::nullopt) {
    return dot_general(lhs, rhs,
                       {.lhs_batching = {0, 1},
                        .rhs_batching = {0, 1},
                        .lhs_contracting = {lhs_dimension},
                        .rhs_contracting = {rhs_dimension},
                        .result = result});
}

/// Which keys a query sees when it does not look ahead, for each of [b, h, s, s].
Tensor seen_keys(const Dims& dims) {
    const Shape places{DType::i32, {dims[2], dims[3]}};
    const Tensor seen = compare(iota(places, 0), iota(places, 1), Comparison::ge);
    return broadcast_in_dim(seen, dims, {2, 3});
}

/// The softmax over the keys that are seen, and nothing for the others. That these are exactly 0 is
/// written out: it is what tells the backend which half it need not compute.
Tensor softmax_of_seen(const Tensor& scores, const Tensor& seen) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Tensor lowest = broadcast(number_like(scores, -infinity), scores.dims());
    const Tensor largest = reduce_rows(select(seen, scores, lowest), Reduction::maximum);
    const Tensor nothing = zeros_like(scores);
    const Tensor powers = select(seen, exponential(scores - along_rows(largest, scores)), nothing);
    const Tensor inverse = number_like(largest, 1) / reduce_rows(powers, Reduction::add);
    return select(seen, powers * along_rows(inverse, scores), nothing);
}

/// Results: out [b, h, s, d], probabilities [b, h, s, t].
std::vector<Shape> infer(const NodeRequest& request) {
    const Shape& q = request.operands[0].shape();
    const Shape& k = request.operands[1].shape();
    const Shape& v = request.operands[2].shape();
    require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4, request, 1,
            "operands must be [b, h, s, d]");
    require(is_floating(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype, request, 2,
            "operands must have one floating dtype");
    const auto batch = [](const Shape& x) { return Dims{x.dims[0], x.dims[1]}; };
    require(batch(k) == batch(q) && batch(v) == batch(q) && k.dims[3] == q.dims[3] &&
                k.dims[2] == v.dims[2] && k.dims[2] > 0,
            request, 3, "keys must fit the queries, and there be one value per key");
    const bool causal = numbers_of(request).at(1) != 0;
    require(!causal || q.dims[2] == k.dims[2], request, 4,
            "causal attention must have as many queries as keys");
    if (request.operands.size() > 3)
        require(request.operands[3].shape() == Shape{DType::pred, {k.dims[0], k.dims[2]}}, request,
                5, "the mask must be pred, one element per sample and key");
    return {{q.dtype, {q.dims[0], q.dims[1], q.dims[2], v.dims[3]}},
            {q.dtype, {q.dims[0], q.dims[1], q.dims[2], k.dims[2]}}};
}

std::vector<Tensor> decompose(const Node& node) {
    const auto& operands = node.operands;
    const DType dtype = node.shape.dtype;
    Tensor scores = product(operands[0], 3, operands[1], 3, wide_type(dtype));
    scores = scores * number_like(scores, numbers_of(node)[0]);
    const Dims dims = scores.dims();
    if (operands.size() > 3) {
        const Tensor hidden = broadcast(number_like(scores, hidden_score), dims);
        scores = select(broadcast_in_dim(operands[3], dims, {0, 3}), scores, hidden);
    }
    const bool causal = numbers_of(node)[1] != 0;
    const Tensor probabilities =
        as(causal ? softmax_of_seen(scores, seen_keys(dims)) : softmax(scores), dtype);
    return {product(probabilities, 3, operands[2], 2), probabilities};
}

std::vector<Tensor> gradient(const Tensor& y, const Tensor& dy) {
    const auto& operands = y.node().operands;
    const Tensor dq = make_composite(
        "attention_grad", {operands[0], operands[1], operands[2], y, get_result(y, 1), dy},
        numbers_of(y.node()));
    std::vector<Tensor> flows{dq, get_result(dq, 1), get_result(dq, 2)};
    if (operands.size() > 3) flows.emplace_back();
    return flows;
}

/// Operands: q, k, v, out, probabilities, dy. Results: dq, dk, dv.
std::vector<Shape> infer_grad(const NodeRequest& request) {
    for (const Tensor& operand : request.operands)
        require(operand.shape().rank() == 4 && operand.dtype() == request.operands[0].dtype(),
                request, 1, "operands must have rank 4 and one dtype");
    const Shape& out = request.operands[3].shape();
    const Dims& p = request.operands[4].dims();
    require(request.operands[5].shape() == out && p[2] == request.operands[0].dims()[2] &&
                p[3] == request.operands[1].dims()[2],
            request, 2, "dy must have the shape of the result, and probabilities fit it");
    return {request.operands[0].shape(), request.operands[1].shape(), request.operands[2].shape()};
}

std::vector<Tensor> decompose_grad(const Node& node) {
    const auto& operands = node.operands;
    const Tensor& q = operands[0];
    const Tensor& probabilities = operands[4];
    const Tensor& dy = operands[5];
    const Tensor dv = product(probabilities, 2, dy, 2);
    const Tensor dp = product(dy, 3, operands[2], 3, wide_type(q.dtype()));
    // The sum of dp * p along a row is that of dy * out, which is shorter.
    const Tensor common = reduce_rows(widened(dy) * widened(operands[3]), Reduction::add);
    const Tensor tilted = widened(probabilities) * (dp - along_rows(common, dp));
    Tensor flow = tilted * number_like(tilted, numbers_of(node)[0]);
    if (numbers_of(node)[1] != 0) flow = select(seen_keys(flow.dims()), flow, zeros_like(flow));
    const Tensor ds = as(flow, q.dtype());
    return {product(ds, 3, operands[1], 2), product(ds, 2, q, 2), dv};
}

}    // namespace

const CompositeRow composites::attention{"attention", 3, 4, 2, infer, decompose, gradient};
const CompositeRow composites::attention_grad{"attention_grad", 6, 6, 2, infer_grad,
                                              decompose_grad};

}    // namespace slipway
