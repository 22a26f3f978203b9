#pragma once

#include "executor/nn/forward_pass.h"

/// Attention over several heads (Vaswani and others 2017), between its projections.
namespace slipway {

/// Part `index` of the last axis cut into parts of `width`: queries, keys or values that one
/// product has made.
Tensor part_of_features(const Tensor& x, std::int64_t index, std::int64_t width);

/// [batch, sequence, heads * depth] -> [batch, heads, sequence, depth].
Tensor split_heads(const Tensor& x, std::int64_t heads);
/// [batch, heads, sequence, depth] -> [batch, sequence, heads * depth].
Tensor merge_heads(const Tensor& x);

/// Which keys a query looks at; all of them unless told otherwise.
struct Sight {
    bool causal = false;    ///< none after the query's own position
    Tensor keys;            ///< pred [batch, sequence]: only where true; empty: everywhere
};

/// softmax(q k^T / sqrt(depth)) v for each head, the pass's dropout on the probabilities.
///   query, key, value [batch, heads, sequence, depth]
/// A query that sees no key looks at all of them alike.
Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value, const Sight& sight,
              ForwardPass& pass);

}    // namespace slipway
