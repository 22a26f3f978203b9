#include "executor/nn/models/mixer.h"

#include <fmt/format.h>

#include <cmath>

namespace slipway {

namespace {

constexpr double norm_epsilon = 1e-6;

/// What the layers of one network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;

    /// Glorot and Bengio's uniform weights; biases almost zero.
    Linear linear(const std::string& name, std::int64_t in, std::int64_t out) {
        Array weight = init.uniform({out, in}, std::sqrt(6.0 / double(in + out)));
        return Linear::create(parameters, name, std::move(weight), init.normal({out}, 1e-6));
    }

    MixerMlp mlp(const std::string& name, std::int64_t features, std::int64_t width) {
        return {.fc1 = linear(name + ".fc1", features, width),
                .fc2 = linear(name + ".fc2", width, features)};
    }

    /// LeCun's normal weights; the factor makes up for the cut tails.
    Convolution patches(const std::string& name, const Convolution::Options& options) {
        const double deviation = std::sqrt(1.0 / double(options.fan_in())) / 0.87962566103423978;
        return Convolution::create(parameters, name, options,
                                   init.truncated_normal(options.weight_dims(), deviation),
                                   filled({options.out_channels}, 0));
    }

    MixerBlock block(const std::string& name, const Mixer::Options& options) {
        MixerBlock block;
        block.norm1 = norm(name + ".norm1", options.hidden);
        block.mlp_tokens = mlp(name + ".mlp_tokens", options.tokens(), options.token_width);
        block.norm2 = norm(name + ".norm2", options.hidden);
        block.mlp_channels = mlp(name + ".mlp_channels", options.hidden, options.channel_width);
        return block;
    }

    LayerNormalization norm(const std::string& name, std::int64_t features) {
        return LayerNormalization::create(parameters, name, features, norm_epsilon);
    }
};

Tensor mean_of_tokens(const Tensor& x) {
    return reduce(x, {1}, Reduction::add) * constant(1.0 / double(x.dims()[1]), x.dtype());
}

}    // namespace

Tensor MixerMlp::operator()(const Tensor& x) const {
    return fc2(gelu(fc1(x), false));
}

Tensor MixerBlock::operator()(const Tensor& x) const {
    const Tensor by_channel = transpose(norm1(x), {0, 2, 1});
    const Tensor mixed = x + transpose(mlp_tokens(by_channel), {0, 2, 1});
    return mixed + mlp_channels(norm2(mixed));
}

Mixer Mixer::create(ParameterList& parameters, Init& init, const Options& options) {
    Maker make{parameters, init};
    Mixer model;
    model.stem = make.patches("stem.proj", {.in_channels = options.channels,
                                            .out_channels = options.hidden,
                                            .size = options.patch_size,
                                            .stride = options.patch_size});
    for (std::int64_t i = 0; i < options.layers; ++i)
        model.blocks.push_back(make.block(fmt::format("blocks.{}", i), options));
    model.norm = make.norm("norm", options.hidden);
    model.head = Linear::create(parameters, "head", filled({options.classes, options.hidden}, 0),
                                filled({options.classes}, 0));
    return model;
}

Tensor Mixer::operator()(const Tensor& x) const {
    const Tensor patches = stem(x);    // [n, hidden, rows, columns]
    const std::int64_t n = patches.dims()[0], hidden = patches.dims()[1];
    const std::int64_t tokens = patches.dims()[2] * patches.dims()[3];
    Tensor y = transpose(reshape(patches, {n, hidden, tokens}), {0, 2, 1});
    for (const MixerBlock& block : blocks)
        y = block(y);
    return head(mean_of_tokens(norm(y)));
}

}    // namespace slipway
