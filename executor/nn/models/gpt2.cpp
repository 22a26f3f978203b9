#include "executor/nn/models/gpt2.h"

#include <fmt/format.h>

#include <cmath>

#include "executor/nn/heads.h"

namespace slipway {

namespace {

constexpr double deviation = 0.02;
constexpr double norm_epsilon = 1e-5;

/// What the layers of one network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;
    const Gpt2::Options& options;

    TransposedLinear linear(const std::string& name, std::int64_t in, std::int64_t out,
                            double weight_deviation = deviation) {
        TransposedLinear layer;
        layer.weight = parameters.add(name + ".weight", init.normal({in, out}, weight_deviation));
        layer.bias = parameters.add(name + ".bias", filled({out}, 0));
        return layer;
    }

    LayerNormalization norm(const std::string& name) {
        return LayerNormalization::create(parameters, name, options.hidden, norm_epsilon);
    }

    Gpt2Block block(const std::string& name) {
        const std::int64_t hidden = options.hidden;
        const double onto_shortcut = deviation / std::sqrt(2.0 * double(options.layers));
        Gpt2Block block;
        block.ln_1 = norm(name + ".ln_1");
        block.c_attn = linear(name + ".attn.c_attn", hidden, 3 * hidden);
        block.attn_c_proj = linear(name + ".attn.c_proj", hidden, hidden, onto_shortcut);
        block.ln_2 = norm(name + ".ln_2");
        block.c_fc = linear(name + ".mlp.c_fc", hidden, 4 * hidden);
        block.mlp_c_proj = linear(name + ".mlp.c_proj", 4 * hidden, hidden, onto_shortcut);
        block.heads = options.heads;
        parameters.add_unused(name + ".attn.bias");
        parameters.add_unused(name + ".attn.masked_bias");
        return block;
    }
};

}    // namespace

Tensor TransposedLinear::operator()(const Tensor& x) const {
    const Tensor product = matmul(x, weight);
    return product + broadcast_in_dim(bias, product.dims(), {product.shape().rank() - 1});
}

Tensor Gpt2Block::operator()(const Tensor& x, ForwardPass& pass) const {
    const std::int64_t hidden = x.dims()[2];
    const Tensor joined = c_attn(ln_1(x));
    const auto by_head = [&](std::int64_t index) {
        return split_heads(part_of_features(joined, index, hidden), heads);
    };
    const Tensor attended =
        merge_heads(attend(by_head(0), by_head(1), by_head(2), {.causal = true, .keys = {}}, pass));
    const Tensor y = x + dropped(attn_c_proj(attended), pass);
    return y + dropped(mlp_c_proj(gelu(c_fc(ln_2(y)), true)), pass);
}

Gpt2 Gpt2::create(ParameterList& parameters, Init& init, const Options& options) {
    Maker make{parameters, init, options};
    Gpt2 model;
    model.wte = Embedding::create(parameters, "transformer.wte",
                                  init.normal({options.vocabulary, options.hidden}, deviation));
    model.wpe = Embedding::create(parameters, "transformer.wpe",
                                  init.normal({options.positions, options.hidden}, deviation));
    for (std::int64_t i = 0; i < options.layers; ++i)
        model.blocks.push_back(make.block(fmt::format("transformer.h.{}", i)));
    model.ln_f = make.norm("transformer.ln_f");
    parameters.add_alias("lm_head.weight", "transformer.wte.weight");
    return model;
}

Tensor Gpt2::operator()(const Tensor& tokens, ForwardPass& pass) const {
    const std::int64_t n = tokens.dims()[0], sequence = tokens.dims()[1];
    const std::int64_t hidden = wte.weight.dims()[1];
    const Tensor position = slice(wpe.weight, {0, 0}, {sequence, hidden}, {1, 1});
    Tensor x = wte(tokens) + broadcast_in_dim(position, {n, sequence, hidden}, {1, 2});
    x = dropped(x, pass);
    for (const Gpt2Block& block : blocks)
        x = block(x, pass);
    const Tensor states = ln_f(x);
    return dot_general(
        states, wte.weight,
        {.lhs_batching = {}, .rhs_batching = {}, .lhs_contracting = {2}, .rhs_contracting = {1}});
}

}    // namespace slipway
