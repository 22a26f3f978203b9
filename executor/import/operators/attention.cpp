// The composite takes attention whole where its mask says which keys of a sample may be looked at.
// Any other mask is added to the scores, or hides them, and the products stand by themselves.
#include <fmt/format.h>
#include <array>

#include <cmath>
#include <limits>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

/// [b, h, s, d]: more leading dimensions are merged, fewer filled up.
Tensor as_heads(const Tensor& x) {
    const Dims& dims = x.dims();
    if (dims.size() == 4) return x;
    const std::int64_t rank = x.shape().rank();
    if (rank == 3) return reshape(x, {dims.at(0), 1, dims.at(1), dims.at(2)});
    if (rank == 2) return reshape(x, {1, 1, dims.at(0), dims.at(1)});
    std::int64_t merged = 1;
    for (std::int64_t i = 0; i + 3 < rank; ++i)
        merged *= dims.at(std::size_t(i));
    return reshape(x, {merged, dims.at(dims.size() - 3), dims.at(dims.size() - 2), dims.back()});
}

/// The scores with what the mask takes away.
Tensor masked(const Call& call, const Tensor& scores, const Tensor& mask, const Dims& mask_dims) {
    const Tensor wide = reshape(expanded(call, mask, mask_dims), scores.dims());
    if (mask.dtype() != DType::pred) return scores + as_floating(wide);
    const Tensor hidden =
        broadcast(number_like(scores, -std::numeric_limits<double>::infinity()), scores.dims());
    return select(wide, scores, hidden);
}

Tensor up_to_own_place(const Tensor& scores) {
    const Shape places{DType::i32, scores.dims()};
    const Tensor hidden =
        broadcast(number_like(scores, -std::numeric_limits<double>::infinity()), scores.dims());
    return select(compare(iota(places, 2), iota(places, 3), Comparison::ge), scores, hidden);
}

Value lower_attention(const Call& call) {
    const Tensor query = as_floating(call.tensor("query")), key = as_floating(call.tensor("key")),
                 value = as_floating(call.tensor("value"));
    const auto rank = [](const Tensor& x) { return x.shape().rank(); };
    if (rank(query) < 2 || rank(key) != rank(query) || rank(value) != rank(query))
        call.refuse("needs queries, keys and values of [batch…, s, d]");
    const Tensor mask = call.tensor_or_empty("attn_mask");
    const bool causal = call.flag("is_causal", false);
    const double scale = call.number("scale", 1 / std::sqrt(double(query.dims().back())));
    const double rate = call.number("dropout_p", 0);
    Tensor q = as_heads(query), k = as_heads(key), v = as_heads(value);
    if (call.flag("enable_gqa", false)) {    // each key serves several queries
        const std::int64_t times = q.dims().at(1) / std::max<std::int64_t>(1, k.dims().at(1));
        const auto repeated = [&](const Tensor& x) {
            const Dims& d = x.dims();
            return reshape(
                broadcast_in_dim(x, {d.at(0), d.at(1), times, d.at(2), d.at(3)}, {0, 1, 3, 4}),
                {d.at(0), d.at(1) * times, d.at(2), d.at(3)});
        };
        k = repeated(k);
        v = repeated(v);
    }
    Dims result = query.dims();
    result.back() = value.dims().back();
    const bool drops = rate > 0 && !call.trace().pass.dropout.rate.empty();
    const bool is_square = q.dims().at(2) == k.dims().at(2);
    if (mask.empty() && !drops && (!causal || is_square))
        return {reshape(attention(q, k, v, scale, causal, {}), result)};
    Tensor scores = dot_general(q, k,
                                {.lhs_batching = {0, 1},
                                 .rhs_batching = {0, 1},
                                 .lhs_contracting = {3},
                                 .rhs_contracting = {3}});
    scores = scores * number_like(scores, scale);
    if (!mask.empty()) {
        Dims dims = query.dims();
        dims.back() = key.dims().at(key.dims().size() - 2);
        scores = masked(call, scores, mask, dims);
    }
    if (causal) scores = up_to_own_place(scores);
    Tensor chances = softmax(scores);
    if (drops) chances = dropped_at(call, chances, rate);
    return {reshape(dot_general(chances, v,
                                {.lhs_batching = {0, 1},
                                 .rhs_batching = {0, 1},
                                 .lhs_contracting = {3},
                                 .rhs_contracting = {2}}),
                    result)};
}

constexpr auto attention_table = std::to_array<OperatorRow>({
    {"aten.scaled_dot_product_attention", lower_attention},
});

}    // namespace

std::span<const OperatorRow> attention_rows() {
    return attention_table;
}

}    // namespace slipway::importer
