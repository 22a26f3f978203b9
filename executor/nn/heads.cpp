#include "executor/nn/heads.h"

#include <cmath>

namespace slipway {

namespace {

/// The scores with every position's future pushed out of its softmax.
Tensor without_future(const Tensor& scores) {
    const Dims square{scores.dims()[2], scores.dims()[3]};
    const Tensor is_seen =
        compare(iota({DType::i32, square}, 0), iota({DType::i32, square}, 1), Comparison::ge);
    const Tensor lowest = broadcast(constant(-1e30, scores.dtype()), scores.dims());
    return select(broadcast_in_dim(is_seen, scores.dims(), {2, 3}), scores, lowest);
}

}    // namespace

Tensor split_heads(const Tensor& x, std::int64_t heads) {
    const Dims& dims = x.dims();
    return transpose(reshape(x, {dims[0], dims[1], heads, dims[2] / heads}), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& x) {
    const Dims& dims = x.dims();
    return reshape(transpose(x, {0, 2, 1, 3}), {dims[0], dims[2], dims[1] * dims[3]});
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, bool causal,
              ForwardPass& pass) {
    const double scale = 1.0 / std::sqrt(double(query.dims()[3]));
    if (pass.dropout.rate.empty()) return attention(query, key, value, scale, causal, {});
    const Tensor scores = dot_general(query, key,
                                      {.lhs_batching = {0, 1},
                                       .rhs_batching = {0, 1},
                                       .lhs_contracting = {3},
                                       .rhs_contracting = {3}}) *
                          constant(scale, query.dtype());
    const Tensor chances = dropped(softmax(causal ? without_future(scores) : scores), pass);
    return dot_general(chances, value,
                       {.lhs_batching = {0, 1},
                        .rhs_batching = {0, 1},
                        .lhs_contracting = {3},
                        .rhs_contracting = {2}});
}

}    // namespace slipway
