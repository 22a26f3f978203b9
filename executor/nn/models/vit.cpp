#include "executor/nn/models/vit.h"

#include <fmt/format.h>

#include "executor/nn/heads.h"

namespace slipway {

namespace {

constexpr double deviation = 0.02;
constexpr double token_deviation = 1e-6;
constexpr double norm_epsilon = 1e-6;
constexpr std::int64_t mlp_ratio = 4;

/// What the layers of one network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;
    const Vit::Options& options;

    Linear linear(const std::string& name, std::int64_t in, std::int64_t out) {
        return Linear::create(parameters, name, init.normal({out, in}, deviation),
                              filled({out}, 0));
    }

    LayerNormalization norm(const std::string& name) {
        return LayerNormalization::create(parameters, name, options.hidden, norm_epsilon);
    }

    VitBlock block(const std::string& name) {
        const std::int64_t hidden = options.hidden;
        VitBlock block;
        block.norm1 = norm(name + ".norm1");
        block.qkv = linear(name + ".attn.qkv", hidden, 3 * hidden);
        block.proj = linear(name + ".attn.proj", hidden, hidden);
        block.norm2 = norm(name + ".norm2");
        block.fc1 = linear(name + ".mlp.fc1", hidden, mlp_ratio * hidden);
        block.fc2 = linear(name + ".mlp.fc2", mlp_ratio * hidden, hidden);
        block.heads = options.heads;
        return block;
    }
};

}    // namespace

Tensor VitBlock::operator()(const Tensor& x, ForwardPass& pass) const {
    const std::int64_t hidden = x.dims()[2];
    const Tensor joined = qkv(norm1(x));
    const auto by_head = [&](std::int64_t index) {
        return split_heads(part_of_features(joined, index, hidden), heads);
    };
    const Tensor y = x + proj(merge_heads(attend(by_head(0), by_head(1), by_head(2), {}, pass)));
    return y + fc2(gelu(fc1(norm2(y)), false));
}

Vit Vit::create(ParameterList& parameters, Init& init, const Options& options) {
    Maker make{parameters, init, options};
    const std::int64_t hidden = options.hidden;
    Vit model;
    model.cls_token = parameters.add("cls_token", init.normal({1, 1, hidden}, token_deviation));
    model.pos_embed =
        parameters.add("pos_embed", init.normal({1, 1 + options.patch_count(), hidden}, deviation));
    model.patches = Convolution::create(parameters, init, "patch_embed.proj",
                                        {.in_channels = options.channels,
                                         .out_channels = hidden,
                                         .size = options.patch_size,
                                         .stride = options.patch_size});
    for (std::int64_t i = 0; i < options.layers; ++i)
        model.blocks.push_back(make.block(fmt::format("blocks.{}", i)));
    model.norm = make.norm("norm");
    model.head = make.linear("head", hidden, options.classes);
    return model;
}

Tensor Vit::operator()(const Tensor& x, ForwardPass& pass) const {
    const Tensor embedded = patches(x);    // [n, hidden, rows, columns]
    const std::int64_t n = embedded.dims()[0], hidden = embedded.dims()[1];
    const std::int64_t count = embedded.dims()[2] * embedded.dims()[3];
    const Tensor tokens = transpose(reshape(embedded, {n, hidden, count}), {0, 2, 1});
    const Tensor first = broadcast_in_dim(reshape(cls_token, {hidden}), {n, 1, hidden}, {2});
    const Tensor positions = reshape(pos_embed, {1 + count, hidden});
    Tensor y = concatenate({first, tokens}, 1);
    y = y + broadcast_in_dim(positions, y.dims(), {1, 2});
    for (const VitBlock& block : blocks)
        y = block(y, pass);
    // The norm is of each token alone, and only the first one's is read.
    const Tensor read = reshape(slice(y, {0, 0, 0}, {n, 1, hidden}, {1, 1, 1}), {n, hidden});
    return head(norm(read));
}

}    // namespace slipway
