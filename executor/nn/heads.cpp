#include "executor/nn/heads.h"

#include <cmath>

namespace slipway {

namespace {

/// For each of [b, h, s, s] scores whether the key is at the query's position or before it.
Tensor keys_behind(const Tensor& scores) {
    const Shape square{DType::i32, {scores.dims()[2], scores.dims()[3]}};
    const Tensor is_behind = compare(iota(square, 0), iota(square, 1), Comparison::ge);
    return broadcast_in_dim(is_behind, scores.dims(), {2, 3});
}

Tensor number_like(const Tensor& x, double number) {
    return constant(number, x.dtype());
}

/// x where the key is at the query's position or before it, else the number.
Tensor where_behind(const Tensor& x, double otherwise) {
    return select(keys_behind(x), x, number_like(x, otherwise));
}

/// The scores of the keys that are seen; of the others one so low that its power of e is 0.
Tensor seen_scores(const Tensor& scores, const Sight& sight) {
    constexpr double hidden_score = -1e30;
    Tensor seen = scores;
    if (!sight.keys.empty()) {
        const Tensor keys = broadcast_in_dim(sight.keys, scores.dims(), {0, 3});
        seen = select(keys, seen, number_like(seen, hidden_score));
    }
    return sight.causal ? where_behind(seen, hidden_score) : seen;
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

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Sight& sight,
              ForwardPass& pass) {
    const double scale = 1.0 / std::sqrt(double(query.dims()[3]));
    if (pass.dropout.rate.empty())
        return attention(query, key, value, scale, sight.causal, sight.keys);
    const Tensor scores = dot_general(query, key,
                                      {.lhs_batching = {0, 1},
                                       .rhs_batching = {0, 1},
                                       .lhs_contracting = {3},
                                       .rhs_contracting = {3}}) *
                          constant(scale, query.dtype());
    Tensor chances = dropped(softmax(seen_scores(scores, sight)), pass);
    // They are 0 already; this says so to the compiler, which then leaves that half out.
    if (sight.causal) chances = where_behind(chances, 0);
    return dot_general(chances, value,
                       {.lhs_batching = {0, 1},
                        .rhs_batching = {0, 1},
                        .lhs_contracting = {3},
                        .rhs_contracting = {2}});
}

}    // namespace slipway
