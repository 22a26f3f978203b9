#include "executor/nn/models/resnet.h"

#include <fmt/format.h>

#include <cmath>

namespace slipway {

namespace {

/// What the layers of one network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;
    bool sync_norms;

    Convolution convolution(const std::string& name, const Convolution::Options& options) {
        const double deviation = std::sqrt(2.0 / double(options.fan_out()));
        return Convolution::create(parameters, name, options,
                                   init.normal(options.weight_dims(), deviation), {});
    }

    BatchNormalization norm(const std::string& name, std::int64_t channels) {
        BatchNormalization norm = BatchNormalization::create(parameters, name, channels);
        norm.sync = sync_norms;
        return norm;
    }

    BasicBlock block(const std::string& name, std::int64_t in, std::int64_t out,
                     std::int64_t stride) {
        BasicBlock block;
        block.conv1 = convolution(
            name + ".conv1",
            {.in_channels = in, .out_channels = out, .size = 3, .stride = stride, .padding = 1});
        block.bn1 = norm(name + ".bn1", out);
        block.conv2 = convolution(
            name + ".conv2", {.in_channels = out, .out_channels = out, .size = 3, .padding = 1});
        block.bn2 = norm(name + ".bn2", out);
        if (stride == 1 && in == out) return block;
        block.downsample = BasicBlock::Shortcut{
            .convolution =
                convolution(name + ".downsample.0",
                            {.in_channels = in, .out_channels = out, .size = 1, .stride = stride}),
            .norm = norm(name + ".downsample.1", out)};
        return block;
    }
};

/// Windows of 3x3 at every second place, with a border of one.
Tensor stem_pool(const Tensor& x) {
    const WindowDimension side{.size = 3, .stride = 2, .padding_low = 1, .padding_high = 1};
    return reduce_window(x, {{}, {}, side, side}, Reduction::maximum);
}

/// The mean over height and width.
Tensor mean_of_pixels(const Tensor& x) {
    const double count = double(x.dims()[2] * x.dims()[3]);
    return reduce(x, {2, 3}, Reduction::add) * constant(1.0 / count, x.dtype());
}

}    // namespace

Tensor BasicBlock::operator()(const Tensor& x, ForwardPass& pass) const {
    const Tensor inner = bn1.relu(conv1(x), pass);
    const Tensor residual = bn2(conv2(inner), pass);
    if (!downsample) return relu(residual + x);
    return relu(residual + downsample->norm(downsample->convolution(x), pass));
}

ResNet ResNet::create(ParameterList& parameters, Init& init, const Options& options) {
    Maker make{parameters, init, options.sync_norms};
    ResNet model;
    model.conv1 = make.convolution("conv1", {.in_channels = options.channels,
                                             .out_channels = options.width,
                                             .size = 7,
                                             .stride = 2,
                                             .padding = 3});
    model.bn1 = make.norm("bn1", options.width);
    std::int64_t channels = options.width;
    for (std::size_t stage = 0; stage < model.layers.size(); ++stage) {
        const std::int64_t out = options.width << stage;
        for (std::int64_t i = 0; i < options.blocks[stage]; ++i) {
            const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
            model.layers[stage].push_back(
                make.block(fmt::format("layer{}.{}", stage + 1, i), channels, out, stride));
            channels = out;
        }
    }
    model.fc = Linear::create(parameters, init, "fc", channels, options.classes);
    return model;
}

Tensor ResNet::operator()(const Tensor& x, ForwardPass& pass) const {
    Tensor y = stem_pool(bn1.relu(conv1(x), pass));
    for (const std::vector<BasicBlock>& stage : layers)
        for (const BasicBlock& block : stage)
            y = block(y, pass);
    return fc(mean_of_pixels(y));
}

}    // namespace slipway
