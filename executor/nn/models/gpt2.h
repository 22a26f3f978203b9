#pragma once

#include <vector>

#include "executor/nn/embedding.h"
#include "executor/nn/forward_pass.h"
#include "executor/nn/layer_normalization.h"

/// GPT-2 (Radford and others 2019) with the parameter names and initial values of Hugging Face's
/// GPT2LMHeadModel: N(0, 0.02), projections onto the shortcut N(0, 0.02 / sqrt(2 layers)), biases
/// zero. Its lm_head is no parameter but a tied one: the weight is that of the token embeddings,
/// stored once and read under either name.
namespace slipway {

/// y = x W + b with the weight as [in, out], as the published checkpoints have it.
struct TransposedLinear {
    Tensor weight;
    Tensor bias;

    Tensor operator()(const Tensor& x) const;
};

/// Norm, causal attention; norm, feed-forward; both beside a shortcut.
struct Gpt2Block {
    LayerNormalization ln_1, ln_2;
    TransposedLinear c_attn;         ///< attn.c_attn: query, key and value at once
    TransposedLinear attn_c_proj;    ///< attn.c_proj
    TransposedLinear c_fc;           ///< mlp.c_fc
    TransposedLinear mlp_c_proj;     ///< mlp.c_proj
    std::int64_t heads = 0;

    /// x [n, sequence, hidden] -> the same
    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

struct Gpt2 {
    Embedding wte, wpe;    ///< tokens, positions
    std::vector<Gpt2Block> blocks;
    LayerNormalization ln_f;

    struct Options {
        std::int64_t layers, hidden, heads, vocabulary;
        std::int64_t positions = 1024;    ///< the longest sequence
    };
    static Gpt2 create(ParameterList& parameters, Init& init, const Options& options);
    /// tokens i32 [n, sequence] -> logits [n, sequence, vocabulary] of each next token
    Tensor operator()(const Tensor& tokens, ForwardPass& pass) const;
};

}    // namespace slipway
