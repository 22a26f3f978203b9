#include "executor/nn/models/resnet.h"

#include <fmt/format.h>

#include <cmath>

namespace slipway {

namespace {

constexpr std::int64_t expansion = 4;    // of a bottleneck

/// What the layers of one network are made with.
struct Maker {
    ParameterList& parameters;
    Init& init;
    const ResNet::Options& options;

    Convolution convolution(const std::string& name, const Convolution::Options& sizes) {
        const double deviation = std::sqrt(2.0 / double(sizes.fan_out()));
        return Convolution::create(parameters, name, sizes,
                                   init.normal(sizes.weight_dims(), deviation), {});
    }

    BatchNormalization norm(const std::string& name, std::int64_t channels) {
        BatchNormalization norm = BatchNormalization::create(parameters, name, channels);
        norm.sync = options.sync_norms;
        return norm;
    }

    /// The convolutions of a block beside its shortcut.
    std::vector<Convolution::Options> sizes(std::int64_t in, std::int64_t width,
                                            std::int64_t stride) const {
        if (!options.bottleneck) {
            return {{.in_channels = in,
                     .out_channels = width,
                     .size = 3,
                     .stride = stride,
                     .padding = 1},
                    {.in_channels = width, .out_channels = width, .size = 3, .padding = 1}};
        }
        return {{.in_channels = in, .out_channels = width, .size = 1},
                {.in_channels = width,
                 .out_channels = width,
                 .size = 3,
                 .stride = stride,
                 .padding = 1},
                {.in_channels = width, .out_channels = expansion * width, .size = 1}};
    }

    ResidualBlock block(const std::string& name, std::int64_t in, std::int64_t width,
                        std::int64_t stride) {
        ResidualBlock block;
        for (const Convolution::Options& one : sizes(in, width, stride)) {
            const std::size_t number = block.layers.size() + 1;
            block.layers.push_back(
                {.convolution = convolution(fmt::format("{}.conv{}", name, number), one),
                 .norm = norm(fmt::format("{}.bn{}", name, number), one.out_channels)});
        }
        const std::int64_t out = block_channels(width);
        if (stride == 1 && in == out) return block;
        block.downsample = ResidualBlock::Layer{
            .convolution =
                convolution(name + ".downsample.0",
                            {.in_channels = in, .out_channels = out, .size = 1, .stride = stride}),
            .norm = norm(name + ".downsample.1", out)};
        return block;
    }

    std::int64_t block_channels(std::int64_t width) const {
        return options.bottleneck ? expansion * width : width;
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

Tensor ResidualBlock::operator()(const Tensor& x, ForwardPass& pass) const {
    Tensor y = x;
    for (const Layer& layer : layers) {
        const bool is_last = &layer == &layers.back();
        const Tensor convolved = layer.convolution(y);
        y = is_last ? layer.norm(convolved, pass) : layer.norm.relu(convolved, pass);
    }
    if (!downsample) return relu(y + x);
    return relu(y + downsample->norm(downsample->convolution(x), pass));
}

ResNet ResNet::create(ParameterList& parameters, Init& init, const Options& options) {
    Maker make{parameters, init, options};
    ResNet model;
    model.conv1 = make.convolution("conv1", {.in_channels = options.channels,
                                             .out_channels = options.width,
                                             .size = 7,
                                             .stride = 2,
                                             .padding = 3});
    model.bn1 = make.norm("bn1", options.width);
    std::int64_t channels = options.width;
    for (std::size_t stage = 0; stage < model.layers.size(); ++stage) {
        const std::int64_t width = options.width << stage;
        for (std::int64_t i = 0; i < options.blocks[stage]; ++i) {
            const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
            model.layers[stage].push_back(
                make.block(fmt::format("layer{}.{}", stage + 1, i), channels, width, stride));
            channels = make.block_channels(width);
        }
    }
    model.fc = Linear::create(parameters, init, "fc", channels, options.classes);
    return model;
}

Tensor ResNet::operator()(const Tensor& x, ForwardPass& pass) const {
    Tensor y = stem_pool(bn1.relu(conv1(x), pass));
    for (const std::vector<ResidualBlock>& stage : layers)
        for (const ResidualBlock& block : stage)
            y = block(y, pass);
    return fc(mean_of_pixels(y));
}

}    // namespace slipway
