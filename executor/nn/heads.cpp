#include "executor/nn/heads.h"

#include <cmath>

namespace slipway {

namespace {

/// Which keys each query of [b, h, s, s] scores may look at: none after itself.
Tensor seen_keys(const Tensor& scores) {
    const Shape square{DType::i32, {scores.dims()[2], scores.dims()[3]}};
    const Tensor is_seen = compare(iota(square, 0), iota(square, 1), Comparison::ge);
    return broadcast_in_dim(is_seen, scores.dims(), {2, 3});
}

/// x where the key is seen, else the number.
Tensor where_seen(const Tensor& x, double otherwise) {
    return select(seen_keys(x), x, broadcast(constant(otherwise, x.dtype()), x.dims()));
}

}    // namespace

Tensor part_of_features(const Tensor& x, std::int64_t index, std::int64_t width) {
    Dims start(x.dims().size(), 0), limit = x.dims();
    start.back() = index * width;
    limit.back() = start.back() + width;
    return slice(x, start, limit, Dims(x.dims().size(), 1));
}

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
    Tensor chances = dropped(softmax(causal ? where_seen(scores, -1e30) : scores), pass);
    // They are 0 already; this says so to the compiler, which then leaves that half out.
    if (causal) chances = where_seen(chances, 0);
    return dot_general(chances, value,
                       {.lhs_batching = {0, 1},
                        .rhs_batching = {0, 1},
                        .lhs_contracting = {3},
                        .rhs_contracting = {2}});
}

}    // namespace slipway
